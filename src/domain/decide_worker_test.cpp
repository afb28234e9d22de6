// What the worker that holds a task may say, and what others may not.
#include <gtest/gtest.h>

#include "domain/decide.h"
#include "domain/sample_tasks.h"

namespace holdfast::domain {
namespace {

using namespace samples;

TEST(Decide, a_claim_stamps_worker_lease_attempt_and_epoch) {
    const Record queued = submitted();
    const Header h = claimed(queued, kNow + 5s).header;
    EXPECT_EQ(h.state, State::running);
    EXPECT_EQ(h.worker, kWorker);
    EXPECT_EQ(h.attempt, 1U);
    EXPECT_EQ(h.epoch, Epoch{(kNow + 5s).time_since_epoch().count()});
    EXPECT_EQ(h.lease_until, kNow + 5s + kDefaultLease);
    EXPECT_EQ(h.wake_at, h.lease_until);
    EXPECT_EQ(h.started_at, kNow + 5s);
    EXPECT_EQ(h.version, queued.header.version + 1);
}

TEST(Decide, a_claim_begins_afresh_what_the_last_attempt_left) {
    Record task = running();
    task.header.progress = 0.7F;
    task.header.nonce = 42;
    const Record queued = after(task, Tick{}, task.header.lease_until);
    EXPECT_EQ(queued.header.ended_by, Event::lease_ended);
    const Header h = claimed(queued, kNow + 1h).header;
    EXPECT_EQ(h.attempt, 2U);
    EXPECT_EQ(h.progress, -1);
    EXPECT_EQ(h.ended_by, Event::none);
    EXPECT_EQ(h.nonce, 0U);
    EXPECT_EQ(h.started_at, kNow + 1h);
    EXPECT_FALSE(is_set(h.due_at));
    EXPECT_FALSE(h.holds_gate || h.holds_queue_permit);
}

TEST(Decide, only_a_queued_task_can_be_claimed) {
    EXPECT_EQ(refused(running(), claim(running())), Refusal::wrong_state);
    const Record failed = after(running(), failure(running()));
    EXPECT_EQ(failed.header.state, State::retrying);
    EXPECT_EQ(refused(failed, claim(failed), failed.header.due_at), Refusal::wrong_state);
}

TEST(Decide, epochs_grow_over_lost_writes_and_clocks_that_step_back) {
    const Epoch first = next_epoch(Epoch{0}, kNow);
    EXPECT_GT(next_epoch(first, kNow), first);
    EXPECT_GT(next_epoch(first, kNow - 1h), first);
    EXPECT_EQ(next_epoch(Epoch{0}, kNow + 1s), Epoch{(kNow + 1s).time_since_epoch().count()})
        << "a claim that was lost is never minted again: the clock has moved on";
}

TEST(Decide, complete_ends_the_task_with_its_result) {
    const Record task = running();
    const auto change =
        decide(task, Complete{task.header.fence(), Json::quoted("done")}, kNow + 1s);
    ASSERT_TRUE(change);
    const Put& put = change->puts.front();
    EXPECT_EQ(put.header.state, State::succeeded);
    EXPECT_EQ(put.header.finished_at, kNow + 1s);
    EXPECT_EQ(put.header.progress, 1);
    EXPECT_EQ(put.outcome->view(), R"({"result":"done"})");
    EXPECT_FALSE(put.body);
    EXPECT_EQ(put.transition.actor, kWorker);
    EXPECT_EQ(put.transition.event, Event::completed);
}

TEST(Decide, complete_is_refused_under_an_older_lease_and_writes_nothing) {
    const Record first = running();
    const Record second = failed_and_claimed(first);
    EXPECT_EQ(second.header.attempt, 2U);
    EXPECT_EQ(refused(second, Complete{first.header.fence(), {}}), Refusal::stale_lease);
    // The same attempt by another claim's epoch, and the same epoch by another attempt's number.
    const Fence right = second.header.fence();
    EXPECT_EQ(refused(second, Complete{{right.attempt, first.header.epoch}, {}}),
              Refusal::stale_lease);
    EXPECT_EQ(refused(second, Complete{{first.header.attempt, right.epoch}, {}}),
              Refusal::stale_lease);
}

TEST(Decide, a_lease_that_is_over_but_not_taken_back_still_lets_its_worker_complete) {
    const Record task = running();
    const Time late = task.header.lease_until + 1h;
    EXPECT_EQ(after(task, Complete{task.header.fence(), {}}, late).header.state, State::succeeded);
}

TEST(Decide, repeating_a_call_under_the_same_fence_is_already_done) {
    const Record task = running();
    const Fence fence = task.header.fence();
    const Complete complete{fence, {}};
    const Fail fail = failure(task);
    const Yield yield{fence, {}, false};
    EXPECT_EQ(refused(after(task, complete), complete), Refusal::already);
    EXPECT_EQ(refused(after(task, fail), fail), Refusal::already);
    EXPECT_EQ(refused(after(task, yield), yield), Refusal::already);

    const Record done = after(task, complete);
    EXPECT_EQ(refused(done, fail), Refusal::stale_lease);
    EXPECT_EQ(refused(done, yield), Refusal::stale_lease);
    EXPECT_EQ(refused(done, Accept{fence}), Refusal::stale_lease);
    EXPECT_EQ(refused(done, Start{fence}), Refusal::stale_lease);
    EXPECT_EQ(refused(done, Checkpoint{fence, "s", {}, false}), Refusal::stale_lease);
}

TEST(Decide, a_repeated_fail_is_already_done_until_the_next_claim_and_stale_after_it) {
    const Record task = running();
    const Fail fail = failure(task);
    const Record retrying = after(task, fail);
    const Record queued = after(retrying, Tick{}, retrying.header.due_at);
    EXPECT_EQ(refused(queued, fail), Refusal::already);
    EXPECT_EQ(refused(claimed(queued, kNow + 1h), fail), Refusal::stale_lease);
}

TEST(Decide, a_task_that_was_never_claimed_has_no_fence_to_guess) {
    const Record queued = submitted();
    EXPECT_EQ(refused(queued, Complete{queued.header.fence(), {}}), Refusal::stale_lease);
    EXPECT_EQ(refused(queued, Fail{}), Refusal::stale_lease);
}

TEST(Decide, a_worker_that_lost_its_lease_is_stale_and_not_repeating) {
    const Record task = running();
    const Record back = after(task, Tick{}, task.header.lease_until);
    EXPECT_EQ(back.header.state, State::queued);
    EXPECT_EQ(refused(back, Complete{task.header.fence(), {}}), Refusal::stale_lease);
    EXPECT_EQ(refused(back, failure(task)), Refusal::stale_lease);
}

TEST(Decide, a_node_accepts_then_starts_and_may_skip_the_ack) {
    const Record given = dispatched();
    EXPECT_FALSE(is_set(given.header.started_at));
    const Fence fence = given.header.fence();
    const Record accepted = after(given, Accept{fence}, kNow + 1s);
    EXPECT_EQ(accepted.header.state, State::accepted);
    EXPECT_EQ(accepted.header.lease_until, given.header.lease_until);
    const Record started = after(accepted, Start{fence}, kNow + 2s);
    EXPECT_EQ(started.header.state, State::running);
    EXPECT_EQ(started.header.started_at, kNow + 2s);
    EXPECT_EQ(after(given, Start{fence}).header.state, State::running);
    EXPECT_EQ(refused(accepted, Accept{fence}), Refusal::already);
    EXPECT_EQ(refused(started, Accept{fence}), Refusal::already);
    EXPECT_EQ(refused(started, Start{fence}), Refusal::already);
}

TEST(Decide, a_result_is_a_result_also_from_a_node_that_never_said_it_began) {
    const Record given = dispatched();
    EXPECT_EQ(after(given, Complete{given.header.fence(), {}}).header.state, State::succeeded);
}

TEST(Decide, a_checkpoint_is_appended_once_and_the_task_goes_on) {
    const Record task = running();
    const Checkpoint checkpoint{task.header.fence(), "stage-1", Json::quoted("data"), false};
    const auto change = decide(task, checkpoint, kNow);
    ASSERT_TRUE(change);
    ASSERT_EQ(change->appends.size(), 1U);
    const Append& append = change->appends.front();
    EXPECT_EQ(append.log, kCheckpointLog);
    EXPECT_EQ(append.owner, task.header.id);
    EXPECT_EQ(append.unique_key, "stage-1");
    EXPECT_EQ(append.bytes.view(), "\"data\"");
    EXPECT_EQ(append.existing, Append::Existing::refuse);
    const Record on = applied(task, *change);
    EXPECT_EQ(on.header.state, State::running);
    EXPECT_EQ(on.header.checkpoints, 1);
    EXPECT_EQ(on.header.lease_until, task.header.lease_until);
    EXPECT_EQ(change->puts.front().transition.message, "stage-1");
}

TEST(Decide, a_checkpoint_that_is_written_already_writes_nothing) {
    const Record task = running();
    EXPECT_EQ(refused(task, Checkpoint{task.header.fence(), "stage-1", {}, true}),
              Refusal::already);
}

TEST(Decide, a_task_has_only_so_many_stages) {
    Record task = running();
    task.header.checkpoints = kMostLogged - 1;
    const Checkpoint checkpoint{task.header.fence(), "last", {}, false};
    const Record full = after(task, checkpoint);
    EXPECT_EQ(full.header.checkpoints, kMostLogged);
    EXPECT_EQ(refused(full, checkpoint), Refusal::too_many);
    const Record asked = after(full, Pause{});
    EXPECT_EQ(after(asked, Checkpoint{full.header.fence(), "last", {}, true}).header.state,
              State::paused)
        << "a pause is still honoured where nothing is to be written";
}

TEST(Decide, a_checkpoint_needs_a_task_that_runs) {
    const Record given = dispatched();
    EXPECT_EQ(refused(given, Checkpoint{given.header.fence(), "s", {}, false}),
              Refusal::wrong_state);
}

TEST(Decide, a_claim_that_takes_permits_gives_them_back_when_it_ends) {
    Submission s = submission();
    s.gate = "printer";
    s.gate_limit = 2;
    const Record queued = submitted(s);
    Claim c = claim(queued);
    c.takes_gate = true;
    c.takes_queue_permit = true;
    const Record task = after(queued, c);
    EXPECT_TRUE(task.header.holds_gate && task.header.holds_queue_permit);
    const auto change = decide(task, Complete{task.header.fence(), {}}, kNow);
    ASSERT_TRUE(change);
    ASSERT_EQ(change->permits.size(), 2U);
    EXPECT_EQ(change->permits[0].key, "printer");
    EXPECT_EQ(change->permits[1].key, "queue:default");
    for (const Permit& p : change->permits) {
        EXPECT_EQ(p.act, Permit::Act::release);
        EXPECT_EQ(p.holder, task.header.id);
        EXPECT_EQ(p.epoch, task.header.epoch);
    }
}

TEST(Decide, a_renewal_moves_the_lease_and_its_timer_and_never_back) {
    Header h = running().header;
    const Header before = h;
    stamp_renewal(h, 60s, kNow + 10s);
    EXPECT_EQ(h.lease_until, kNow + 70s);
    EXPECT_EQ(h.wake_at, kNow + 70s);
    EXPECT_EQ(h.version, before.version);
    stamp_renewal(h, 1s, kNow + 10s);
    EXPECT_EQ(h.lease_until, kNow + 70s);
    h.deadline = kNow + 30s;
    stamp_renewal(h, 60s, kNow + 20s);
    EXPECT_EQ(h.wake_at, kNow + 30s) << "a deadline comes before the lease's end";
}

TEST(Decide, every_refusal_has_a_name) {
    EXPECT_EQ(to_string(Refusal::not_found), "not_found");
    EXPECT_EQ(to_string(Refusal::wrong_state), "wrong_state");
    EXPECT_EQ(to_string(Refusal::stale_lease), "stale_lease");
    EXPECT_EQ(to_string(Refusal::already), "already");
    EXPECT_EQ(to_string(Refusal::not_due), "not_due");
    EXPECT_EQ(to_string(Refusal::too_many), "too_many");
}

}  // namespace
}  // namespace holdfast::domain
