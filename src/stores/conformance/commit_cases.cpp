// commit: the guard, the place of a task, its timer, its body.
#include "domain/decide.h"
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;

TEST_P(Commit, P1_a_put_decided_on_another_version_is_a_conflict) {
    const Record first = submit();
    const Record second = step(first, domain::Pause{});
    ASSERT_EQ(second.header.version, 2U);
    EXPECT_EQ(verdict(decided(first, domain::Cancel{})), Verdict::conflict) << "an older version";
    Record ahead = second;
    ahead.header.version = 3;
    EXPECT_EQ(verdict(decided(ahead, domain::Cancel{})), Verdict::conflict) << "one yet to come";
    EXPECT_EQ(load(first.header.id), second);
    EXPECT_EQ(verdict(decided(second, domain::Cancel{})), Verdict::committed);
}

TEST_P(Commit, P1_zero_means_that_the_record_must_not_exist) {
    const Change creation = decided(new_task());
    ASSERT_EQ(verdict(creation), Verdict::committed);
    EXPECT_EQ(verdict(creation), Verdict::conflict) << "it exists";
    Record unknown = load(creation.puts[0].header.id);
    unknown.header.id = new_id();
    EXPECT_EQ(verdict(decided(unknown, domain::Pause{})), Verdict::conflict) << "it does not";
    EXPECT_FALSE(find(unknown.header.key()));
}

TEST_P(Commit, P1_a_record_of_the_same_version_but_another_claim_is_a_conflict) {
    submit();
    const Record held = claim_one();
    // After lost writes the same number may have been given to somebody else's claim.
    Record imagined = held;
    imagined.header.epoch = domain::Epoch{static_cast<std::int64_t>(held.header.epoch) - 1};
    EXPECT_EQ(verdict(rewrite(imagined.header)), Verdict::conflict);
    EXPECT_EQ(load(held.header.id), held);
    EXPECT_EQ(complete(held).header.state, State::succeeded);
}

TEST_P(Commit, P1_a_record_of_the_same_version_but_another_commit_is_a_conflict) {
    const Record task = submit();
    Header imagined = task.header;
    imagined.nonce = task.header.nonce - 1;  // near, to catch rounding
    EXPECT_EQ(verdict(rewrite(imagined)), Verdict::conflict);
    EXPECT_EQ(load(task.header.id), task);
    imagined.nonce = 0;  // whoever decided on it does not care
    EXPECT_EQ(verdict(rewrite(imagined)), Verdict::committed);
}

TEST_P(Commit, P1_a_lease_that_was_renewed_does_not_end_by_what_was_decided_before) {
    submit();
    ClaimRequest request = asking("default");
    request.lease = moment();
    const Record held = claim(request).at(0);
    pass(moment() + moment() / 2);
    const Change ended = decided(held, domain::Tick{});
    ASSERT_TRUE(is_set(ended.puts[0].unless_renewed_past));
    ASSERT_TRUE(renew(held, 1h).held);
    const Record renewed = load(held.header.id);
    EXPECT_EQ(verdict(ended), Verdict::conflict);
    EXPECT_EQ(load(held.header.id), renewed);
    EXPECT_EQ(complete(held).header.state, State::succeeded);
}

TEST_P(Commit, P1_a_lease_that_nobody_renewed_ends) {
    submit();
    ClaimRequest request = asking("default");
    request.lease = moment();
    const Record held = claim(request).at(0);
    pass(moment() + moment() / 2);
    EXPECT_EQ(step(held, domain::Tick{}).header.state, State::queued);
    EXPECT_EQ(verdict(decided(held, domain::Complete{held.header.fence(), {}})), Verdict::conflict);
}

TEST_P(Commit, P1_one_stale_put_of_several_makes_the_whole_change_a_conflict) {
    const Record stale = submit("a");
    step(stale, domain::Signal{"s", {}});
    for (const bool stale_first : {true, false}) {
        Change change = decided(new_task("b"));
        const Uuid created = change.puts[0].header.id;
        change.puts.push_back(decided(stale, domain::Pause{}).puts[0]);
        if (stale_first) std::swap(change.puts[0], change.puts[1]);
        EXPECT_EQ(verdict(change), Verdict::conflict);
        EXPECT_FALSE(find({domain::Kind::task, created}));
    }
    EXPECT_TRUE(claim(asking("b")).empty());
}

TEST_P(Commit, P2_a_conflicting_change_leaves_no_trace) {
    const Record task = submit();
    const Record paused = step(task, domain::Pause{});
    Change stale = decided(task, domain::Signal{"late", Json::quoted("x")});
    only_put(stale).body = Bytes("another body");
    only_put(stale).header.wake_at = now();
    const Look all{{task.header.key()}, {{"signal", task.header.id}}, {}};
    const Sight before = look(all);
    ASSERT_EQ(verdict(stale), Verdict::conflict);
    EXPECT_EQ(look(all), before);
    pass(moment());
    EXPECT_TRUE(due().empty()) << "a timer was set";
    EXPECT_TRUE(claim(asking("default")).empty()) << "it was put into the lane";
    EXPECT_EQ(load(task.header.id), paused);
}

TEST_P(Commit, P2_the_changes_of_one_call_are_applied_in_order_and_each_on_its_own) {
    const Record task = submit("a");
    Change pause = decided(task, domain::Pause{});
    pause.nonce = 17;
    Record paused = task;
    paused.header = pause.puts[0].header;
    paused.header.nonce = 17;
    const std::vector<Outcome> outcomes = commit_all({
        pause, decided(task, domain::Cancel{}),             // decided on what the first has changed
        decided(new_task("b")),                             // nothing to do with either
        decided(paused, domain::Resume{{}, std::nullopt}),  // decided on what the first has written
    });
    EXPECT_EQ(outcomes[0].verdict, Verdict::committed);
    EXPECT_EQ(outcomes[1].verdict, Verdict::conflict);
    EXPECT_EQ(outcomes[2].verdict, Verdict::committed);
    EXPECT_EQ(outcomes[3].verdict, Verdict::committed);
    EXPECT_EQ(load(task.header.id).header.version, 3U);
    EXPECT_EQ(claim(asking("a", 10)).size(), 1U);
    EXPECT_EQ(claim(asking("b", 10)).size(), 1U);
}

