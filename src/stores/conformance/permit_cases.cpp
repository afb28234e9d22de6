// "At most n of these at once": permits taken by a Change, and those taken by a claim.
#include "domain/decide.h"
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;
using domain::Epoch;
using domain::Permit;

struct Holder {
    Uuid id;
    Epoch epoch{1};
};

Permit acquire(const Holder& who, std::uint32_t capacity, Duration ttl = 1h) {
    return {Permit::Act::acquire, "seat", who.id, who.epoch, capacity, ttl};
}
Permit release(const Holder& who) {
    return {Permit::Act::release, "seat", who.id, who.epoch, 0, Duration{0}};
}
Change of(std::vector<Permit> permits) {
    Change change;
    change.partition = kHome;
    change.permits = std::move(permits);
    return change;
}

TEST_P(Permits, P9_a_full_permit_refuses_the_change) {
    const Holder a{new_id()}, b{new_id()}, c{new_id()};
    EXPECT_EQ(verdict(of({acquire(a, 2)})), Verdict::committed);
    EXPECT_EQ(verdict(of({acquire(b, 2)})), Verdict::committed);
    const Outcome full = commit(of({acquire(c, 2)}));
    EXPECT_EQ(full.verdict, Verdict::refused);
    EXPECT_EQ(full.reason, "seat");
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 2);
    EXPECT_EQ(verdict(of({release(a)})), Verdict::committed);
    EXPECT_EQ(verdict(of({acquire(c, 2)})), Verdict::committed);
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 2);
}

TEST_P(Permits, P9_acquiring_what_one_holds_changes_nothing) {
    const Holder a{new_id()};
    ASSERT_EQ(verdict(of({acquire(a, 1)})), Verdict::committed);
    EXPECT_EQ(verdict(of({acquire(a, 1)})), Verdict::committed) << "also when it is full";
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 1);
    EXPECT_EQ(verdict(of({release(a)})), Verdict::committed);
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 0) << "it was held once, not twice";
}

TEST_P(Permits, P9_only_the_same_holder_and_epoch_releases_it) {
    const Holder a{new_id(), Epoch{5}};
    ASSERT_EQ(verdict(of({acquire(a, 1)})), Verdict::committed);
    EXPECT_EQ(verdict(of({release({a.id, Epoch{4}})})), Verdict::committed);
    EXPECT_EQ(verdict(of({release({a.id, Epoch{6}})})), Verdict::committed);
    EXPECT_EQ(verdict(of({release({new_id(), Epoch{5}})})), Verdict::committed);
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 1);
    EXPECT_EQ(verdict(of({acquire({new_id()}, 1)})), Verdict::refused);
    EXPECT_EQ(verdict(of({release(a)})), Verdict::committed);
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 0);
}

TEST_P(Permits, P9_another_epoch_of_the_same_record_is_another_holder) {
    const Uuid id = new_id();
    ASSERT_EQ(verdict(of({acquire({id, Epoch{1}}, 2)})), Verdict::committed);
    ASSERT_EQ(verdict(of({acquire({id, Epoch{2}}, 2)})), Verdict::committed);
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 2);
    EXPECT_EQ(verdict(of({acquire({id, Epoch{3}}, 2)})), Verdict::refused);
}

TEST_P(Permits, P9_releasing_what_one_does_not_hold_changes_nothing) {
    const Holder a{new_id()};
    EXPECT_EQ(verdict(of({release(a)})), Verdict::committed);
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 0);
    EXPECT_EQ(verdict(of({acquire(a, 1)})), Verdict::committed);
    EXPECT_EQ(verdict(of({acquire({new_id()}, 1)})), Verdict::refused)
        << "a release must not lend a place";
}

TEST_P(Permits, P9_a_permit_past_its_ttl_is_free_again) {
    const Holder a{new_id()}, b{new_id()};
    ASSERT_EQ(verdict(of({acquire(a, 1, 2 * moment())})), Verdict::committed);
    pass(moment());
    EXPECT_EQ(verdict(of({acquire(b, 1)})), Verdict::refused);
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 1);
    pass(moment() + moment() / 2);
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 0);
    EXPECT_EQ(verdict(of({acquire(b, 1)})), Verdict::committed);
    EXPECT_EQ(verdict(of({release(a)})), Verdict::committed) << "late, and none of its business";
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 1);
}

TEST_P(Permits, P9_a_permit_without_ttl_is_held_until_released) {
    const Holder a{new_id()};
    ASSERT_EQ(verdict(of({acquire(a, 1, Duration{0})})), Verdict::committed);
    pass(2 * moment());
    if (can(Ability::time_control)) pass(365 * 24h);
    EXPECT_EQ(verdict(of({acquire({new_id()}, 1)})), Verdict::refused);
}

