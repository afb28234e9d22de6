// What runs beside the requests: the loop, and retention.
#include "engine/services.h"

#include "base/task_group.h"
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class Services : public EngineTest {
  protected:
    domain::Submission later(Duration delay) {
        domain::Submission s = work();
        s.delay = delay;
        return s;
    }
    bool round(Service& service) { return run(service.run_once()).value(); }
    void put_cursor(const std::string& name, const std::string& place, std::uint64_t version = 1) {
        domain::Put put;
        put.header.kind = domain::Kind::cursor;
        put.header.id = Uuid::named(Partition{0}, name);
        put.header.state = State::running;
        put.header.version = version;
        put.header.created_at = clock.now();
        put.header.note = place;
        put.expected_version = version - 1;
        std::vector<domain::Change> changes(1);
        changes[0].puts.push_back(put);
        ASSERT_EQ(run(memory.commit(std::move(changes))).value().at(0).verdict,
                  stores::Verdict::committed);
    }
};

// ---- the loop ----

TEST_F(Services, the_ticker_does_what_is_due_round_after_round_until_its_group_stops) {
    TaskGroup group(world().executor());
    Ticker ticker(engine);
    group.spawn(Service::run(&ticker, &group));
    world().poll();
    const TaskId first = submit(later(1s)), second = submit(later(2s));
    for (int i = 0; i < 6; ++i) advance(220ms);
    EXPECT_EQ(state(first), State::queued);
    EXPECT_EQ(state(second), State::waiting);
    for (int i = 0; i < 5; ++i) advance(220ms);
    EXPECT_EQ(state(second), State::queued);

    world().run(group.stop());
    EXPECT_EQ(group.size(), 0U);
    const TaskId third = submit(later(1s));
    for (int i = 0; i < 10; ++i) advance(220ms);
    EXPECT_EQ(state(third), State::waiting) << "nothing runs any more";
}

TEST_F(Services, a_failed_round_is_counted_and_tried_again_after_the_usual_time) {
    TaskGroup group(world().executor());
    Ticker ticker(engine);
    store.fail_next(Op::clock, Fault::never_arrives, 2);
    group.spawn(Service::run(&ticker, &group));
    world().poll();
    EXPECT_EQ(ticker.failures(), 1U);
    EXPECT_EQ(told(*ticker.last_error()), "unavailable");
    const TaskId id = submit(later(100ms));
    advance(220ms);
    EXPECT_EQ(ticker.failures(), 2U);
    advance(220ms);
    EXPECT_EQ(ticker.failures(), 2U);
    EXPECT_EQ(state(id), State::queued);
    world().run(group.stop());
}

TEST_F(Services, one_that_is_told_to_hurry_does_not_wait_for_its_time) {
    int rounds = 0;
    const auto round = [&rounds]() -> Async<Result<bool>> {
        ++rounds;
        co_return false;
    };
    engine::Chore chore(engine, round, 1h);
    TaskGroup group(world().executor());
    group.spawn(engine::Service::run(&chore, &group));
    world().poll();
    EXPECT_EQ(rounds, 1);
    chore.hurry();
    world().poll();
    EXPECT_EQ(rounds, 2);
    advance(30min);
    EXPECT_EQ(rounds, 2);
    run(group.stop());
}

TEST_F(Services, while_there_is_more_to_do_it_does_not_wait_and_others_get_their_turn) {
    submit(1000, later(1s));
    advance(1s);
    TaskGroup group(world().executor());
    Ticker ticker(engine);
    std::size_t seen = 0;
    group.spawn(Service::run(&ticker, &group));
    group.spawn([](stores::Store* all, std::size_t* waiting) -> Async<void> {
        stores::Filter filter;
        filter.states = {State::waiting};
        *waiting = (co_await all->list(filter, {}, 1000, 1000))->rows.size();
    }(&memory, &seen));
    world().poll();
    EXPECT_GT(seen, 0U) << "somebody else ran between the first round and the last";
    EXPECT_EQ(tasks({State::queued}), 1000U) << "all of it without time going on";
    world().run(group.stop());
}

TEST_F(Services, the_ticker_keeps_the_engines_clock_with_the_stores) {
    ManualClock slow(clock.now() - 1h);
    Executor own(slow);
    Engine late(memory, slow, own.executor(), {.seed = 9});
    Ticker ticker(late);
    own.run(ticker.run_once());
    EXPECT_EQ(late.now(), clock.now());
}

TEST_F(Services, rounds_of_many_instances_do_not_beat_together) {
    std::set<Duration> pauses;
    TaskGroup group(world().executor());
    Ticker ticker(engine, 1s);
    group.spawn(Service::run(&ticker, &group));
    world().poll();
    for (int i = 0; i < 20; ++i) {
        const Duration pause = *clock.next_alarm() - clock.now();
        EXPECT_GE(pause, 900ms);
        EXPECT_LE(pause, 1100ms);
        pauses.insert(pause);
        advance(pause);
    }
    EXPECT_GT(pauses.size(), 10U);
    world().run(group.stop());
}

