// Looking: one task, waiting for it, lists, counts, explanations, the clock.
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class Read : public EngineTest {
  protected:
    static TaskId nobody() { return Uuid::named(Partition{1}, "nobody"); }
};

TEST_F(Read, a_task_is_got_as_it_is) {
    const TaskId id = submit();
    EXPECT_EQ(run(engine.get(id)).value(), record(id));
    EXPECT_EQ(told(run(engine.get(nobody()))), "not_found");
    EXPECT_EQ(told(run(engine.get(id, -1s))), "invalid_argument: wait");
    EXPECT_EQ(told(run(engine.get(id, 60s + 1us))), "invalid_argument: wait");
}

TEST_F(Read, waiting_ends_at_once_when_the_task_ends_in_this_engine) {
    const domain::Header h = running();
    const auto call = begin(engine.get(h.id, 30s));
    run(engine.checkpoint({{h.id, h.fence(), "a", {}}}));
    EXPECT_FALSE(call.answered()) << "only its end is waited for";
    run(engine.complete({completion(h, "7")}));
    ASSERT_TRUE(call.answered());
    EXPECT_EQ(call.answer()->header.state, State::succeeded);
    EXPECT_EQ(call.answer()->outcome.view(), R"({"result":7})");
    EXPECT_EQ(engine.waiting(), 0U);
}

TEST_F(Read, everybody_who_waits_for_a_task_is_told) {
    const domain::Header h = running();
    const auto a = begin(engine.get(h.id, 30s)), b = begin(engine.get(h.id, 30s));
    run(engine.complete({completion(h)}));
    EXPECT_TRUE(a.answered());
    EXPECT_TRUE(b.answered());
}

TEST_F(Read, what_ended_through_another_engine_is_found_at_the_next_poll) {
    const domain::Header h = running();
    const auto call = begin(engine.get(h.id, 30s));
    run(new_engine().complete({completion(h)}));
    EXPECT_FALSE(call.answered());
    advance(Options{}.poll_interval);
    EXPECT_TRUE(call.answered());
}

TEST_F(Read, waiting_ends_with_the_task_as_it_is_when_the_time_is_over) {
    const TaskId id = submit();
    const auto call = begin(engine.get(id, 700ms));
    advance(500ms);
    advance(199ms);
    EXPECT_FALSE(call.answered());
    advance(1ms);
    EXPECT_EQ(call.answer()->header.state, State::queued);
}

TEST_F(Read, a_task_that_is_over_is_not_waited_for) {
    const domain::Header h = running();
    run(engine.complete({completion(h)}));
    EXPECT_EQ(run(engine.get(h.id, 30s))->header.state, State::succeeded);
}

TEST_F(Read, beyond_the_bound_of_waiters_it_is_overloaded) {
    Engine& small = new_engine(store, {.most_waiters = 1});
    const TaskId id = submit();
    const auto first = begin(small.get(id, 30s));
    EXPECT_EQ(told(run(small.get(id, 30s))), "overloaded");
    EXPECT_EQ(told(run(small.get(id))), "ok");
}

TEST_F(Read, a_silent_store_is_unavailable) {
    const TaskId id = submit();
    for (const Op op : {Op::load, Op::history, Op::list, Op::stats, Op::feed, Op::clock})
        store.fail_next(op, Fault::never_arrives);
    EXPECT_EQ(told(run(engine.get(id))), "unavailable");
    EXPECT_EQ(told(run(engine.history(id))), "unavailable");
    EXPECT_EQ(told(run(engine.list({}))), "unavailable");
    EXPECT_EQ(told(run(engine.stats())), "unavailable");
    EXPECT_EQ(told(run(engine.feed({}))), "unavailable");
    EXPECT_EQ(told(run(engine.sync_clock())), "unavailable");
}

TEST_F(Read, the_history_tells_every_step_and_knows_who_does_not_exist) {
    const domain::Header h = running();
    run(engine.complete({completion(h)}));
    EXPECT_EQ(run(engine.history(h.id)).value(), history(h.id));
    EXPECT_EQ(told(run(engine.history(nobody()))), "not_found");
}

// ---- explain ----

TEST_F(Read, an_explanation_says_why_a_task_does_not_run) {
    const auto why = [this](const TaskId& id) { return run(engine.explain(id)).value().code; };
    const TaskId ready = submit();
    EXPECT_EQ(why(ready), domain::Why::in_lane);

    run(engine.pause_queue("paused", kAnn));
    EXPECT_EQ(why(submit(work("paused"))), domain::Why::queue_paused);

    run(engine.limit_queue("full", 1, 0, kAnn));
    submit(2, work("full"));
    claim_one(claim_call("full"));
    stores::Filter waiting;
    waiting.queue = "full";
    waiting.states = {State::queued};
    EXPECT_EQ(why(run(engine.list(waiting))->rows.at(0).header.id), domain::Why::queue_full);

    domain::Submission gated = work("gated");
    gated.gate = "db";
    gated.gate_limit = 1;
    submit(gated);
    claim_one(claim_call("gated"));
    EXPECT_EQ(why(submit(gated)), domain::Why::gate_full);

    EXPECT_EQ(why(running(work("r")).id), domain::Why::held);
    EXPECT_EQ(why(suspended(work("s")).id), domain::Why::suspended);
    EXPECT_EQ(told(run(engine.explain(nobody()))), "not_found");
}