TEST_P(Permits, P9_the_permits_of_one_change_count_together) {
    EXPECT_EQ(verdict(of({acquire({new_id()}, 1), acquire({new_id()}, 1)})), Verdict::refused);
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 0);
    EXPECT_EQ(verdict(of({acquire({new_id()}, 2), acquire({new_id()}, 2)})), Verdict::committed);
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 2);
}

TEST_P(Permits, P9_asking_twice_in_one_change_is_asking_once) {
    const Holder a{new_id()};
    EXPECT_EQ(verdict(of({acquire(a, 1), acquire(a, 1)})), Verdict::committed);
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 1);
}

TEST_P(Permits, P9_no_mixture_of_acts_in_one_change_goes_beyond_the_capacity) {
    const Holder a{new_id()}, b{new_id()}, c{new_id()};
    ASSERT_EQ(verdict(of({acquire(a, 1)})), Verdict::committed);
    EXPECT_EQ(verdict(of({acquire(b, 1), release(a), acquire(a, 1)})), Verdict::refused)
        << "one place came free, and two want it";
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 1);
    EXPECT_EQ(verdict(of({release(a), release(a), acquire(b, 1), acquire(c, 1)})), Verdict::refused)
        << "releasing twice frees one place";
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 1);
    start_over();
    ASSERT_EQ(verdict(of({acquire(a, 1)})), Verdict::committed);
    EXPECT_EQ(verdict(of({release(b), acquire(c, 1)})), Verdict::refused) << "b held nothing";
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 1);
}

TEST_P(Permits, P9_within_one_change_releases_come_first) {
    const Holder a{new_id()}, b{new_id()};
    ASSERT_EQ(verdict(of({acquire(a, 1)})), Verdict::committed);
    EXPECT_EQ(verdict(of({acquire(b, 1), release(a)})), Verdict::committed) << "handed over";
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 1);
    EXPECT_EQ(verdict(of({acquire(a, 1)})), Verdict::refused) << "b has it now";
    EXPECT_EQ(verdict(of({acquire(a, 1), acquire({new_id()}, 1), release(b)})), Verdict::refused);
    EXPECT_EQ(verdict(of({acquire(a, 1)})), Verdict::refused) << "b has it still";
}

TEST_P(Permits, P31_a_permit_that_nobody_ever_held_counts_zero) {
    EXPECT_EQ(tally(Tally::Of::permit, "never"), 0);
    ASSERT_EQ(verdict(of({acquire({new_id()}, 2)})), Verdict::committed);
    EXPECT_EQ(tally(Tally::Of::permit, "seat"), 1);
    if (can(Ability::counters)) EXPECT_EQ(tally(Tally::Of::counter, "seat"), 0);
}

// ---- permits that a claim takes ----

domain::Submission gated(std::string gate, std::uint32_t limit) {
    domain::Submission s = new_task();
    s.gate = std::move(gate);
    s.gate_limit = limit;
    return s;
}

TEST_P(Gates, P17_a_gate_never_has_more_holders_than_its_limit) {
    for (int i = 0; i < 5; ++i) submit(gated("gate", 2));
    const std::vector<Record> first = claim(asking("default", 10));
    ASSERT_EQ(first.size(), 2U);
    EXPECT_TRUE(first[0].header.holds_gate);
    EXPECT_EQ(tally(Tally::Of::permit, "gate"), 2);
    EXPECT_TRUE(claim(asking("default", 10)).empty());
    complete(first[1]);
    EXPECT_EQ(tally(Tally::Of::permit, "gate"), 1);
    EXPECT_EQ(claim(asking("default", 10)).size(), 1U);
    EXPECT_EQ(tally(Tally::Of::permit, "gate"), 2);
}

TEST_P(Gates, P17_a_closed_gate_holds_up_nobody_else) {
    const Uuid a1 = submit(gated("a", 1)).header.id;
    submit(gated("a", 1));
    const Uuid b1 = submit(gated("b", 1)).header.id;
    const Uuid free = submit().header.id;
    domain::Submission low = new_task();
    low.priority = 1;
    const Uuid behind = submit(low).header.id;
    std::vector<Uuid> ids = claim_ids(asking("default", 10));
    std::ranges::sort(ids);
    std::vector<Uuid> expected{a1, b1, free, behind};
    std::ranges::sort(expected);
    EXPECT_EQ(ids, expected);
}

