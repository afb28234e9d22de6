// Waiting for work: who is woken, by what, and until when.
#include "base/task_group.h"
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class ClaimWait : public EngineTest {
  protected:
    static ClaimCall waiting_call(Duration wait, std::vector<std::string> queues = {"default"}) {
        ClaimCall call = claim_call();
        call.queues = std::move(queues);
        call.wait = wait;
        return call;
    }
    using Waiting = Call<Result<std::vector<ClaimedTask>>>;
    /// The queues of the tasks that came; "-" while it waits.
    static std::string got(const Waiting& call) {
        if (!call.answered()) return "-";
        std::string queues;
        for (const ClaimedTask& task : call.answer().value()) queues += task.record.header.queue;
        return queues;
    }
};

TEST_F(ClaimWait, a_submit_wakes_a_waiter_at_once) {
    const auto call = begin(engine.claim(waiting_call(30s)));
    EXPECT_EQ(got(call), "-");
    EXPECT_EQ(engine.waiting(), 1U);
    submit();
    EXPECT_EQ(got(call), "default") << "without time going on";
    EXPECT_EQ(engine.waiting(), 0U);
}

TEST_F(ClaimWait, whoever_does_not_wait_for_the_queue_is_left_alone) {
    const auto a = begin(engine.claim(waiting_call(30s, {"a"})));
    const auto b = begin(engine.claim(waiting_call(30s, {"b"})));
    store.forget_calls();
    submit(work("b"));
    EXPECT_EQ(got(a), "-");
    EXPECT_EQ(got(b), "b");
    EXPECT_EQ(store.calls(Op::claim), 1U);
}

TEST_F(ClaimWait, one_task_wakes_one_waiter_and_the_longest_waiting_first) {
    const auto first = begin(engine.claim(waiting_call(30s)));
    const auto second = begin(engine.claim(waiting_call(30s)));
    const auto third = begin(engine.claim(waiting_call(30s)));
    store.forget_calls();
    submit();
    EXPECT_EQ(got(first), "default");
    EXPECT_EQ(store.calls(Op::claim), 1U) << "the others were not disturbed";
    submit(2);
    EXPECT_EQ(got(second), "default");
    EXPECT_EQ(got(third), "default");
}

TEST_F(ClaimWait, a_batch_wakes_as_many_as_it_has_tasks) {
    std::vector<Waiting> calls;
    for (int i = 0; i < 5; ++i) calls.push_back(begin(engine.claim(waiting_call(30s))));
    submit(4);
    EXPECT_EQ(std::ranges::count_if(calls, [](const Waiting& c) { return c.answered(); }), 4);
}

TEST_F(ClaimWait, a_hint_that_is_lost_costs_one_poll_interval) {
    const auto call = begin(engine.claim(waiting_call(30s)));
    run(new_engine().submit({work()}));
    EXPECT_EQ(got(call), "-") << "another engine's hints are not heard here";
    advance(Options{}.poll_interval);
    EXPECT_EQ(got(call), "default");
}

TEST_F(ClaimWait, it_ends_with_nothing_when_its_time_is_over) {
    const auto call = begin(engine.claim(waiting_call(1200ms)));
    advance(500ms);
    advance(500ms);
    advance(200ms - 1us);
    EXPECT_EQ(got(call), "-");
    advance(1us);
    EXPECT_EQ(got(call), "");
    EXPECT_EQ(engine.waiting(), 0U);
}

TEST_F(ClaimWait, what_comes_in_the_last_moment_is_handed_out) {
    const auto call = begin(engine.claim(waiting_call(300ms)));
    run(new_engine().submit({work()}));
    advance(300ms);
    EXPECT_EQ(got(call), "default");
}

TEST_F(ClaimWait, its_time_is_measured_by_the_stores_clock_however_wrong_ours_is) {
    ManualClock ours(clock.now() - 1h);  // the store's is an hour ahead
    WatchedStore through(memory);
    Executor own(ours);
    Engine skewed(through, ours, own.executor(), {.seed = 9});
    own.run(skewed.sync_clock());
    const auto call = own.begin(skewed.claim(waiting_call(1s)));
    EXPECT_FALSE(call.answered());
    for (int i = 0; i < 2; ++i) own.advance(500ms);
    EXPECT_EQ(got(call), "");
}

TEST_F(ClaimWait, a_retry_that_is_due_wakes_a_waiter) {
    domain::Submission s = work();
    s.delay = 10s;
    submit(s);
    advance(10s);
    const auto call = begin(engine.claim(waiting_call(30s)));
    EXPECT_EQ(got(call), "-");
    run(engine.tick(10));
    EXPECT_EQ(got(call), "default");
}

TEST_F(ClaimWait, what_a_worker_gives_back_wakes_another_one) {
    const domain::Header h = running();
    const auto call = begin(engine.claim(waiting_call(30s)));
    run(engine.yield({{h.id, h.fence(), {}, false}}));
    EXPECT_EQ(got(call), "default");
}

