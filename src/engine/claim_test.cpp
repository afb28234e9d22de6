// Handing out what is there: in which order, to whom, for how long, within which limits.
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class Claim : public EngineTest {
  protected:
    std::vector<TaskId> ids(const std::vector<ClaimedTask>& tasks) {
        std::vector<TaskId> found;
        for (const ClaimedTask& task : tasks) found.push_back(task.record.header.id);
        return found;
    }
    std::size_t claimed(Engine& by, const std::string& queue, std::uint32_t max = 100) {
        return claim(by, claim_call(queue, max)).size();
    }
};

TEST_F(Claim, an_empty_queue_answers_with_nothing_at_once) {
    EXPECT_TRUE(claim().empty());
}

TEST_F(Claim, a_claimed_task_comes_with_its_body_and_a_fence_and_belongs_to_the_worker) {
    domain::Submission s = work();
    s.payload = json(R"({"n":1})");
    const TaskId id = submit(s);
    const ClaimedTask task = claim().at(0);
    const domain::Header& h = task.record.header;
    EXPECT_EQ(h.id, id);
    EXPECT_EQ(domain::payload_of(task.record.body), s.payload);
    EXPECT_EQ(h.attempt, 1U);
    EXPECT_GT(h.epoch, domain::Epoch{});
    EXPECT_EQ(h.worker, "w1");
    EXPECT_EQ(h, header(id)) << "what the worker is told is what the store has";
    EXPECT_TRUE(task.checkpoints.empty());
    EXPECT_TRUE(task.signals.empty());
    EXPECT_TRUE(claim().empty()) << "nobody else gets it";
}

TEST_F(Claim, a_higher_priority_goes_first_and_equal_ones_in_the_order_they_came) {
    std::vector<TaskId> made;
    for (const int priority : {5, 0, 9, 5, 9}) {
        domain::Submission s = work();
        s.priority = static_cast<std::uint8_t>(priority);
        made.push_back(submit(s));
    }
    EXPECT_EQ(ids(claim(claim_call("default", 10))),
              (std::vector{made[2], made[4], made[0], made[3], made[1]}));
}

TEST_F(Claim, no_more_than_max_are_handed_out) {
    submit(5);
    EXPECT_EQ(claimed(engine, "default", 3), 3U);
    EXPECT_EQ(claimed(engine, "default", 3), 2U);
}

TEST_F(Claim, several_queues_are_asked_and_none_starves) {
    submit(50, work("a"));
    submit(50, work("b"));
    std::map<std::string, int> got;
    for (int i = 0; i < 10; ++i) {
        ClaimCall call = claim_call("a");
        call.queues = {"a", "b"};
        ++got[claim_one(call).queue];
    }
    EXPECT_EQ(got["a"], 5);
    EXPECT_EQ(got["b"], 5);
}

TEST_F(Claim, the_lease_is_the_claims_else_the_tasks_else_30_seconds) {
    domain::Submission with_lease = work();
    with_lease.lease = 2min;
    submit(with_lease);
    submit(with_lease);
    submit();
    ClaimCall five_minutes = claim_call();
    five_minutes.lease = 5min;
    EXPECT_EQ(claim_one(five_minutes).lease_until, clock.now() + 5min);
    EXPECT_EQ(claim_one().lease_until, clock.now() + 2min);
    EXPECT_EQ(claim_one().lease_until, clock.now() + 30s);
}

TEST_F(Claim, a_node_that_announces_acks_gets_them_as_dispatched) {
    submit();
    ClaimCall call = claim_call();
    call.acks = true;
    EXPECT_EQ(claim_one(call).state, State::dispatched);
}

TEST_F(Claim, types_are_chosen_only_where_the_queue_keeps_lanes_by_type) {
    ClaimCall only_b = claim_call("q");
    only_b.types = {"b"};
    submit(work("q", "b"));
    EXPECT_EQ(told(run(engine.claim(only_b))), "invalid_argument: types");

    run(engine.set_lanes_by_type("typed", true, kAnn));
    submit(work("typed", "a"));
    const TaskId b = submit(work("typed", "b"));
    submit(work("typed", "a"));
    only_b.queues = {"typed"};
    only_b.max = 10;
    EXPECT_EQ(ids(claim(only_b)), std::vector{b});
    EXPECT_EQ(claimed(engine, "typed"), 2U) << "who names no types gets all";
    only_b.queues = {"typed", "q"};
    EXPECT_EQ(told(run(engine.claim(only_b))), "invalid_argument: types");
}

