// Time and signals: submitting for later, yielding, waking, deadlines.
#include <gtest/gtest.h>

#include "domain/decide.h"
#include "domain/sample_tasks.h"

namespace holdfast::domain {
namespace {

using namespace samples;

Record waits_for_signal(std::optional<Duration> at_most = {}) {
    const Record task = running();
    return after(task, Yield{task.header.fence(), at_most, true});
}

TEST(Submit, makes_a_queued_task_with_all_it_was_given) {
    Submission s = submission();
    s.queue = "images";
    s.tenant = "acme";
    s.priority = 9;
    s.lease = 2min;
    s.labels = {{"b", "2"}, {"a", "1"}};
    s.lane_by_type = true;
    s.gate = "printer";
    s.gate_limit = 3;
    const Header h = submitted(s).header;
    EXPECT_EQ(h.id, kId);
    EXPECT_EQ(h.kind, Kind::task);
    EXPECT_EQ(h.state, State::queued);
    EXPECT_EQ(h.version, 1U);
    EXPECT_EQ(h.attempt, 0U);
    EXPECT_EQ(h.created_at, kNow);
    EXPECT_EQ(h.labels, "\na=1\nb=2\n");
    EXPECT_EQ(h.policy, format_policy(Policy{}));
    EXPECT_EQ(h.lease, 2min);
    EXPECT_FALSE(is_set(h.wake_at));
    const Lane lane = lane_of(h);
    EXPECT_EQ(lane.queue, "images");
    EXPECT_EQ(lane.type, "image.resize");
    EXPECT_EQ(lane.priority, 9);
    EXPECT_EQ(lane.gate, "acme/printer") << "a concurrency key is its tenant's own";
    EXPECT_EQ(lane_of(submitted().header).type, "");
    s.tenant.clear();
    EXPECT_EQ(submitted(s).header.gate, "printer");
    s.gate.clear();
    s.tenant = "acme";
    EXPECT_EQ(submitted(s).header.gate, "");
}

TEST(Submit, binds_its_idempotency_key_in_the_scope_of_its_tenant) {
    Submission s = submission();
    s.tenant = "acme";
    s.idempotency_key = "order-7";
    const Change change = decide_submit(s, kId, kNow);
    ASSERT_EQ(change.binds.size(), 1U);
    EXPECT_EQ(change.binds.front().scope, "acme");
    EXPECT_EQ(change.binds.front().key, "order-7");
    EXPECT_EQ(change.binds.front().id, kId);
    EXPECT_EQ(change.binds.front().body_hash, content_hash(s));
    EXPECT_EQ(change.binds.front().ttl, kBindingTtl);
    EXPECT_TRUE(decide_submit(submission(), kId, kNow).binds.empty());
    EXPECT_EQ(change.puts.front().expected_version, 0U);
}

TEST(Submit, for_later_waits_for_its_time) {
    Submission s = submission();
    s.delay = 10min;
    const Record task = submitted(s);
    EXPECT_EQ(task.header.state, State::waiting);
    EXPECT_EQ(task.header.run_at, kNow + 10min);
    EXPECT_EQ(task.header.wake_at, kNow + 10min);
    EXPECT_EQ(refused(task, Tick{}, kNow + 10min - 1us), Refusal::not_due);
    EXPECT_EQ(after(task, Tick{}, kNow + 10min).header.state, State::queued);
}

TEST(Submit, run_at_in_the_past_and_no_delay_run_at_once) {
    Submission s = submission();
    s.run_at = kNow - 1h;
    EXPECT_EQ(submitted(s).header.state, State::queued);
    EXPECT_EQ(submitted(s).header.run_at, kNow - 1h);
    s.run_at.reset();
    s.delay = 0s;
    EXPECT_EQ(submitted(s).header.state, State::queued);
    EXPECT_FALSE(is_set(submitted(s).header.run_at));
}

TEST(Submit, the_timeout_runs_from_when_the_task_may_first_run) {
    Submission s = submission();
    s.policy.timeout = 30min;
    EXPECT_EQ(submitted(s).header.deadline, kNow + 30min);
    EXPECT_EQ(submitted(s).header.wake_at, kNow + 30min);
    s.run_at = kNow + 1h;
    EXPECT_EQ(submitted(s).header.deadline, kNow + 90min);
    EXPECT_EQ(submitted(s).header.wake_at, kNow + 1h);
}

TEST(Deadline, parks_or_fails_the_task_wherever_it_stands) {
    for (const Ending ending : {Ending::suspend, Ending::fail}) {
        Submission s = submission();
        s.policy.timeout = 10s;
        s.policy.on_timeout = ending;
        const State expected = ending == Ending::fail ? State::failed : State::suspended;
        const Record retrying = after(running(s), failure(running(s)));
        for (const Record& task : {submitted(s), running(s), retrying}) {
            EXPECT_EQ(refused(task, Tick{}, kNow + 10s - 1us), Refusal::not_due);
            const auto change = decide(task, Tick{}, kNow + 10s);
            ASSERT_TRUE(change);
            EXPECT_EQ(change->puts.front().header.state, expected);
            EXPECT_EQ(change->puts.front().header.retry_count, task.header.retry_count);
            EXPECT_NE(change->puts.front().outcome->view().find("\"timeout\""),
                      std::string_view::npos);
        }
    }
}

TEST(Deadline, a_worker_that_completes_after_it_is_stale) {
    Submission s = submission();
    s.policy.timeout = 10s;
    const Record task = running(s);
    const Record parked = after(task, Tick{}, kNow + 10s);
    EXPECT_EQ(refused(parked, Complete{task.header.fence(), {}}), Refusal::stale_lease);
}

TEST(Deadline, does_not_ring_for_parked_and_finished_tasks) {
    Submission s = submission();
    s.policy.timeout = 10s;
    const Record paused = after(submitted(s), Pause{});
    EXPECT_EQ(refused(paused, Tick{}, kNow + 1h), Refusal::not_due);
    EXPECT_EQ(refused(after(paused, Cancel{}), Tick{}, kNow + 1h), Refusal::not_due);
}

TEST(Yield, gives_the_task_to_somebody_else_without_counting_a_failure) {
    const Record task = running();
    const Record back = after(task, Yield{task.header.fence(), {}, false});
    EXPECT_EQ(back.header.state, State::queued);
    EXPECT_EQ(back.header.retry_count, 0);
    EXPECT_EQ(back.header.crashes, 0);
    EXPECT_EQ(back.header.attempt, 1U);
}

TEST(Yield, after_a_while_waits_so_long) {
    const Record task = running();
    const Record waiting = after(task, Yield{task.header.fence(), 30s, false});
    EXPECT_EQ(waiting.header.state, State::waiting);
    EXPECT_FALSE(waiting.header.until_signal);
    EXPECT_EQ(waiting.header.wake_at, kNow + 30s);
    EXPECT_EQ(after(waiting, Tick{}, kNow + 30s).header.state, State::queued);
}

TEST(Yield, until_a_signal_waits_for_it_but_not_for_ever) {
    EXPECT_TRUE(waits_for_signal().header.until_signal);
    EXPECT_EQ(waits_for_signal().header.wake_at, kNow + kSignalPatience);
    EXPECT_EQ(waits_for_signal(1h).header.wake_at, kNow + 1h);
    EXPECT_EQ(after(waits_for_signal(1h), Tick{}, kNow + 1h).header.state, State::queued);
}

TEST(Signal, wakes_the_task_that_waits_for_it_and_is_kept) {
    const auto change = decide(waits_for_signal(), Signal{"paid-1", Json::quoted("9 EUR")}, kNow);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->puts.front().header.state, State::queued);
    EXPECT_EQ(change->puts.front().header.signals, 1);
    EXPECT_FALSE(change->puts.front().header.until_signal);
    ASSERT_EQ(change->appends.size(), 1U);
    EXPECT_EQ(change->appends.front().log, kSignalLog);
    EXPECT_EQ(change->appends.front().unique_key, "paid-1");
    EXPECT_EQ(change->appends.front().bytes.view(), "\"9 EUR\"");
    EXPECT_EQ(change->appends.front().existing, Append::Existing::refuse)
        << "a repeated signal adds nothing";
}

TEST(Signal, that_comes_before_the_yield_is_not_lost) {
    const Record task = after(running(), Signal{"paid-1", {}});
    EXPECT_EQ(task.header.state, State::running);
    EXPECT_TRUE(task.header.signal_pending);
    for (const std::optional<Duration> at_most :
         {std::optional<Duration>{}, std::optional{Duration{1h}}}) {
        const Record back = after(task, Yield{task.header.fence(), at_most, true});
        EXPECT_EQ(back.header.state, State::queued);
        EXPECT_FALSE(back.header.signal_pending);
    }
    const Record polls = after(task, Yield{task.header.fence(), 30s, false});
    EXPECT_EQ(polls.header.state, State::waiting) << "a poll is not what the signal is for";
}

TEST(Signal, that_an_earlier_attempt_was_handed_does_not_end_the_next_wait) {
    const Record task = after(running(), Signal{"paid-1", {}});
    const Record next = claimed(after(task, Yield{task.header.fence(), {}, true}), kNow + 1s);
    const Record waiting = after(next, Yield{next.header.fence(), {}, true}, kNow + 1s);
    EXPECT_EQ(waiting.header.state, State::waiting);
}

TEST(Signal, a_task_keeps_only_so_many) {
    Record task = submitted();
    task.header.signals = kMostLogged - 1;
    const Record full = after(task, Signal{"last", {}});
    EXPECT_EQ(full.header.signals, kMostLogged);
    EXPECT_EQ(refused(full, Signal{"one more", {}}), Refusal::too_many);
}

TEST(Signal, is_kept_for_the_next_claim_where_nobody_waits_for_it) {
    const Record retrying = after(running(), failure(running()));
    const Record suspended = after(running(), failure(running(), ErrorKind::permanent));
    Submission later = submission();
    later.delay = 1h;
    for (const Record& task : {submitted(), submitted(later), retrying, suspended,
                               after(submitted(), Pause{}), running()}) {
        const Record signalled = after(task, Signal{"s", {}});
        EXPECT_EQ(signalled.header.state, task.header.state);
        EXPECT_EQ(signalled.header.wake_at, task.header.wake_at);
        EXPECT_EQ(signalled.header.signals, 1);
    }
    const Record done = after(running(), Complete{running().header.fence(), {}});
    EXPECT_EQ(refused(done, Signal{"s", {}}), Refusal::wrong_state);
}

}  // namespace
}  // namespace holdfast::domain