TEST_F(ClaimWait, what_an_operator_resumes_wakes_a_waiter) {
    const TaskId id = suspended().id;
    const auto call = begin(engine.claim(waiting_call(30s)));
    run(engine.resume(id, kAnn));
    EXPECT_EQ(got(call), "default");
}

TEST_F(ClaimWait, a_queue_that_is_resumed_wakes_all_its_waiters) {
    run(engine.pause_queue("q", kAnn));
    submit(2, work("q"));
    const auto a = begin(engine.claim(waiting_call(30s, {"q"})));
    const auto b = begin(engine.claim(waiting_call(30s, {"q"})));
    EXPECT_EQ(got(a), "-");
    run(engine.resume_queue("q", kAnn));
    EXPECT_EQ(got(a), "q");
    EXPECT_EQ(got(b), "q");
}

TEST_F(ClaimWait, a_queue_paused_while_one_waits_gives_nothing) {
    const auto call = begin(engine.claim(waiting_call(30s, {"q"})));
    run(engine.pause_queue("q", kAnn));
    submit(work("q"));
    advance(Options{}.poll_interval);
    EXPECT_EQ(got(call), "-");
}

TEST_F(ClaimWait, a_rate_is_waited_for) {
    run(engine.limit_queue("q", 0, 1, kAnn));
    submit(2, work("q"));
    claim_one(claim_call("q"));
    const auto call = begin(engine.claim(waiting_call(30s, {"q"})));
    advance(500ms);
    EXPECT_EQ(got(call), "-");
    advance(500ms);
    EXPECT_EQ(got(call), "q");
}

TEST_F(ClaimWait, beyond_the_bound_of_waiters_it_is_overloaded) {
    Engine& small = new_engine(store, {.most_waiters = 2});
    const auto a = begin(small.claim(waiting_call(30s)));
    const auto b = begin(small.get(submit(work("other")), 30s));
    EXPECT_EQ(small.waiting(), 2U) << "whoever waits for a result counts too";
    EXPECT_EQ(told(run(small.claim(waiting_call(30s)))), "overloaded");
    EXPECT_EQ(told(run(small.claim(waiting_call(0s)))), "ok") << "who does not wait needs no seat";
    run(small.submit({work()}));
    EXPECT_EQ(got(a), "default");
    EXPECT_FALSE(begin(small.claim(waiting_call(30s))).answered()) << "a seat is free again";
}

TEST_F(ClaimWait, the_bound_of_waiters_holds_when_they_all_come_at_once) {
    Engine& small = new_engine(store, {.most_waiters = 2});
    run(small.queue("default"));
    Alarm line(clock, world().executor());
    store.before_next(Op::claim, [&] { return ignoring(line.wait_for(1h)); });
    std::vector<Waiting> calls;
    calls.push_back(begin(small.claim(waiting_call(30s))));
    for (int i = 0; i < 2; ++i) calls.push_back(begin(small.claim(waiting_call(30s))));
    line.ring();
    world().poll();
    EXPECT_LE(small.waiting(), 2U);
    EXPECT_EQ(
        std::ranges::count_if(calls, [](const Waiting& c) { return c.answered() && !c.answer(); }),
        1);
}

TEST_F(ClaimWait, a_waiter_that_is_told_to_leave_claims_nothing_more) {
    TaskGroup group(world().executor());
    group.spawn(ignoring(engine.claim(waiting_call(30s))));
    world().poll();
    EXPECT_EQ(engine.waiting(), 1U);
    world().run(group.stop());
    EXPECT_EQ(engine.waiting(), 0U);
    submit();
    EXPECT_EQ(claim().size(), 1U);
}

TEST_F(ClaimWait, what_was_handed_out_when_the_caller_is_told_to_leave_still_reaches_it) {
    submit();
    run(engine.queue("default"));
    Alarm line(clock, world().executor());
    store.before_next(Op::claim, [&] { return ignoring(line.wait_for(1h)); });
    Result<std::vector<ClaimedTask>> got;
    TaskGroup group(world().executor());
    group.spawn([](Engine* by, Result<std::vector<ClaimedTask>>* into) -> Async<void> {
        *into = co_await by->claim(waiting_call(30s));
    }(&engine, &got));
    world().poll();
    world().run(group.stop());  // the store's answer is on its way
    ASSERT_EQ(got.value().size(), 1U);
    EXPECT_EQ(engine.waiting(), 0U);
}

TEST_F(ClaimWait, a_store_that_falls_silent_while_one_waits_is_unavailable) {
    const auto call = begin(engine.claim(waiting_call(30s)));
    store.fail_next(Op::claim, Fault::never_arrives);
    advance(500ms);
    EXPECT_EQ(told(call.answer()), "unavailable");
}

}  // namespace
}  // namespace holdfast::engine
