#include "domain/explain.h"

#include <gtest/gtest.h>

#include "domain/sample_tasks.h"

namespace holdfast::domain {
namespace {

using namespace samples;

Explanation explained(const Record& task, Time now = kNow, const QueueView& queue = {},
                      std::int64_t gate_holders = 0) {
    return explain(task.header, queue, gate_holders, now);
}

TEST(Explain, a_task_in_its_lane_waits_for_a_worker) {
    const Explanation e = explained(submitted());
    EXPECT_EQ(e.code, Why::in_lane);
    EXPECT_EQ(e.sentence,
              "It is ready: the next worker that asks queue default for work may have it "
              "(priority 5).");
    EXPECT_EQ(e.wakes_by, "a worker");
    EXPECT_FALSE(is_set(e.wakes_at));
}

TEST(Explain, a_closed_queue_still_hands_out_what_it_has) {
    const Explanation e = explained(submitted(), kNow, {.closed = true});
    EXPECT_EQ(e.code, Why::in_lane);
    EXPECT_TRUE(e.sentence.ends_with(" The queue takes no new tasks, and hands out those it has."));
}

TEST(Explain, a_paused_queue_waits_for_an_operator) {
    const Explanation e =
        explained(submitted(), kNow, {.paused = true, .concurrency = 1, .held = 1});
    EXPECT_EQ(e.code, Why::queue_paused);
    EXPECT_EQ(e.sentence, "Its queue default is paused: nothing of it is handed out.");
    EXPECT_EQ(e.wakes_by, "an operator: resume the queue");
}

TEST(Explain, a_full_queue_waits_for_one_that_ends) {
    const Explanation e = explained(submitted(), kNow, {.concurrency = 10, .held = 10});
    EXPECT_EQ(e.code, Why::queue_full);
    EXPECT_EQ(e.sentence, "Its queue default may have 10 tasks running at once, and has 10.");
    EXPECT_EQ(explained(submitted(), kNow, {.concurrency = 10, .held = 9}).code, Why::in_lane);
}

TEST(Explain, a_full_gate_waits_for_one_that_ends) {
    Submission s = submission();
    s.tenant = "acme";
    s.gate = "printer";
    s.gate_limit = 1;
    const Explanation e = explained(submitted(s), kNow, {}, 1);
    EXPECT_EQ(e.code, Why::gate_full);
    EXPECT_EQ(e.sentence, "Its concurrency key acme/printer admits 1 task at once, and has 1.");
    EXPECT_EQ(e.wakes_by, "a task of its concurrency key that ends");
    EXPECT_EQ(explained(submitted(s), kNow, {}, 0).code, Why::in_lane);
}

TEST(Explain, a_delayed_task_says_when_it_runs) {
    Submission s = submission();
    s.delay = 90min + 5s + 250ms;
    const Explanation e = explained(submitted(s), kNow);
    EXPECT_EQ(e.code, Why::delayed);
    EXPECT_EQ(e.sentence, "It was submitted to run at 2026-11-16T00:30:05.250Z (in 1h30m5s).");
    EXPECT_EQ(e.wakes_at, kNow + *s.delay);
    EXPECT_EQ(e.wakes_by, "its timer");
}

TEST(Explain, a_deadline_is_told_along) {
    Submission s = submission();
    s.policy.timeout = 10min;
    EXPECT_TRUE(explained(submitted(s))
                    .sentence.ends_with(" Its deadline is 2026-11-15T23:10:00.000Z (in 10m)."));
    const Explanation late = explained(running(s), kNow + 11min);
    EXPECT_EQ(late.code, Why::overdue);
    EXPECT_EQ(late.sentence, "Its deadline passed at 2026-11-15T23:10:00.000Z (1m ago).");
    EXPECT_EQ(late.wakes_by, "the next tick of the engine");
}

TEST(Explain, a_task_that_backs_off_says_how_often_it_failed) {
    Record task = failed_and_claimed(running());
    const Time now = task.header.updated_at;
    Fail fail = failure(task);
    fail.retry_after = 4min + 12s;
    task = after(task, fail, now);
    const Explanation e = explained(task, now);
    EXPECT_EQ(e.code, Why::backing_off);
    EXPECT_EQ(e.sentence, "It failed 2 of 3 times and is tried again at " +
                              format_time(task.header.due_at) + " (in 4m12s).");
    EXPECT_EQ(e.wakes_at, task.header.due_at);
}

TEST(Explain, failures_that_nothing_limits_and_outages_that_do_not_count_are_told_so) {
    Submission s = submission();
    s.policy.max = 0;
    s.policy.on_outage = OnOutage::hold;
    const Record task = running(s);
    EXPECT_TRUE(explained(after(task, failure(task)))
                    .sentence.starts_with("It failed 1 time and is tried again at 2026-"));
    EXPECT_TRUE(explained(after(task, failure(task, ErrorKind::dependency_down)))
                    .sentence.starts_with("Something it needs is down, which is not counted; it is "
                                          "tried again at 2026-"));
}

TEST(Explain, a_task_that_yielded_says_what_it_waits_for) {
    const Record task = running();
    const Fence fence = task.header.fence();
    const Explanation polls = explained(after(task, Yield{fence, 250ms, false}));
    EXPECT_EQ(polls.code, Why::polls_later);
    EXPECT_EQ(polls.sentence,
              "Its worker gave it back for a while; it goes on at 2026-11-15T23:00:00.250Z "
              "(in 250ms).");
    const Explanation signal = explained(after(task, Yield{fence, 1h, true}));
    EXPECT_EQ(signal.code, Why::waits_for_signal);
    EXPECT_EQ(signal.sentence,
              "It waits for a signal; without one it goes on at 2026-11-16T00:00:00.000Z (in 1h).");
    EXPECT_EQ(signal.wakes_by, "a signal, or its timer");
}

TEST(Explain, a_timer_that_rang_is_the_next_ticks_work) {
    Submission s = submission();
    s.delay = 1min;
    const Explanation e = explained(submitted(s), kNow + 63s);
    EXPECT_EQ(e.code, Why::overdue);
    EXPECT_EQ(e.sentence,
              "Its time came at 2026-11-15T23:01:00.000Z (3s ago), and it becomes ready at once.");
}

TEST(Explain, a_held_task_names_its_holder_and_its_lease) {
    const Explanation runs = explained(running(), kNow + 5s);
    EXPECT_EQ(runs.code, Why::held);
    EXPECT_EQ(runs.sentence,
              "w-1 is running it since 2026-11-15T23:00:00.000Z (5s ago) (attempt 1); the lease "
              "lasts until 2026-11-15T23:00:30.000Z (in 25s).");
    EXPECT_EQ(runs.wakes_at, kNow + 30s);
    EXPECT_EQ(runs.wakes_by, "its worker");
    EXPECT_TRUE(
        explained(dispatched())
            .sentence.starts_with("It was handed to w-1, which has not answered yet (attempt 1)"));
    EXPECT_TRUE(explained(after(dispatched(), Accept{dispatched().header.fence()}))
                    .sentence.starts_with("w-1 has accepted it and not begun yet (attempt 1)"));
}

TEST(Explain, a_lost_worker_is_named) {
    const Explanation e = explained(running(), kNow + 33s);
    EXPECT_EQ(e.code, Why::held_lease_over);
    EXPECT_EQ(e.sentence,
              "w-1 has not been heard of; its lease ended at 2026-11-15T23:00:30.000Z (3s ago), "
              "and the task is taken back.");
}

TEST(Explain, requests_say_when_they_take_effect) {
    const Explanation pause = explained(after(running(), Pause{}));
    EXPECT_EQ(pause.code, Why::pause_requested);
    EXPECT_EQ(pause.sentence,
              "It is paused as soon as w-1 yields, fails or reaches a checkpoint, or when its "
              "lease ends at 2026-11-15T23:00:30.000Z (in 30s).");
    const Explanation cancel = explained(after(after(running(), Pause{}), Cancel{}));
    EXPECT_EQ(cancel.code, Why::cancel_requested);
    EXPECT_TRUE(cancel.sentence.ends_with("If it completes first, it has succeeded."));
}

TEST(Explain, parked_tasks_name_who_can_move_them) {
    const Explanation paused = explained(after(submitted(), Pause{}));
    EXPECT_EQ(paused.code, Why::paused);
    EXPECT_EQ(paused.wakes_by, "an operator: resume, cancel or discard");
    EXPECT_FALSE(is_set(paused.wakes_at));
}

TEST(Explain, a_suspended_task_says_why) {
    Submission s = submission();
    s.policy.max = 1;
    s.policy.poison = 1;
    s.policy.timeout = 10min;
    const Record task = running(s);
    const auto why = [](const Record& parked) {
        const Explanation e = explained(parked);
        EXPECT_EQ(e.code, Why::suspended);
        EXPECT_EQ(e.wakes_by, "an operator: resume or discard");
        return e.sentence;
    };
    EXPECT_EQ(why(after(task, failure(task))), "It failed 1 of 1 time, and it waits for a person.");
    EXPECT_EQ(why(after(task, Tick{}, kNow + 30s)),
              "1 worker was lost with it, and it waits for a person.");
    EXPECT_EQ(why(after(task, Tick{}, kNow + 10min)),
              "Its deadline passed at 2026-11-15T23:10:00.000Z, and it waits for a person.");
    EXPECT_EQ(why(after(running(), failure(running(), ErrorKind::permanent))),
              "It failed in a way that trying again cannot mend, and it waits for a person.");
    s.policy.max = 0;
    s.policy.poison = 2;
    const Record again = claimed(after(running(s), Tick{}, kNow + 30s), kNow + 30s);
    EXPECT_EQ(why(after(again, Tick{}, kNow + 60s)),
              "2 workers were lost with it, and it waits for a person.");
    EXPECT_EQ(why(after(running(s), failure(running(s), ErrorKind::permanent))),
              "It failed in a way that trying again cannot mend, and it waits for a person.");
}

TEST(Explain, a_finished_task_says_how_it_ended) {
    const Record done = after(running(), Complete{running().header.fence(), {}}, kNow + 5s);
    const Explanation e = explained(done, kNow + 65s);
    EXPECT_EQ(e.code, Why::finished);
    EXPECT_EQ(e.sentence, "It succeeded at 2026-11-15T23:00:05.000Z (1m ago), after 1 attempt.");
    EXPECT_EQ(e.wakes_by, "");
    Submission s = submission();
    s.policy.on_exhausted = Ending::fail;
    const auto begins = [](const Record& task) { return explained(task).sentence.substr(0, 16); };
    EXPECT_EQ(begins(after(running(s), failure(running(s), ErrorKind::permanent))),
              "It failed at 202");
    EXPECT_EQ(begins(after(submitted(), Cancel{})), "It was cancelled");
    EXPECT_EQ(begins(after(submitted(), Discard{})), "It was discarded");
}

TEST(Explain, what_does_not_exist_is_not_found) {
    EXPECT_EQ(explained(Record{}).code, Why::not_found);
}

TEST(Explain, every_code_has_its_name_and_json_shows_all) {
    EXPECT_EQ(to_string(Why::not_found), "not_found");
    EXPECT_EQ(to_string(Why::backing_off), "backing_off");
    EXPECT_EQ(to_string(Why::cancel_requested), "cancel_requested");
    EXPECT_EQ(to_string(Why::finished), "finished");
    EXPECT_EQ(
        to_json({Why::delayed, "s", kNow, "its timer"}).text(),
        R"({"code":"delayed","sentence":"s","wakes_at":"2026-11-15T23:00:00.000Z","wakes_by":"its timer"})");
    EXPECT_EQ(to_json({Why::finished, "s", kNoTime, ""}).text(),
              R"({"code":"finished","sentence":"s","wakes_at":null,"wakes_by":null})");
}

}  // namespace
}  // namespace holdfast::domain
