#include "coordination/conformance/suite.h"

#include <algorithm>

namespace holdfast::coordination::conformance {
namespace {

using namespace std::chrono_literals;
using Of = Hint::Of;

constexpr Duration kLong = 1h;     ///< Does not pass by itself.
constexpr Duration kShort = 40ms;  ///< Is waited for.

LockRequest lock_of(std::string key, std::string holder, Duration ttl = kLong,
                    std::uint32_t capacity = 1) {
    return {std::move(key), std::move(holder), ttl, capacity};
}

Instance instance(std::string id, std::string_view about = R"({"version":"1"})") {
    return {.id = std::move(id),
            .started_at = Time{1'700'000'000s},
            .seen_at = {},
            .about = Json::stored(about),
            .workers = Json::stored(R"([{"name":"w1"}])")};
}

std::vector<std::string> ids_of(const std::vector<Instance>& all) {
    std::vector<std::string> ids;
    ids.reserve(all.size());
    for (const Instance& one : all) ids.push_back(one.id);
    return ids;
}

}  // namespace

// ---- C1 … C5 ----

TEST_P(Locks, c1_as_many_hold_it_as_its_capacity_and_not_one_more) {
    Coordination& c = fixture().join("one");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask(c.acquire(lock_of("k", "a", kLong, 3))));
    EXPECT_FALSE(ask(c.acquire(lock_of("k", "a", kLong, 3))));
    EXPECT_TRUE(ask(c.acquire(lock_of("other", "a"))));
}

TEST_P(Locks, c1_what_one_instance_holds_no_other_gets) {
    Coordination& one = fixture().join("one");
    Coordination& two = fixture().join("two");
    const auto held = ask(one.acquire(lock_of("k", "a")));
    ASSERT_TRUE(held);
    EXPECT_FALSE(ask(two.acquire(lock_of("k", "b"))));
    EXPECT_TRUE(ask(one.release(*held)));
    EXPECT_TRUE(ask(two.acquire(lock_of("k", "b"))));
}

TEST_P(Locks, c1_it_is_free_again_when_the_time_of_its_holder_is_over) {
    Coordination& c = fixture().join("one");
    ASSERT_TRUE(ask(c.acquire(lock_of("k", "a", kShort))));
    fixture().pass(2 * kShort);
    EXPECT_TRUE(ask(c.acquire(lock_of("k", "b"))));
}

TEST_P(Locks, c2_every_acquisition_has_a_larger_fence_whoever_makes_it) {
    Coordination& one = fixture().join("one");
    Coordination& two = fixture().join("two");
    std::uint64_t last = 0;
    for (int i = 0; i < 20; ++i) {
        Coordination& c = i % 2 == 0 ? one : two;
        const auto lock = ask(c.acquire(lock_of("k", "a")));
        ASSERT_TRUE(lock);
        EXPECT_GT(lock->fence, last);
        last = lock->fence;
        ASSERT_TRUE(ask(c.release(*lock)));
    }
    ASSERT_TRUE(ask(one.acquire(lock_of("k", "a", kShort))));
    fixture().pass(2 * kShort);
    EXPECT_GT(ask(two.acquire(lock_of("k", "b")))->fence, last + 1);
}

TEST_P(Locks, c3_a_holder_extends_its_time_and_keeps_its_fence) {
    Coordination& c = fixture().join("one");
    const auto lock = ask(c.acquire(lock_of("k", "a", kShort)));
    const auto longer = ask(c.renew(*lock, kLong));
    ASSERT_TRUE(longer);
    EXPECT_EQ(longer->fence, lock->fence);
    EXPECT_GT(longer->until, lock->until);
    fixture().pass(2 * kShort);
    EXPECT_FALSE(ask(c.acquire(lock_of("k", "b"))));
}

TEST_P(Locks, c3_a_renewal_never_makes_the_time_shorter) {
    Coordination& c = fixture().join("one");
    const auto lock = ask(c.acquire(lock_of("k", "a")));
    EXPECT_EQ(ask(c.renew(*lock, kShort))->until, lock->until);
    fixture().pass(2 * kShort);
    EXPECT_FALSE(ask(c.acquire(lock_of("k", "b"))));
}

TEST_P(Locks, c3_whose_time_is_over_renews_nothing_and_takes_nothing_away) {
    Coordination& c = fixture().join("one");
    const auto late = ask(c.acquire(lock_of("k", "a", kShort)));
    fixture().pass(2 * kShort);
    EXPECT_FALSE(ask(c.renew(*late, kLong)));
    EXPECT_TRUE(ask(c.holders_of("k")).empty());
    const auto next = ask(c.acquire(lock_of("k", "b")));
    ASSERT_TRUE(next);
    EXPECT_FALSE(ask(c.renew(*late, kLong)));
    EXPECT_EQ(ask(c.holders_of("k")), std::vector{next->token});
}

TEST_P(Locks, c4_only_the_holder_releases_it) {
    Coordination& c = fixture().join("one");
    const auto late = ask(c.acquire(lock_of("k", "a", kShort)));
    fixture().pass(2 * kShort);
    EXPECT_FALSE(ask(c.release(*late)));
    const auto next = ask(c.acquire(lock_of("k", "a")));
    EXPECT_FALSE(ask(c.release(*late)));
    EXPECT_FALSE(ask(c.acquire(lock_of("k", "c"))));
    EXPECT_TRUE(ask(c.release(*next)));
    EXPECT_FALSE(ask(c.release(*next)));
}

TEST_P(Locks, c5_the_holders_are_named_and_those_whose_time_is_over_are_not) {
    Coordination& c = fixture().join("one");
    EXPECT_TRUE(ask(c.holders_of("k")).empty());
    ASSERT_TRUE(ask(c.acquire(lock_of("k", "short", kShort, 2))));
    const auto lock = ask(c.acquire(lock_of("k", "task-7", kLong, 2)));
    EXPECT_EQ(ask(c.holders_of("k")).size(), 2U);
    fixture().pass(2 * kShort);
    EXPECT_EQ(ask(c.holders_of("k")), std::vector{lock->token});
    EXPECT_TRUE(lock->token.starts_with("task-7:")) << lock->token;
}

TEST_P(Locks, what_is_no_key_no_holder_no_time_and_no_capacity_is_refused_by_its_name) {
    Coordination& c = fixture().join("one");
    const auto field = [&](LockRequest request) {
        const auto got = answer(c.acquire(std::move(request)));
        return got ? "none" : got.error().field;
    };
    EXPECT_EQ(field(lock_of("", "a")), "key");
    EXPECT_EQ(field(lock_of("a b", "a")), "key");
    EXPECT_EQ(field(lock_of(std::string(129, 'a'), "a")), "key");
    EXPECT_EQ(field(lock_of("k", "a\nb")), "holder");
    EXPECT_EQ(field(lock_of("k", "a", 0s)), "ttl");
    EXPECT_EQ(field(lock_of("k", "a", 24h * 8)), "ttl");
    EXPECT_EQ(field(lock_of("k", "a", kLong, 0)), "capacity");
    EXPECT_TRUE(ask(c.holders_of("k")).empty());
}

// ---- C6 ----

TEST_P(Presences, c6_an_instance_is_seen_by_all_as_it_was_last_announced) {
    Coordination& one = fixture().join("one");
    Coordination& two = fixture().join("two");
    ask(two.announce(instance("two"), kLong));
    ask(one.announce(instance("one"), kLong));
    ask(one.announce(instance("one", R"({"version":"2"})"), kLong));
    const auto seen = ask(two.instances());
    EXPECT_EQ(ids_of(seen), (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(seen[0].about.text(), R"({"version":"2"})");
    EXPECT_EQ(seen[0].workers.text(), R"([{"name":"w1"}])");
    EXPECT_EQ(seen[0].started_at, Time{1'700'000'000s});
    EXPECT_TRUE(is_set(seen[0].seen_at));
}

TEST_P(Presences, c6_one_that_is_not_heard_of_again_is_gone_when_its_time_is_over) {
    Coordination& one = fixture().join("one");
    ask(one.announce(instance("dead"), kShort));
    ask(one.announce(instance("one"), kLong));
    fixture().pass(2 * kShort);
    EXPECT_EQ(ids_of(ask(one.instances())), std::vector<std::string>{"one"});
}

TEST_P(Presences, c6_one_that_leaves_is_gone_at_once) {
    Coordination& one = fixture().join("one");
    ask(one.announce(instance("one"), kLong));
    ask(one.announce(instance("two"), kLong));
    ask(one.leave("two"));
    ask(one.leave("never-came"));
    EXPECT_EQ(ids_of(ask(one.instances())), std::vector<std::string>{"one"});
}

// ---- C7 ----

TEST_P(Hints, c7_others_hear_what_is_told_and_who_tells_it_does_not) {
    std::vector<Hint> one_heard, two_heard;
    Coordination& one = fixture().join("one");
    Coordination& two = fixture().join("two");
    one.on_hint([&](const Hint& hint) { one_heard.push_back(hint); });
    two.on_hint([&](const Hint& hint) { two_heard.push_back(hint); });
    one.tell({Of::queue, "mail", 3});
    one.tell({Of::cancel, "0193-a", 1});
    EXPECT_TRUE(two_heard.empty()) << "heard from within the call";
    fixture().run_until([&] { return two_heard.size() == 2; });
    std::ranges::sort(two_heard, {}, &Hint::of);
    EXPECT_EQ(two_heard, (std::vector<Hint>{{Of::queue, "mail", 3}, {Of::cancel, "0193-a", 1}}));
    two.tell({Of::task, "0193-b", 1});
    fixture().run_until([&] { return !one_heard.empty(); });
    EXPECT_EQ(one_heard, (std::vector<Hint>{{Of::task, "0193-b", 1}}));
    EXPECT_EQ(two_heard.size(), 2U);
}

TEST_P(Hints, c7_nothing_is_heard_after_the_end) {
    std::vector<Hint> heard;
    Coordination& one = fixture().join("one");
    Coordination& two = fixture().join("two");
    two.on_hint([&](const Hint& hint) { heard.push_back(hint); });
    const auto stopped = [](Coordination* c) -> Async<Result<>> {
        co_await c->stop();
        co_return Result<>{};
    };
    ask(stopped(&two));
    one.tell({Of::queue, "mail", 1});
    ask(stopped(&one));
    fixture().pass(kShort);
    EXPECT_TRUE(heard.empty());
}

}  // namespace holdfast::coordination::conformance
