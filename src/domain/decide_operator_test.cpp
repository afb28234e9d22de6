// What operators may ask of a task: pause, resume, cancel, discard.
#include <gtest/gtest.h>

#include "domain/decide.h"
#include "domain/sample_tasks.h"

namespace holdfast::domain {
namespace {

using namespace samples;

const By kAnn{"ann", "because"};

/// Every way in which a worker's attempt can end without a result.
std::vector<std::pair<Command, Time>> endings(const Record& task) {
    const Fence fence = task.header.fence();
    return {{Yield{fence, {}, false}, kNow},
            {Yield{fence, 10s, false}, kNow},
            {Yield{fence, {}, true}, kNow},
            {failure(task), kNow},
            {Checkpoint{fence, "stage-1", {}, false}, kNow},
            {Checkpoint{fence, "stage-1", {}, true}, kNow},
            {Tick{}, task.header.lease_until}};
}

TEST(Operators, are_written_down_with_who_and_why) {
    for (const Command& command :
         {Command{Pause{kAnn}}, Command{Cancel{kAnn}}, Command{Discard{kAnn}}}) {
        const auto change = decide(submitted(), command, kNow);
        ASSERT_TRUE(change);
        EXPECT_EQ(change->puts.front().transition.actor, "ann");
        EXPECT_EQ(change->puts.front().transition.message, "because");
    }
    const auto resumed = decide(after(submitted(), Pause{kAnn}), Resume{kAnn, {}}, kNow);
    ASSERT_TRUE(resumed);
    EXPECT_EQ(resumed->puts.front().transition.actor, "ann");
}

TEST(Cancel, ends_at_once_what_nobody_holds) {
    const Record retrying = after(running(), failure(running()));
    const Record suspended = after(running(), failure(running(), ErrorKind::permanent));
    const Record paused = after(submitted(), Pause{kAnn});
    for (const Record& task : {submitted(), retrying, suspended, paused}) {
        EXPECT_EQ(after(task, Cancel{kAnn}).header.state, State::cancelled);
    }
}

TEST(Cancel, of_a_held_task_is_asked_for_and_happens_when_the_worker_lets_go) {
    const Record asked = after(running(), Cancel{kAnn});
    EXPECT_EQ(asked.header.state, State::running);
    EXPECT_TRUE(asked.header.cancel_requested);
    EXPECT_EQ(refused(asked, Cancel{kAnn}), Refusal::already);
    for (const auto& [ending, now] : endings(asked)) {
        const Record over = after(asked, ending, now);
        EXPECT_EQ(over.header.state, State::cancelled) << ending.index();
        EXPECT_FALSE(over.header.cancel_requested);
        EXPECT_EQ(over.header.retry_count, 0);
    }
}

TEST(Cancel, loses_against_a_complete_that_arrives_first) {
    const Record asked = after(running(), Cancel{kAnn});
    const Record done = after(asked, Complete{asked.header.fence(), {}});
    EXPECT_EQ(done.header.state, State::succeeded);
    EXPECT_FALSE(done.header.cancel_requested);
    EXPECT_EQ(refused(done, Cancel{kAnn}), Refusal::wrong_state);
}

TEST(Cancel, that_was_asked_for_is_not_forgotten_at_the_deadline) {
    Submission s = submission();
    s.policy.timeout = 10s;
    const Record asked = after(running(s), Cancel{kAnn});
    EXPECT_EQ(after(asked, Tick{}, kNow + 10s).header.state, State::cancelled);
    EXPECT_EQ(after(running(s), Tick{}, kNow + 10s).header.state, State::suspended);
}

TEST(Cancel, goes_before_a_pause_that_was_asked_for_too) {
    const Record asked = after(after(running(), Pause{kAnn}), Cancel{kAnn});
    for (const auto& [ending, now] : endings(asked)) {
        EXPECT_EQ(after(asked, ending, now).header.state, State::cancelled) << ending.index();
    }
}

TEST(Cancel, at_a_checkpoint_keeps_the_stage) {
    const Record asked = after(running(), Cancel{kAnn});
    const auto change = decide(asked, Checkpoint{asked.header.fence(), "s", {}, false}, kNow);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->appends.size(), 1U);
    EXPECT_EQ(change->puts.front().header.checkpoints, 1);
    const auto again = decide(asked, Checkpoint{asked.header.fence(), "s", {}, true}, kNow);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->appends.empty()) << "a stage is written once";
}