TEST_F(Claim, bad_input_is_named_by_field_and_hands_nothing_out) {
    run(engine.set_lanes_by_type("default", true, kAnn));
    submit();
    struct Row {
        std::string field;
        std::function<void(ClaimCall&)> spoil;
    };
    const std::vector<Row> rows{
        {"worker", [](auto& c) { c.worker = ""; }},
        {"worker", [](auto& c) { c.worker = "two words"; }},
        {"worker", [](auto& c) { c.worker.assign(129, 'w'); }},
        {"queues", [](auto& c) { c.queues.clear(); }},
        {"queues", [](auto& c) { c.queues.assign(101, "q"); }},
        {"queues", [](auto& c) { c.queues.emplace_back("not a name"); }},
        {"types", [](auto& c) { c.types = {"not a name"}; }},
        {"types", [](auto& c) { c.types.assign(101, "t"); }},
        {"max", [](auto& c) { c.max = 0; }},
        {"max", [](auto& c) { c.max = 1001; }},
        {"lease", [](auto& c) { c.lease = 1s - 1us; }},
        {"lease", [](auto& c) { c.lease = 24h + 1us; }},
        {"lease", [](auto& c) { c.lease = -1s; }},
        {"wait", [](auto& c) { c.wait = -1s; }},
        {"wait", [](auto& c) { c.wait = 60s + 1us; }},
    };
    for (const Row& row : rows) {
        ClaimCall call = claim_call();
        row.spoil(call);
        EXPECT_EQ(told(run(engine.claim(call))), "invalid_argument: " + row.field);
    }
    EXPECT_EQ(store.calls(Op::claim), 0U);
    EXPECT_EQ(claim().size(), 1U);
}

// ---- what operators allow ----

TEST_F(Claim, a_paused_queue_hands_nothing_out_and_the_others_do) {
    submit(1, work("a"));
    submit(1, work("b"));
    run(engine.pause_queue("a", kAnn));
    ClaimCall call = claim_call("a", 10);
    call.queues = {"a", "b"};
    const auto tasks = claim(call);
    ASSERT_EQ(tasks.size(), 1U);
    EXPECT_EQ(tasks.front().record.header.queue, "b");
    run(engine.resume_queue("a", kAnn));
    EXPECT_EQ(claimed(engine, "a"), 1U);
}

TEST_F(Claim, a_pause_takes_effect_in_another_engine_as_soon_as_its_copy_of_the_settings_is_old) {
    Engine& other = new_engine();
    submit(2, work("q"));
    EXPECT_EQ(claimed(other, "q", 1), 1U);
    run(engine.pause_queue("q", kAnn));
    EXPECT_EQ(claimed(engine, "q"), 0U) << "at once where it was said";
    advance(Options{}.settings_fresh_for);
    EXPECT_EQ(claimed(other, "q"), 0U);
    EXPECT_LT(Options{}.settings_fresh_for, 1s) << "the API promises a second";
}

