// trim: what is old goes; what is needed stays.
#include "domain/decide.h"
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;

TrimRequest finished_before(Time t, std::size_t limit = 1000) {
    TrimRequest request;
    request.finished_before = t;
    request.limit = limit;
    return request;
}

TEST_P(Trim, P32_an_old_finished_task_goes_with_all_that_is_its_own) {
    submit("old");
    Record held = claim_one("old");
    held = step(held, domain::Checkpoint{held.header.fence(), "stage", Json::quoted("x"), false});
    const Record old = complete(held);
    pass(moment());
    const Time between = now();
    pass(moment());
    submit("young");
    const Record young = complete(claim_one("young"));
    EXPECT_EQ(ask(store().trim(finished_before(between))), 1U);
    EXPECT_FALSE(find(old.header.key()));
    if (can(Ability::history)) EXPECT_TRUE(history(old.header.key()).empty());
    if (can(Ability::logs)) EXPECT_TRUE(log("checkpoint", old.header.id).empty());
    if (can(Ability::stats))
        EXPECT_EQ(counts(), (Counted{{{"young", "work", State::succeeded}, 1}}));
    if (can(Ability::list)) EXPECT_EQ(list_all().size(), 1U);
    EXPECT_EQ(load(young.header.id), young);
    EXPECT_EQ(ask(store().trim(finished_before(between))), 0U);
}

TEST_P(Trim, P32_every_final_state_is_finished) {
    submit("done");
    complete(claim_one("done"));
    step(submit("cancelled"), domain::Cancel{});
    step(submit("discarded"), domain::Discard{});
    domain::Submission hopeless = new_task("failed");
    hopeless.policy.on_exhausted = domain::Ending::fail;
    submit(hopeless);
    const Record held = claim_one("failed");
    step(held, domain::Fail{held.header.fence(), {domain::ErrorKind::permanent, "no", {}, {}}, {}});
    pass(moment());
    EXPECT_EQ(ask(store().trim(finished_before(now()))), 4U);
    if (can(Ability::list)) EXPECT_TRUE(list_all().empty());
}

TEST_P(Trim, P32_unfinished_tasks_never_go) {
    std::vector<Uuid> ids;
    for (std::size_t s = 1; s < domain::kStates; ++s) {
        const auto state = static_cast<State>(s);
        if (domain::is_final(state)) continue;
        Header header = submit().header;
        header.state = state;
        header.finished_at = header.created_at;  // nonsense, and no reason
        ids.push_back(apply(rewrite(header)).header.id);
    }
    pass(moment());
    EXPECT_EQ(ask(store().trim(finished_before(now() + 24h))), 0U);
    for (const Uuid& id : ids) EXPECT_TRUE(find({domain::Kind::task, id}));
}

TEST_P(Trim, P32_in_small_steps_until_nothing_is_left) {
    for (int i = 0; i < 10; ++i) step(submit(), domain::Cancel{});
    pass(moment());
    std::size_t gone = 0;
    for (int calls = 0; gone < 10; ++calls) {
        ASSERT_LT(calls, 20);
        const std::size_t now_gone = ask(store().trim(finished_before(now(), 3)));
        EXPECT_LE(now_gone, 3U);
        gone += now_gone;
    }
    EXPECT_EQ(gone, 10U);
    EXPECT_EQ(ask(store().trim(finished_before(now(), 3))), 0U);
}

TEST_P(Trim, P32_a_finished_task_stays_while_a_live_binding_names_it) {
    HOLDFAST_NEEDS(Ability::bindings);
    Change creation = decided(new_task());
    creation.binds.push_back(
        {"scope", "key", only_put(creation).header.id, sha256("x"), 3 * moment()});
    const Record done = step(apply(creation), domain::Cancel{});
    pass(moment());
    EXPECT_EQ(ask(store().trim(finished_before(now()))), 0U);
    EXPECT_EQ(load(done.header.id), done);
    pass(2 * moment() + moment() / 2);
    EXPECT_EQ(ask(store().trim(finished_before(now()))), 1U);
    EXPECT_FALSE(find(done.header.key()));
}