TEST(Cancel, repeated_is_already_done) {
    const Record cancelled = after(submitted(), Cancel{kAnn});
    EXPECT_EQ(refused(cancelled, Cancel{kAnn}), Refusal::already);
    EXPECT_EQ(refused(cancelled, Discard{kAnn}), Refusal::wrong_state);
}

TEST(Pause, puts_aside_what_nobody_holds) {
    const Record retrying = after(running(), failure(running()));
    for (const Record& task : {submitted(), retrying}) {
        const Record paused = after(task, Pause{kAnn});
        EXPECT_EQ(paused.header.state, State::paused);
        EXPECT_FALSE(is_set(paused.header.wake_at));
        EXPECT_EQ(refused(paused, Pause{kAnn}), Refusal::already);
    }
    const Record suspended = after(running(), failure(running(), ErrorKind::permanent));
    EXPECT_EQ(refused(suspended, Pause{kAnn}), Refusal::wrong_state);
}

TEST(Pause, of_a_held_task_is_asked_for_and_happens_when_the_worker_lets_go) {
    const Record asked = after(running(), Pause{kAnn});
    EXPECT_EQ(asked.header.state, State::running);
    EXPECT_TRUE(asked.header.pause_requested);
    EXPECT_EQ(refused(asked, Pause{kAnn}), Refusal::already);
    for (const auto& [ending, now] : endings(asked)) {
        const Record over = after(asked, ending, now);
        EXPECT_EQ(over.header.state, State::paused) << ending.index();
        EXPECT_FALSE(over.header.pause_requested);
        EXPECT_FALSE(is_set(over.header.wake_at));
    }
}

TEST(Pause, at_a_checkpoint_ends_the_attempt_so_that_its_worker_is_stale) {
    const Record asked = after(running(), Pause{kAnn});
    const Checkpoint checkpoint{asked.header.fence(), "s", {}, false};
    const Record paused = after(asked, checkpoint);
    EXPECT_EQ(refused(paused, checkpoint), Refusal::already);
    EXPECT_EQ(refused(paused, Complete{asked.header.fence(), {}}), Refusal::stale_lease);
}

TEST(Pause, does_not_save_a_task_that_used_up_its_attempts) {
    Submission s = submission();
    s.policy.max = 1;
    s.policy.poison = 1;
    const Record asked = after(running(s), Pause{kAnn});
    EXPECT_EQ(after(asked, failure(asked)).header.state, State::suspended);
    EXPECT_EQ(after(asked, Tick{}, asked.header.lease_until).header.state, State::suspended);
}

TEST(Resume, takes_a_requested_pause_back) {
    const Record asked = after(running(), Pause{kAnn});
    const Record on = after(asked, Resume{kAnn, {}});
    EXPECT_EQ(on.header.state, State::running);
    EXPECT_FALSE(on.header.pause_requested);
    EXPECT_EQ(refused(on, Resume{kAnn, {}}), Refusal::wrong_state);
    EXPECT_EQ(refused(asked, Resume{kAnn, Json{}}), Refusal::wrong_state)
        << "no new payload under a worker's feet";
}

TEST(Resume, runs_at_once_what_waits_or_retries) {
    const Record retrying = after(running(), failure(running()));
    const Record on = after(retrying, Resume{kAnn, {}});
    EXPECT_EQ(on.header.state, State::queued);
    EXPECT_FALSE(is_set(on.header.due_at));
    const Record waiting = after(running(), Yield{running().header.fence(), {}, true});
    EXPECT_EQ(waiting.header.state, State::waiting);
    EXPECT_EQ(after(waiting, Resume{kAnn, {}}).header.state, State::queued);
    EXPECT_EQ(refused(submitted(), Resume{kAnn, {}}), Refusal::wrong_state);
}

