// What workers say about the tasks they hold: complete, fail, yield, accept, start.
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;
using domain::ErrorKind;

class Work : public EngineTest {
  protected:
    static FailureReport failure(const domain::Header& h, ErrorKind kind = ErrorKind::transient,
                                 std::optional<Duration> retry_after = {}) {
        return {h.id, h.fence(), {kind, "no route to host", "at main", "E1"}, retry_after};
    }
    std::string fail(const FailureReport& report) {
        return told(run(engine.fail({report})).front());
    }
    std::string yield(const domain::Header& h, std::optional<Duration> after = {},
                      bool until_signal = false) {
        return told(run(engine.yield({{h.id, h.fence(), after, until_signal}})).front());
    }
    domain::Header dispatched() {
        submit();
        ClaimCall call = claim_call();
        call.acks = true;
        return claim_one(call);
    }
};

// ---- complete ----

TEST_F(Work, a_result_ends_the_task_and_is_kept) {
    const domain::Header h = running();
    advance(2s);
    const Done done = run(engine.complete({completion(h, R"({"n":1})")})).front().value();
    EXPECT_EQ(done.state, State::succeeded);
    EXPECT_EQ(done.version, h.version + 1);
    const domain::Record stored = record(h.id);
    EXPECT_EQ(stored.outcome.view(), R"({"result":{"n":1}})");
    EXPECT_EQ(stored.header.finished_at, clock.now());
    EXPECT_FALSE(is_set(stored.header.wake_at));
    EXPECT_EQ(history(h.id).back().actor, "w1");
}

TEST_F(Work, a_result_that_is_too_large_is_named_and_the_task_goes_on) {
    const domain::Header h = running();
    const Completion huge{h.id, h.fence(), Json::quoted(std::string(1 << 20, 'x'))};
    EXPECT_EQ(told(run(engine.complete({huge})).front()), "invalid_argument: result");
    EXPECT_EQ(state(h.id), State::running);
}

// ---- fail ----

TEST_F(Work, a_failure_is_retried_by_its_policy_and_kept_in_the_history) {
    domain::Submission s = work();
    s.policy.backoff = {.schedule = {10s}};
    const domain::Header h = running(s);
    EXPECT_EQ(fail(failure(h)), "retrying");
    EXPECT_EQ(header(h.id).due_at, clock.now() + 10s);
    EXPECT_EQ(header(h.id).retry_count, 1);
    const domain::Transition row = history(h.id).back();
    EXPECT_EQ(row.event, Event::failed);
    EXPECT_EQ(row.message, "no route to host");
    EXPECT_EQ(Json::stored(row.error.view()).member("code"), Json::quoted("E1"));
    EXPECT_EQ(Json::stored(row.error.view()).member("stack"), Json::quoted("at main"));
}

TEST_F(Work, a_worker_may_say_itself_when_to_try_again) {
    const domain::Header h = running();
    EXPECT_EQ(fail(failure(h, ErrorKind::transient, 3h)), "retrying");
    EXPECT_EQ(header(h.id).due_at, clock.now() + 3h);
}

TEST_F(Work, the_failure_that_uses_up_its_attempts_parks_it_for_a_person) {
    const TaskId id = submit();
    for (const std::string outcome : {"retrying", "retrying", "suspended"}) {
        EXPECT_EQ(fail(failure(claim_one())), outcome);
        advance(1h);
        run(engine.tick(10));
    }
    EXPECT_EQ(state(id), State::suspended) << "and time does not bring it back";
}

TEST_F(Work, a_permanent_failure_parks_it_at_once) {
    EXPECT_EQ(fail(failure(running(), ErrorKind::permanent)), "suspended");
    domain::Submission ends = work();
    ends.policy.on_exhausted = domain::Ending::fail;
    EXPECT_EQ(fail(failure(running(ends), ErrorKind::permanent)), "failed");
}

TEST_F(Work, repeating_a_failure_counts_it_once) {
    const domain::Header h = running();
    EXPECT_EQ(fail(failure(h)), "retrying");
    EXPECT_EQ(fail(failure(h)), "retrying again");
    EXPECT_EQ(header(h.id).retry_count, 1);
    advance(1h);
    run(engine.tick(10));
    EXPECT_EQ(fail(failure(h)), "queued again") << "also when it has been woken since";
}

