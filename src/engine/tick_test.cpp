// Time: what is due is done, once, by whoever comes first.
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class TickTest : public EngineTest {
  protected:
    std::size_t tick(Engine& by, std::size_t limit = 100) { return run(by.tick(limit)).value(); }
    std::size_t tick() { return tick(engine); }
    static domain::Submission later(Duration delay) {
        domain::Submission s = work();
        s.delay = delay;
        return s;
    }
};

TEST_F(TickTest, nothing_due_is_nothing_done) {
    submit(later(1h));
    running();
    suspended();
    EXPECT_EQ(tick(), 0U);
}

TEST_F(TickTest, a_delayed_task_is_woken_when_its_time_comes_and_not_before) {
    const TaskId id = submit(later(10s));
    advance(10s - 1us);
    EXPECT_EQ(tick(), 0U);
    EXPECT_EQ(state(id), State::waiting);
    advance(1us);
    EXPECT_EQ(tick(), 1U);
    EXPECT_EQ(state(id), State::queued);
    EXPECT_EQ(claim_one().id, id);
}

TEST_F(TickTest, at_most_limit_records_are_looked_at_the_earliest_first) {
    std::vector<TaskId> ids;
    for (int i = 5; i > 0; --i) ids.push_back(submit(later(std::chrono::seconds{i})));
    advance(10s);
    EXPECT_EQ(tick(engine, 2), 2U);
    EXPECT_EQ(state(ids[4]), State::queued);
    EXPECT_EQ(state(ids[3]), State::queued);
    EXPECT_EQ(state(ids[2]), State::waiting);
    EXPECT_EQ(tick(engine, 10), 3U);
}

TEST_F(TickTest, two_engines_promote_a_retry_once) {
    Engine& other = new_engine();
    const domain::Header h = running();
    const domain::Failure failure{domain::ErrorKind::transient, "x", "", ""};
    run(engine.fail({{h.id, h.fence(), failure, 1min}}));
    advance(1min);
    EXPECT_EQ(tick() + tick(other), 1U);
    EXPECT_EQ(events(h.id),
              (std::vector{Event::submitted, Event::claimed, Event::failed, Event::woken}));
    EXPECT_EQ(claim(claim_call("default", 10)).size(), 1U);
}

TEST_F(TickTest, two_engines_that_read_the_same_retry_promote_it_once) {
    Engine& other = new_engine();
    const TaskId id = submit(later(10s));
    advance(10s);
    store.before_next(Op::commit, [&] {  // ours has been read; its push ahead is over for the other
        clock.advance(stores::kDuePush);
        return ignoring(other.tick(10));
    });
    EXPECT_EQ(tick(), 1U);
    EXPECT_EQ(events(id), (std::vector{Event::submitted, Event::woken}));
    EXPECT_EQ(claim(claim_call("default", 10)).size(), 1U);
}

TEST_F(TickTest, a_promotion_whose_reply_is_lost_is_not_made_twice) {
    const TaskId id = submit(later(10s));
    advance(10s);
    store.fail_next(Op::commit, Fault::reply_lost);
    EXPECT_EQ(run_on(engine.tick(10)).value(), 1U);
    EXPECT_EQ(events(id), (std::vector{Event::submitted, Event::woken}));
}

TEST_F(TickTest, a_silent_store_is_told_and_the_task_is_done_by_a_later_tick) {
    const TaskId id = submit(later(10s));
    advance(10s);
    store.fail_next(Op::commit, Fault::never_arrives, 3);
    EXPECT_EQ(told(run_on(engine.tick(10))), "unavailable");
    store.fail_next(Op::due, Fault::reply_lost);
    advance(stores::kDuePush);
    EXPECT_EQ(told(run(engine.tick(10))), "unavailable");
    advance(stores::kDuePush);
    EXPECT_EQ(tick(), 1U);
    EXPECT_EQ(state(id), State::queued);
}

// ---- lost leases ----

TEST_F(TickTest, a_lost_lease_brings_the_task_back_and_counts_a_crash) {
    const domain::Header h = running();
    advance(30s - 1us);
    EXPECT_EQ(tick(), 0U);
    advance(1us);
    EXPECT_EQ(tick(), 1U);
    const domain::Header back = header(h.id);
    EXPECT_EQ(back.state, State::queued);
    EXPECT_EQ(back.crashes, 1);
    EXPECT_EQ(back.retry_count, 0) << "a crash is not a failure of the task";
    const domain::Transition row = history(h.id).back();
    EXPECT_EQ(row.event, Event::lease_ended);
    EXPECT_EQ(row.actor, "w1") << "whose lease it was";
    EXPECT_FALSE(row.error.empty());
}