TEST_F(Claim, a_paused_queue_stays_paused_when_very_many_others_are_looked_at) {
    submit(1, work("paused"));
    run(engine.pause_queue("paused", kAnn));
    for (int i = 0; i < 10'000; ++i) run(engine.queue("q" + std::to_string(i)));
    ClaimCall call = claim_call("paused");
    call.queues = {"paused", "never-seen"};
    EXPECT_TRUE(claim(call).empty());
}

TEST_F(Claim, no_more_than_the_concurrency_limit_are_held_at_once) {
    run(engine.limit_queue("q", 2, 0, kAnn));
    submit(5, work("q"));
    const auto first = claim(claim_call("q", 10));
    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(claimed(new_engine(), "q"), 0U) << "over all engines";
    run(engine.complete({completion(first[0].record.header)}));
    EXPECT_EQ(claimed(engine, "q"), 1U) << "what ends makes room";
    advance(1min);
    run(engine.tick(10));
    EXPECT_EQ(claimed(engine, "q"), 2U) << "and so does a lost lease";
}

TEST_F(Claim, a_concurrency_key_admits_as_many_as_it_says) {
    domain::Submission gated = work();
    gated.gate = "db";
    gated.gate_limit = 1;
    submit(2, gated);
    const TaskId free = submit();
    EXPECT_EQ(claimed(engine, "default", 10), 2U) << "one of the key, and the one without";
    EXPECT_EQ(state(free), State::running);
}

TEST_F(Claim, a_rate_lets_a_seconds_worth_out_at_once_and_then_as_much_as_time_allows) {
    run(engine.limit_queue("q", 0, 4, kAnn));
    submit(100, work("q"));
    EXPECT_EQ(claimed(engine, "q"), 4U);
    EXPECT_EQ(claimed(engine, "q"), 0U);
    advance(500ms);
    EXPECT_EQ(claimed(engine, "q"), 2U);
    advance(1h);
    EXPECT_EQ(claimed(engine, "q"), 4U) << "what was not used is not saved up";
}

TEST_F(Claim, a_rate_below_one_per_second_still_lets_one_out) {
    run(engine.limit_queue("q", 0, 0.25, kAnn));
    submit(10, work("q"));
    EXPECT_EQ(claimed(engine, "q"), 1U);
    advance(3s);
    EXPECT_EQ(claimed(engine, "q"), 0U);
    advance(1s);
    EXPECT_EQ(claimed(engine, "q"), 1U);
}

TEST_F(Claim, naming_a_queue_twice_does_not_double_its_rate) {
    run(engine.limit_queue("q", 0, 4, kAnn));
    submit(100, work("q"));
    ClaimCall call = claim_call("q", 100);
    call.queues = {"q", "q"};
    EXPECT_EQ(claim(call).size(), 4U);
}

TEST_F(Claim, what_went_out_without_a_rate_is_not_held_against_a_rate_set_later) {
    run(engine.limit_queue("q", 0, 4, kAnn));
    submit(200, work("q"));
    EXPECT_EQ(claimed(engine, "q"), 4U);
    run(engine.limit_queue("q", 0, 0, kAnn));
    EXPECT_EQ(claimed(engine, "q"), 100U);
    run(engine.limit_queue("q", 0, 4, kAnn));
    advance(1s);
    EXPECT_EQ(claimed(engine, "q"), 4U);
}

// ---- what earlier attempts left ----

TEST_F(Claim, stages_and_signals_come_along_in_the_order_they_were_written) {
    const domain::Header h = running();
    for (const std::string stage : {"fetch", "resize"})
        run(engine.checkpoint({{h.id, h.fence(), stage, Json::quoted(stage + "ed")}}));
    run(engine.signal(h.id, "s1", json("1")));
    run(engine.signal(h.id, "s2", json("2")));
    run(engine.yield({{h.id, h.fence(), {}, false}}));

    const ClaimedTask task = claim(new_engine(), claim_call()).at(0);
    ASSERT_EQ(task.checkpoints.size(), 2U);
    EXPECT_EQ(task.checkpoints[0].key, "fetch");
    EXPECT_EQ(task.checkpoints[0].bytes.view(), R"("fetched")");
    EXPECT_EQ(task.checkpoints[1].key, "resize");
    ASSERT_EQ(task.signals.size(), 2U);
    EXPECT_EQ(task.signals[0].key, "s1");
    EXPECT_EQ(task.signals[1].bytes.view(), "2");
}

TEST_F(Claim, a_fresh_task_costs_no_look_into_its_logs) {
    submit(3);
    claim(claim_call("default", 3));
    EXPECT_EQ(store.calls(Op::log), 0U);
}

TEST_F(Claim, a_task_whose_stages_cannot_be_read_is_not_handed_out_without_them) {
    const domain::Header h = running();
    run(engine.checkpoint({{h.id, h.fence(), "fetch", json("1")}}));
    run(engine.yield({{h.id, h.fence(), {}, false}}));
    const TaskId other = submit();
    store.fail_next(Op::log, Fault::never_arrives);
    EXPECT_EQ(ids(claim(claim_call("default", 10))), std::vector{other});
    advance(31s);
    run(engine.tick(10));
    const ClaimedTask task = claim().at(0);
    EXPECT_EQ(task.record.header.id, h.id) << "it comes back";
    EXPECT_EQ(task.checkpoints.size(), 1U);
}

// ---- a store that does not answer ----

TEST_F(Claim, a_silent_store_is_unavailable) {
    submit();
    store.fail_next(Op::claim, Fault::never_arrives);
    EXPECT_EQ(told(run(engine.claim(claim_call()))), "unavailable");
    EXPECT_EQ(claim().size(), 1U);
}

TEST_F(Claim, settings_that_cannot_be_read_let_nothing_out) {
    submit(work("q"));
    Engine& other = new_engine(store);
    store.fail_next(Op::load, Fault::never_arrives);
    EXPECT_EQ(told(run(other.claim(claim_call("q")))), "unavailable");
    EXPECT_EQ(store.calls(Op::claim), 0U);
}

TEST_F(Claim, a_task_whose_claim_was_answered_to_nobody_comes_back_after_its_lease) {
    const TaskId id = submit();
    store.fail_next(Op::claim, Fault::reply_lost);
    EXPECT_EQ(told(run(engine.claim(claim_call()))), "unavailable");
    EXPECT_EQ(state(id), State::running);
    advance(31s);
    run(engine.tick(10));
    EXPECT_EQ(claim_one().id, id);
}

}  // namespace
}  // namespace holdfast::engine