TEST(Resume, of_a_task_paused_before_its_time_waits_for_its_time) {
    Submission s = submission();
    s.delay = 1h;
    const Record paused = after(submitted(s), Pause{kAnn});
    const Record early = after(paused, Resume{kAnn, {}}, kNow + 10min);
    EXPECT_EQ(early.header.state, State::waiting);
    EXPECT_EQ(early.header.wake_at, kNow + 1h);
    EXPECT_EQ(after(paused, Resume{kAnn, {}}, kNow + 2h).header.state, State::queued);
}

TEST(Resume, restarts_the_timeout_of_a_parked_task) {
    Submission s = submission();
    s.policy.timeout = 10min;
    const Record late = after(submitted(s), Tick{}, kNow + 10min);
    EXPECT_EQ(late.header.state, State::suspended);
    const Record on = after(late, Resume{kAnn, {}}, kNow + 1h);
    EXPECT_EQ(on.header.deadline, kNow + 1h + 10min);
    EXPECT_EQ(on.header.wake_at, on.header.deadline);

    const Record retrying = after(running(s), failure(running(s)));
    EXPECT_EQ(after(retrying, Resume{kAnn, {}}, kNow + 5min).header.deadline, kNow + 10min)
        << "only a park stops the clock";
}

TEST(Resume, before_its_time_restarts_the_timeout_from_when_it_may_run) {
    Submission s = submission();
    s.delay = 1h;
    s.policy.timeout = 10min;
    const Record early = after(after(submitted(s), Pause{kAnn}), Resume{kAnn, {}}, kNow + 1min);
    EXPECT_EQ(early.header.state, State::waiting);
    EXPECT_EQ(early.header.deadline, kNow + 1h + 10min);
    EXPECT_EQ(after(early, Tick{}, kNow + 1h).header.state, State::queued);
}

TEST(Resume, with_a_new_payload_is_a_revision_and_the_old_body_stays_readable) {
    Submission s = submission();
    s.idempotency_key = "order-7";
    const Record task = running(s);
    const Record parked = after(task, failure(task, ErrorKind::permanent));
    const auto change = decide(parked, Resume{kAnn, Json::quoted("better")}, kNow);
    ASSERT_TRUE(change);
    ASSERT_EQ(change->appends.size(), 1U);
    EXPECT_EQ(change->appends.front().log, kRevisionLog);
    EXPECT_EQ(change->appends.front().unique_key, "0");
    EXPECT_EQ(change->appends.front().bytes, parked.body);
    const Record revised = applied(parked, *change);
    EXPECT_EQ(revised.header.revision, 1);
    EXPECT_EQ(payload_of(revised.body).text(), "\"better\"");
    EXPECT_EQ(Json::stored(revised.body.view()).member("context").text(),
              R"({"idempotency_key":"order-7"})");

    const Record again = after(revised, Pause{kAnn});
    EXPECT_EQ(decide(again, Resume{kAnn, Json{}}, kNow)->appends.front().unique_key, "1");
    EXPECT_FALSE(decide(again, Resume{kAnn, {}}, kNow)->puts.front().body);
}

TEST(Discard, ends_any_unfinished_task_that_nobody_holds) {
    const Record retrying = after(running(), failure(running()));
    const Record suspended = after(running(), failure(running(), ErrorKind::permanent));
    for (const Record& task : {submitted(), retrying, suspended, after(submitted(), Pause{kAnn})}) {
        EXPECT_EQ(after(task, Discard{kAnn}).header.state, State::discarded);
    }
    EXPECT_EQ(refused(running(), Discard{kAnn}), Refusal::wrong_state);
    EXPECT_EQ(refused(after(submitted(), Discard{kAnn}), Discard{kAnn}), Refusal::already);
}

}  // namespace
}  // namespace holdfast::domain