TEST_F(TickTest, a_task_that_keeps_losing_its_workers_is_parked) {
    const TaskId id = submit();
    for (const State expected : {State::queued, State::queued, State::suspended}) {
        claim_one();
        advance(31s);
        tick();
        EXPECT_EQ(state(id), expected);
    }
    EXPECT_EQ(header(id).crashes, 3);
    EXPECT_TRUE(claim().empty());
}

TEST_F(TickTest, a_lease_renewed_after_the_tick_had_read_it_is_not_taken_away) {
    Engine& other = new_engine();
    const domain::Header h = running();
    advance(31s);
    store.before_next(Op::commit,
                      [&] { return ignoring(other.heartbeat({{h.id, h.fence(), 0s, {}, {}}})); });
    tick();
    EXPECT_EQ(state(h.id), State::running);
    EXPECT_EQ(header(h.id).crashes, 0);
    EXPECT_EQ(told(run(engine.complete({completion(h)})).front()), "succeeded");
}

TEST_F(TickTest, a_requested_cancel_is_honoured_when_the_worker_is_lost) {
    const domain::Header h = running();
    run(engine.cancel(h.id, kAnn));
    advance(31s);
    tick();
    EXPECT_EQ(state(h.id), State::cancelled);
}

TEST_F(TickTest, the_stores_clock_decides_and_not_an_engine_that_is_ahead_of_it) {
    ManualClock fast(clock.now() + 1h);
    Executor own(fast);
    Engine ahead(memory, fast, own.executor(),
                 {.seed = 9});  // and never asked the store for the time
    const domain::Header h = running();
    advance(29s);
    EXPECT_EQ(own.run(ahead.tick(10)).value(), 0U);
    advance(1s);
    EXPECT_EQ(own.run(ahead.tick(10)).value(), 1U);
    EXPECT_EQ(history(h.id).back().at, clock.now());
}

// ---- deadlines ----

TEST_F(TickTest, a_deadline_that_passes_parks_the_task_wherever_it_stands) {
    domain::Submission s = work();
    s.policy.timeout = 1min;
    const TaskId held = running(s).id, queued = submit(s);
    s.policy.on_timeout = domain::Ending::fail;
    const TaskId ends = submit(s);
    advance(29s);
    run(engine.heartbeat({{held, header(held).fence(), 1h, {}, {}}}));
    advance(31s);
    tick();
    EXPECT_EQ(state(held), State::suspended) << "a lease does not protect from it";
    EXPECT_EQ(state(queued), State::suspended);
    EXPECT_EQ(state(ends), State::failed);
    EXPECT_EQ(history(held).back().event, Event::timed_out);
    EXPECT_TRUE(claim().empty());
}

TEST_F(TickTest, who_was_overtaken_by_the_deadline_is_told_so) {
    domain::Submission s = work();
    s.policy.timeout = 10s;
    const domain::Header h = running(s);
    advance(10s);
    tick();
    EXPECT_EQ(told(run(engine.complete({completion(h)})).front()), "stale_lease");
}

// ---- other kinds ----

TEST_F(TickTest, the_timer_of_another_kind_rings_its_handler_with_the_record) {
    domain::Put put;
    put.header.kind = domain::Kind::schedule;
    put.header.id = Uuid::named(Partition{3}, "nightly");
    put.header.version = 1;
    put.header.state = State::waiting;
    put.header.created_at = clock.now();
    put.header.wake_at = clock.now() + 10s;
    put.body = Bytes(std::string_view("at night"));
    std::vector<domain::Change> changes(1);
    changes[0].partition = Partition{3};
    changes[0].puts.push_back(put);
    run(memory.commit(std::move(changes)));
    submit(later(10s));

    std::vector<std::string> rung;
    engine.on_due(domain::Kind::schedule, [&](domain::Record record) -> Async<void> {  // NOLINT
        rung.emplace_back(record.body.view());
        co_return;
    });
    EXPECT_EQ(tick(), 0U);
    advance(10s);
    EXPECT_EQ(tick(), 2U) << "the schedule, and the task beside it";
    EXPECT_EQ(rung, Lines{"at night"});
    EXPECT_EQ(claim().size(), 1U);
    EXPECT_EQ(tick(), 0U);
    advance(stores::kDuePush);
    EXPECT_EQ(tick(), 1U) << "a handler that does not move the timer is called again";
    EXPECT_EQ(rung.size(), 2U);
    EXPECT_EQ(run(new_engine().tick(10)).value(), 0U) << "not before its push ahead is over";
}

}  // namespace
}  // namespace holdfast::engine