TEST_P(Trim, P32_a_bound_task_does_not_hold_up_others) {
    HOLDFAST_NEEDS(Ability::bindings);
    for (int i = 0; i < 5; ++i) {
        Change creation = decided(new_task());
        creation.binds.push_back(
            {"scope", "key-" + std::to_string(i), only_put(creation).header.id, sha256("x"), 24h});
        step(apply(creation), domain::Cancel{});
    }
    const Record free = step(submit(), domain::Cancel{});
    pass(moment());
    std::size_t gone = 0;
    for (int calls = 0; calls < 20; ++calls) gone += ask(store().trim(finished_before(now(), 2)));
    EXPECT_EQ(gone, 1U);
    EXPECT_FALSE(find(free.header.key()));
}

TrimRequest feed_before(Time t, std::vector<std::string> keep) {
    TrimRequest request;
    request.feed_before = t;
    request.feed_keep = std::move(keep);
    return request;
}

TEST_P(Trim, P32_old_events_go_and_who_missed_them_is_told) {
    HOLDFAST_NEEDS(Ability::feed);
    for (int i = 0; i < 3; ++i) submit();
    const std::string behind = ask(store().feed("", 1)).next;
    pass(moment());
    ask(store().trim(feed_before(now(), {})));
    EXPECT_TRUE(whole_feed().empty());
    const Record young = submit();
    const FeedPage page = ask(store().feed(behind, 10));
    EXPECT_TRUE(page.reset) << "it missed two events";
    ASSERT_EQ(page.events.size(), 1U) << "and goes on with what there is";
    EXPECT_EQ(page.events[0].subject, young.header.key());
    EXPECT_FALSE(ask(store().feed(page.next, 10)).reset) << "it is told once";
}

// What is packed together may go together, later: more may stay than must, never less.
TEST_P(Trim, P32_young_events_stay) {
    HOLDFAST_NEEDS(Ability::feed);
    for (int i = 0; i < 3; ++i) submit();
    pass(moment());
    const Time between = now();
    pass(moment());
    const std::vector<Key> young{submit().header.key(), submit().header.key(),
                                 submit().header.key()};
    ask(store().trim(feed_before(between, {})));
    std::vector<Key> left;
    for (const auto& event : whole_feed()) left.push_back(event.subject);
    ASSERT_GE(left.size(), 3U);
    EXPECT_EQ(std::vector(left.end() - 3, left.end()), young);
}

TEST_P(Trim, P32_a_reader_that_has_read_all_that_goes_missed_nothing) {
    HOLDFAST_NEEDS(Ability::feed);
    submit();
    submit();
    std::string cursor;
    ASSERT_EQ(read_feed(cursor).size(), 2U);
    pass(moment());
    ask(store().trim(feed_before(now(), {})));
    EXPECT_TRUE(whole_feed().empty());
    EXPECT_FALSE(ask(store().feed(cursor, 10)).reset);
    const Record next = submit();
    const FeedPage page = ask(store().feed(cursor, 10));
    EXPECT_FALSE(page.reset);
    ASSERT_EQ(page.events.size(), 1U);
    EXPECT_EQ(page.events[0].subject, next.header.key());
}

TEST_P(Trim, P32_nothing_goes_that_a_kept_cursor_has_not_read) {
    HOLDFAST_NEEDS(Ability::feed);
    std::vector<Key> subjects(6);
    for (Key& subject : subjects) subject = submit().header.key();
    const std::string slow = ask(store().feed("", 2)).next;
    const std::string fast = ask(store().feed(slow, 2)).next;
    pass(moment());
    ask(store().trim(feed_before(now(), {fast, slow})));
    std::string cursor = slow;
    EXPECT_FALSE(ask(store().feed(slow, 10)).reset);
    std::vector<Key> unread;
    for (const auto& event : read_feed(cursor)) unread.push_back(event.subject);
    EXPECT_EQ(unread, std::vector(subjects.begin() + 2, subjects.end()));
}

}  // namespace
}  // namespace holdfast::stores::conformance