TEST_P(Commit, P3_a_queued_task_stands_at_the_end_of_its_lane) {
    const Uuid a = submit().header.id;
    const Uuid b = submit().header.id;
    const Record held = claim_one();
    ASSERT_EQ(held.header.id, a);
    const Uuid c = submit().header.id;
    yield(held);
    EXPECT_EQ(claim_ids(asking("default", 10)), (std::vector{b, c, a}));
}

TEST_P(Commit, P3_a_task_that_is_written_while_queued_stands_in_its_lane_once) {
    const Record task = submit();
    step(step(task, domain::Signal{"one", {}}), domain::Signal{"two", {}});
    EXPECT_EQ(claim_ids(asking("default", 10)), std::vector{task.header.id});
    EXPECT_TRUE(claim(asking("default", 10)).empty());
}

TEST_P(Commit, P3_a_put_that_changes_queue_or_priority_moves_the_task_to_that_lane) {
    const Record low = submit();
    Header moved = submit().header;
    moved.priority = 9;
    apply(rewrite(moved));
    Header gone = submit().header;
    gone.queue = "other";
    apply(rewrite(gone));
    EXPECT_EQ(claim_ids(asking("default", 10)), (std::vector{moved.id, low.header.id}));
    EXPECT_EQ(claim_ids(asking("other", 10)), std::vector{gone.id});
}

TEST_P(Commit, P3_a_task_in_any_other_state_is_in_no_lane) {
    for (std::size_t s = 1; s < domain::kStates; ++s) {
        const auto state = static_cast<State>(s);
        if (state == State::queued) continue;
        Header header = submit().header;
        header.state = state;
        apply(rewrite(header));
        EXPECT_TRUE(claim(asking("default", 10)).empty()) << domain::to_string(state);
    }
    if (!can(Ability::list)) return;
    submit();
    std::size_t in_lane = 0;
    for (const ListRow& row : list_all()) {
        EXPECT_EQ(row.in_lane, row.header.state == State::queued);
        if (row.in_lane) ++in_lane;
    }
    EXPECT_EQ(in_lane, 1U);
}

TEST_P(Commit, P4_wake_at_is_the_one_timer_of_a_record) {
    domain::Submission later = new_task();
    later.delay = moment();
    Record task = submit(later);
    EXPECT_EQ(task.header.wake_at, task.header.due_at);
    // Moved: it does not ring at the old moment.
    task.header.wake_at = task.header.due_at + 2 * moment();
    task = apply(rewrite(task.header));
    pass(2 * moment());
    EXPECT_TRUE(due().empty());
    pass(moment() + moment() / 2);
    EXPECT_EQ(due_ids(), std::vector{task.header.id});
    // Taken away: it never rings.
    Record second = submit(later);
    second.header.wake_at = kNoTime;
    apply(rewrite(second.header));
    pass(2 * moment());
    for (const Uuid& id : due_ids()) EXPECT_NE(id, second.header.id);
}

TEST_P(Commit, P4_a_timer_that_is_already_past_rings_at_once) {
    Header header = submit().header;
    header.wake_at = now() - 1h;
    apply(rewrite(header));
    EXPECT_EQ(due_ids(), std::vector{header.id});
}

TEST_P(Commit, P5_body_and_outcome_stay_unless_they_are_given) {
    Change creation = decided(new_task());
    only_put(creation).body = Bytes("body 1");
    only_put(creation).outcome = Bytes("outcome 1");
    const auto write = [&](const Record& on, std::optional<Bytes> body,
                           std::optional<Bytes> outcome) {
        Change change = rewrite(on.header);
        only_put(change).body = std::move(body);
        only_put(change).outcome = std::move(outcome);
        return apply(change);
    };
    Record r = write(apply(creation), std::nullopt, std::nullopt);
    EXPECT_EQ(r.body, Bytes("body 1"));
    EXPECT_EQ(r.outcome, Bytes("outcome 1"));
    r = write(r, Bytes("body 2"), std::nullopt);
    EXPECT_EQ(r.body, Bytes("body 2"));
    EXPECT_EQ(r.outcome, Bytes("outcome 1"));
    r = write(r, std::nullopt, Bytes("outcome 2"));
    EXPECT_EQ(r.body, Bytes("body 2"));
    EXPECT_EQ(r.outcome, Bytes("outcome 2"));
    r = write(r, std::nullopt, Bytes());
    EXPECT_EQ(r.body, Bytes("body 2"));
    EXPECT_TRUE(r.outcome.empty()) << "given, and empty";
    EXPECT_EQ(claim_one().body, Bytes("body 2"));
}

TEST_P(Commit, P5_a_body_may_hold_any_bytes_and_be_large) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    while (bytes.size() < (std::size_t{1} << 20)) bytes += bytes;
    Change creation = decided(new_task());
    only_put(creation).body = Bytes(bytes);
    only_put(creation).outcome = Bytes(bytes.substr(1));
    const Record record = apply(creation);
    EXPECT_TRUE(record.body.view() == bytes);
    EXPECT_TRUE(record.outcome.view() == std::string_view(bytes).substr(1));
}

}  // namespace
}  // namespace holdfast::stores::conformance