TEST_F(Work, delays_out_of_bounds_are_named_and_the_task_goes_on) {
    const domain::Header h = running();
    EXPECT_EQ(fail(failure(h, ErrorKind::transient, -1us)), "invalid_argument: retry_after");
    EXPECT_EQ(fail(failure(h, ErrorKind::transient, std::chrono::days{30} + 1us)),
              "invalid_argument: retry_after");
    EXPECT_EQ(yield(h, -1us), "invalid_argument: after");
    EXPECT_EQ(yield(h, std::chrono::days{30} + 1us), "invalid_argument: after");
    EXPECT_EQ(header(h.id), h);
}

TEST_F(Work, good_and_bad_items_of_one_batch_do_not_hinder_each_other) {
    submit(2);
    const auto tasks = claim(claim_call("default", 2));
    const domain::Header a = tasks[0].record.header, b = tasks[1].record.header;
    EXPECT_EQ(told(run(engine.fail({failure(a, ErrorKind::transient, -1s), failure(b)}))),
              (Lines{"invalid_argument: retry_after", "retrying"}));
    EXPECT_EQ(state(a.id), State::running);
}

// ---- yield ----

TEST_F(Work, a_task_given_back_is_anybodys_again_and_no_failure_is_counted) {
    const domain::Header h = running();
    EXPECT_EQ(yield(h), "queued");
    EXPECT_EQ(yield(h), "queued again");
    EXPECT_EQ(header(h.id).retry_count, 0);
    const domain::Header next = claim_one();
    EXPECT_EQ(next.id, h.id);
    EXPECT_EQ(next.attempt, 2U);
    EXPECT_GT(next.epoch, h.epoch);
    EXPECT_EQ(yield(h), "stale_lease");
}

TEST_F(Work, a_task_given_back_for_a_while_waits) {
    const domain::Header h = running();
    EXPECT_EQ(yield(h, 10s), "waiting");
    EXPECT_TRUE(claim().empty());
    advance(10s);
    run(engine.tick(10));
    EXPECT_EQ(claim_one().id, h.id);
}

TEST_F(Work, a_task_that_waits_for_a_signal_is_woken_by_it_and_gets_its_data) {
    const domain::Header h = running();
    EXPECT_EQ(yield(h, {}, true), "waiting");
    EXPECT_EQ(told(run(engine.signal(h.id, "paid", json("7")))), "queued");
    const ClaimedTask task = claim().at(0);
    EXPECT_EQ(task.signals.at(0).bytes.view(), "7");
}

TEST_F(Work, a_signal_that_came_before_the_wait_is_not_missed) {
    const domain::Header h = running();
    run(engine.signal(h.id, "paid", {}));
    EXPECT_EQ(yield(h, {}, true), "queued");
}

// ---- accept and start ----

TEST_F(Work, a_node_accepts_and_starts_what_was_dispatched_to_it) {
    const domain::Header h = dispatched();
    const auto said = [&](Async<Each<Done>> call) { return told(run(std::move(call)).front()); };
    const Ack ack{h.id, h.fence()};
    EXPECT_EQ(said(engine.accept({ack})), "accepted");
    EXPECT_EQ(said(engine.accept({ack})), "accepted again");
    EXPECT_EQ(said(engine.start({ack})), "running");
    EXPECT_EQ(said(engine.start({ack})), "running again");
    EXPECT_EQ(said(engine.accept({ack})), "running again") << "an ack that comes late";
    EXPECT_EQ(said(engine.start({{h.id, {h.attempt + 1, h.epoch}}})), "stale_lease");
    EXPECT_EQ(events(h.id),
              (std::vector{Event::submitted, Event::claimed, Event::accepted, Event::started}));
}

TEST_F(Work, accept_and_start_need_one_commit_each_and_no_load) {
    const domain::Header h = dispatched();
    store.forget_calls();
    run(engine.accept({{h.id, h.fence()}}));
    run(engine.start({{h.id, h.fence()}}));
    EXPECT_EQ(store.calls(Op::commit), 2U);
    EXPECT_EQ(store.all_calls(), 2U);
}

TEST_F(Work, a_task_that_was_never_acknowledged_comes_back_after_its_lease) {
    const domain::Header h = dispatched();
    advance(31s);
    run(engine.tick(10));
    EXPECT_EQ(state(h.id), State::queued);
}

}  // namespace
}  // namespace holdfast::engine