TEST_P(Gates, P17_every_way_to_let_go_of_a_task_gives_its_permit_back) {
    using namespace domain;
    const auto fail = [](ErrorKind kind) {
        return
            [kind](Fence f) -> Command { return Fail{f, {kind, "broken", {}, {}}, std::nullopt}; };
    };
    const std::vector<std::function<Command(Fence)>> ways{
        [](Fence f) -> Command { return Complete{f, {}}; },
        fail(ErrorKind::transient),
        fail(ErrorKind::permanent),
        [](Fence f) -> Command { return Yield{f, std::nullopt, false}; },
        [](Fence f) -> Command { return Yield{f, std::nullopt, true}; },
    };
    for (std::size_t i = 0; i < ways.size(); ++i) {
        SCOPED_TRACE(i);
        const std::string gate = "gate-" + std::to_string(i);
        submit(gated(gate, 1));
        ClaimRequest request = asking("default");
        request.queues[0].concurrency = 1;
        const Record held = claim(request).at(0);
        ASSERT_EQ(tally(Tally::Of::permit, gate), 1);
        ASSERT_EQ(tally(Tally::Of::permit, domain::queue_permit("default")), 1);
        const Record left = step(held, ways[i](held.header.fence()));
        EXPECT_EQ(tally(Tally::Of::permit, gate), 0);
        EXPECT_EQ(tally(Tally::Of::permit, domain::queue_permit("default")), 0);
        if (!domain::is_final(left.header.state)) step(left, Cancel{});
    }
}

TEST_P(Gates, P17_a_permit_of_a_claim_outlives_its_lease_until_the_task_is_taken_back) {
    submit(gated("gate", 1));
    submit(gated("gate", 1));
    ClaimRequest request = asking("default");
    request.lease = moment();
    const Record held = claim(request).at(0);
    pass(2 * moment());
    EXPECT_EQ(tally(Tally::Of::permit, "gate"), 1);
    EXPECT_TRUE(claim(request).empty());
    step(load(held.header.id), domain::Tick{});
    EXPECT_EQ(tally(Tally::Of::permit, "gate"), 0);
    EXPECT_EQ(claim(request).size(), 1U);
}

TEST_P(Gates, P17_a_gate_without_a_limit_holds_nobody_up) {
    for (int i = 0; i < 5; ++i) submit(gated("gate", 0));
    EXPECT_EQ(claim(asking("default", 10)).size(), 5U);
}

TEST_P(Gates, P17_a_queue_never_has_more_holders_than_its_concurrency) {
    for (int i = 0; i < 6; ++i) submit(i % 2 == 0 ? new_task() : gated("g" + std::to_string(i), 1));
    submit("other");
    ClaimRequest request = asking("default", 10);
    request.queues[0].concurrency = 3;
    request.queues.emplace_back().name = "other";
    const std::vector<Record> first = claim(request);
    std::vector<Record> ours;
    std::ranges::copy_if(first, std::back_inserter(ours),
                         [](const Record& r) { return r.header.queue == "default"; });
    EXPECT_EQ(first.size(), 4U) << "the other queue has no limit";
    ASSERT_EQ(ours.size(), 3U);
    EXPECT_TRUE(ours[0].header.holds_queue_permit);
    EXPECT_EQ(tally(Tally::Of::permit, domain::queue_permit("default")), 3);
    EXPECT_TRUE(claim(request).empty());
    complete(ours[0]);
    EXPECT_EQ(claim(request).size(), 1U);
    request.queues[0].concurrency = 5;  // raised by an operator: the next claim goes by it
    EXPECT_EQ(claim(request).size(), 2U);
}

TEST_P(Gates, P17_what_a_change_acquired_counts_against_the_gate) {
    Change lock;
    lock.partition = kHome;
    const Uuid holder = new_id();
    lock.permits.push_back({Permit::Act::acquire, "gate", holder, Epoch{1}, 1, Duration{0}});
    ASSERT_EQ(verdict(lock), Verdict::committed);
    submit(gated("gate", 1));
    EXPECT_TRUE(claim(asking("default")).empty());
    lock.permits[0].act = Permit::Act::release;
    ASSERT_EQ(verdict(lock), Verdict::committed);
    const Record held = claim_one();
    lock.permits[0].act = Permit::Act::acquire;
    EXPECT_EQ(verdict(lock), Verdict::refused);
    complete(held);
    EXPECT_EQ(verdict(lock), Verdict::committed);
}

TEST_P(Gates, P17_a_permit_that_expires_opens_the_gate) {
    Change lock;
    lock.partition = kHome;
    lock.permits.push_back({Permit::Act::acquire, "gate", new_id(), Epoch{1}, 1, moment()});
    ASSERT_EQ(verdict(lock), Verdict::committed);
    const Record task = submit(gated("gate", 1));
    EXPECT_TRUE(claim(asking("default")).empty());
    pass(moment() + moment() / 2);
    EXPECT_EQ(claim_ids(asking("default")), std::vector{task.header.id});
}

}  // namespace
}  // namespace holdfast::stores::conformance