// ---- retention ----

TEST_F(Services, finished_tasks_go_after_their_time_and_unfinished_ones_never) {
    const TaskId parked = suspended().id, paused = submit(work("p"));
    run(engine.pause(paused, kAnn));
    const domain::Header h = running(work("d"));
    run(engine.complete({completion(h)}));
    Retention retention(engine, {.finished = 1h, .feed = 1h});
    advance(1h);
    round(retention);
    EXPECT_EQ(retention.removed(), 0U) << "not before";
    EXPECT_EQ(state(h.id), State::succeeded);
    advance(1us);
    round(retention);
    EXPECT_EQ(retention.removed(), 1U);
    EXPECT_EQ(told(run(engine.get(h.id))), "not_found");
    advance(std::chrono::days{3650});
    round(retention);
    EXPECT_EQ(state(parked), State::suspended);
    EXPECT_EQ(state(paused), State::paused);
    EXPECT_EQ(retention.removed(), 1U);
}

TEST_F(Services, retention_goes_in_small_steps_and_says_when_there_is_more) {
    submit(1000, work("q"));
    submit(500, work("q"));
    BulkRequest all;
    all.action = BulkAction::discard;
    all.limit = 1000;
    run(engine.bulk(all));
    run(engine.bulk(all));
    BulkRequest rest = all;
    rest.filter.states = {State::queued};
    run(engine.bulk(rest));
    Retention retention(engine, {.finished = 1h, .feed = 1h});
    advance(2h);
    EXPECT_TRUE(round(retention));
    EXPECT_EQ(retention.removed(), 1000U);
    EXPECT_FALSE(round(retention));
    EXPECT_EQ(tasks(), 0U);
}

TEST_F(Services, of_too_many_finished_tasks_the_oldest_go_before_their_time) {
    const domain::Header oldest = running(work());
    run(engine.complete({completion(oldest)}));
    advance(1s);
    const domain::Header older = running(work());
    run(engine.complete({completion(older)}));
    advance(1s);
    const domain::Header young = running(work());
    run(engine.complete({completion(young)}));
    submit(5);  // unfinished ones do not count
    Retention retention(engine, {.finished = 1h, .feed = 1h, .finished_most = 2});
    advance(1s);
    round(retention);
    round(retention);
    EXPECT_EQ(retention.removed(), 1U);
    EXPECT_EQ(told(run(engine.get(oldest.id))), "not_found");
    EXPECT_EQ(state(older.id), State::succeeded);
    EXPECT_EQ(state(young.id), State::succeeded);
    EXPECT_EQ(tasks(), 7U);
}

TEST_F(Services, a_task_stays_as_long_as_its_idempotency_key) {
    domain::Submission s = work();
    s.idempotency_key = "k";
    const domain::Header h = running(s);
    run(engine.complete({completion(h)}));
    Retention retention(engine, {.finished = 1h, .feed = 1h});
    advance(2h);
    round(retention);
    EXPECT_EQ(told(run(engine.submit({s})).front()), "succeeded again");
    advance(23h);
    round(retention);
    EXPECT_EQ(retention.removed(), 1U);
}

TEST_F(Services, the_feed_is_trimmed_by_age_but_never_past_a_durable_consumer) {
    submit(3);
    const std::string place = run(engine.feed({}, 1)).value().next;
    put_cursor("slow", place);
    Retention retention(engine, {.finished = 1h, .feed = 1h});
    advance(2h);
    round(retention);
    EXPECT_FALSE(run(engine.feed(place))->reset) << "it has not read on yet";
    submit(1000);  // more than goes with it in one piece
    put_cursor("slow", run(engine.feed("now"))->next, 2);
    advance(2h);
    round(retention);
    EXPECT_TRUE(run(engine.feed(place))->reset);
}

TEST_F(Services, of_very_many_durable_consumers_the_oldest_is_not_forgotten) {
    submit(3);
    const std::string place = run(engine.feed({}, 1)).value().next;
    put_cursor("slow", place);
    advance(2h);
    const std::string now = run(engine.feed("now"))->next;
    for (std::size_t i = 0; i < kLargestBatch; ++i) put_cursor("c" + std::to_string(i), now);
    Retention retention(engine, {.finished = 1h, .feed = 1h});
    round(retention);
    EXPECT_FALSE(run(engine.feed(place))->reset);
}

TEST_F(Services, retention_reports_a_silent_store) {
    Retention retention(engine);
    store.fail_next(Op::list, Fault::never_arrives);
    EXPECT_EQ(told(run(retention.run_once())), "unavailable");
    store.fail_next(Op::trim, Fault::never_arrives);
    EXPECT_EQ(told(run(retention.run_once())), "unavailable");
}

}  // namespace
}  // namespace holdfast::engine