// ---- lists and counts ----

TEST_F(Read, a_list_is_filtered_and_paged) {
    submit(5, work("a"));
    submit(2, work("b"));
    stores::Filter filter;
    filter.queue = "a";
    std::set<TaskId> seen;
    std::string cursor;
    std::size_t pages = 0;
    do {
        const stores::Page page = run(engine.list(filter, cursor, 2)).value();
        EXPECT_LE(page.rows.size(), 2U);
        for (const auto& row : page.rows) seen.insert(row.header.id);
        cursor = page.next;
        ++pages;
    } while (!cursor.empty());
    EXPECT_EQ(seen.size(), 5U);
    EXPECT_EQ(pages, 3U);
}

TEST_F(Read, lists_and_the_feed_have_a_bound) {
    EXPECT_EQ(told(run(engine.list({}, {}, 0))), "invalid_argument: limit");
    EXPECT_EQ(told(run(engine.list({}, {}, 1001))), "invalid_argument: limit");
    EXPECT_EQ(told(run(engine.list({}, {}, 1000))), "ok");
    EXPECT_EQ(told(run(engine.feed({}, 0))), "invalid_argument: limit");
    EXPECT_EQ(told(run(engine.feed({}, 1001))), "invalid_argument: limit");
}

TEST_F(Read, a_filter_that_no_task_can_match_is_a_mistake_and_named) {
    const auto listed = [this](const std::function<void(stores::Filter&)>& set) {
        stores::Filter filter;
        set(filter);
        return told(run(engine.list(filter)));
    };
    EXPECT_EQ(listed([](auto& f) { f.queue = "no name"; }), "invalid_argument: queue");
    EXPECT_EQ(listed([](auto& f) { f.type.assign(65, 't'); }), "invalid_argument: type");
    EXPECT_EQ(listed([](auto& f) { f.tenant = "a/b"; }), "invalid_argument: tenant");
    for (const std::string& label : Lines{"k", "=v", "a b=v", "k=" + std::string(257, 'v')})
        EXPECT_EQ(listed([&](auto& f) { f.labels = {label}; }), "invalid_argument: label");
    EXPECT_EQ(listed([](auto& f) { f.labels.assign(17, "k=v"); }), "invalid_argument: label");
    EXPECT_EQ(listed([](auto& f) {
                  f.queue = f.type = f.tenant = "n";
                  f.labels = {"k=v=w", "k="};
              }),
              "ok");
}

TEST_F(Read, counts_follow_the_tasks) {
    submit(3, work("q", "t"));
    claim_one(claim_call("q"));
    const stores::Stats stats = run(engine.stats()).value();
    ASSERT_EQ(stats.queues.size(), 1U);
    EXPECT_EQ(stats.queues[0].by_state[static_cast<std::size_t>(State::queued)], 2U);
    EXPECT_EQ(stats.queues[0].by_state[static_cast<std::size_t>(State::running)], 1U);
}

TEST_F(Read, the_feed_tells_what_happened_in_order) {
    const domain::Header h = running();
    run(engine.complete({completion(h)}));
    std::vector<std::string> names;
    const stores::FeedPage page = run(engine.feed({}, 2)).value();
    for (const auto& event : page.events) names.push_back(event.name);
    for (const auto& event : run(engine.feed(page.next))->events) names.push_back(event.name);
    EXPECT_EQ(names, (Lines{"submitted", "claimed", "completed"}));
}

// ---- the clock ----

TEST_F(Read, now_follows_the_stores_clock) {
    ManualClock slow(clock.now() - 1h);
    Executor own(slow);
    Engine late(memory, slow, own.executor(), {.seed = 9});
    EXPECT_EQ(late.now(), clock.now() - 1h);
    own.run(late.sync_clock());
    EXPECT_EQ(late.now(), clock.now());
    const TaskId id = own.run(late.submit({work()})).front().value().id;
    EXPECT_EQ(header(id).created_at, clock.now());
}

TEST_F(Read, a_slow_answer_about_the_time_is_taken_to_be_half_as_old_as_it_took) {
    store.before_next(Op::clock, [&] {
        clock.advance(10ms);
        return ignoring(memory.clock());
    });
    run(engine.sync_clock());
    EXPECT_EQ(engine.now(), clock.now() + 5ms);
}

}  // namespace
}  // namespace holdfast::engine
