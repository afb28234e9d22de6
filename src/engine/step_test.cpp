// Read, decide, commit: what every step of a task has in common, shown with `complete` and others in its place.
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class Step : public EngineTest {
  protected:
    std::string complete(Engine& by, const domain::Header& h) {
        return told(run_on(by.complete({completion(h)})).front());
    }
    /// Its lease is lost and somebody else has it.
    domain::Header taken_over_by(Engine& by) {
        advance(31s);
        run(by.tick(10));
        return claim_one(by);
    }
};

TEST_F(Step, a_task_that_was_claimed_here_needs_one_commit_and_no_load) {
    const domain::Header h = running();
    store.forget_calls();
    EXPECT_EQ(complete(engine, h), "succeeded");
    EXPECT_EQ(store.calls(Op::commit), 1U);
    EXPECT_EQ(store.all_calls(), 1U);
}

TEST_F(Step, a_task_that_goes_on_being_held_needs_no_load_for_its_next_step_either) {
    const domain::Header h = running();
    store.forget_calls();
    run(engine.checkpoint({{h.id, h.fence(), "one", {}}}));
    run(engine.checkpoint({{h.id, h.fence(), "two", {}}}));
    run(engine.cancel(h.id, kAnn));
    EXPECT_EQ(told(run(engine.yield({{h.id, h.fence(), {}, false}})).front()), "cancelled");
    EXPECT_EQ(store.calls(Op::commit), 4U);
    EXPECT_EQ(store.all_calls(), 4U);
}

TEST_F(Step, a_heartbeat_between_does_not_cost_a_load) {
    const domain::Header h = running();
    advance(10s);
    run(engine.heartbeat({{h.id, h.fence(), 0s, 0.5F, {}}}));
    store.forget_calls();
    EXPECT_EQ(complete(engine, h), "succeeded");
    EXPECT_EQ(store.all_calls(), 1U);
}

TEST_F(Step, a_whole_batch_is_one_commit) {
    submit(100);
    std::vector<Completion> items;
    for (const ClaimedTask& task : claim(claim_call("default", 100)))
        items.push_back(completion(task.record.header));
    store.forget_calls();
    EXPECT_EQ(told(run(engine.complete(items))), Lines(100, "succeeded"));
    EXPECT_EQ(store.all_calls(), 1U);
    EXPECT_EQ(store.items(Op::commit), 100U);
}

TEST_F(Step, a_task_that_was_claimed_elsewhere_is_loaded_first) {
    Engine& other = new_engine();
    const domain::Header h = running();
    EXPECT_EQ(complete(other, h), "succeeded");
}

TEST_F(Step, headers_are_kept_of_so_many_held_tasks_and_the_rest_is_loaded) {
    Engine& small = new_engine(store, {.most_held = 10});
    for (int round = 0; round < 5; ++round) {  // what others complete is never heard of here
        submit(10);
        claim(small, claim_call("default", 10));
    }
    submit(5);
    std::vector<Completion> items;
    for (const ClaimedTask& task : claim(small, claim_call("default", 5)))
        items.push_back(completion(task.record.header));
    store.forget_calls();
    EXPECT_EQ(told(run(small.complete(items))), Lines(5, "succeeded"));
    EXPECT_EQ(store.calls(Op::load), 0U) << "the newest are kept, however many were before";
}

// ---- fences ----

TEST_F(Step, a_stale_fence_is_refused_and_writes_nothing) {
    const domain::Header old = running();
    const domain::Header now = taken_over_by(engine);
    ASSERT_EQ(now.id, old.id);
    const domain::Record before = record(old.id);
    EXPECT_EQ(complete(engine, old), "stale_lease");
    domain::Header wrong_attempt = now, wrong_epoch = now;
    ++wrong_attempt.attempt;
    wrong_epoch.epoch = old.epoch;
    EXPECT_EQ(complete(engine, wrong_attempt), "stale_lease");
    EXPECT_EQ(complete(engine, wrong_epoch), "stale_lease");
    EXPECT_EQ(record(old.id), before);
    EXPECT_EQ(complete(engine, now), "succeeded");
}

TEST_F(Step, who_was_claimed_elsewhere_since_is_not_mistaken_for_a_stale_one_here) {
    const domain::Header old = running();  // this engine remembers the first claim …
    const domain::Header now = taken_over_by(new_engine());
    ASSERT_EQ(now.id, old.id);
    EXPECT_EQ(complete(engine, now), "succeeded") << "… and is asked by the holder of the second";
}

TEST_F(Step,
       an_operator_is_answered_by_what_the_task_is_now_and_not_by_what_was_claimed_here_once) {
    Engine& other = new_engine();
    const domain::Header h = running();
    const domain::Failure no{domain::ErrorKind::permanent, "no", "", ""};
    run(other.fail({{h.id, h.fence(), no, {}}}));
    EXPECT_EQ(told(run(engine.resume(h.id, kAnn, json("2")))), "queued");
    EXPECT_EQ(domain::payload_of(record(h.id).body), json("2"));
    const domain::Header again = claim_one();
    run(other.fail({{again.id, again.fence(), no, {}}}));
    EXPECT_EQ(told(run(engine.discard(h.id, kAnn))), "discarded");
}

TEST_F(Step, the_same_call_again_is_a_duplicate_and_writes_nothing) {
    const domain::Header h = running();
    EXPECT_EQ(complete(engine, h), "succeeded");
    const domain::Record before = record(h.id);
    EXPECT_EQ(complete(engine, h), "succeeded again");
    EXPECT_EQ(complete(new_engine(), h), "succeeded again");
    EXPECT_EQ(record(h.id), before);
    EXPECT_EQ(events(h.id), (std::vector{Event::submitted, Event::claimed, Event::completed}));
}

TEST_F(Step, another_call_under_the_same_fence_after_the_end_is_stale) {
    const domain::Header h = running();
    EXPECT_EQ(complete(engine, h), "succeeded");
    EXPECT_EQ(told(run(engine.yield({{h.id, h.fence(), {}, false}})).front()), "stale_lease");
}

TEST_F(Step, a_task_that_does_not_exist_is_not_found) {
    domain::Header nobody;
    nobody.id = Uuid::named(Partition{1}, "nobody");
    EXPECT_EQ(complete(engine, nobody), "not_found");
    EXPECT_EQ(told(run(engine.cancel(nobody.id, kAnn))), "not_found");
}

// ---- batches ----

TEST_F(Step, the_items_of_a_batch_are_answered_each_for_itself) {
    submit(3);
    const auto tasks = claim(claim_call("default", 3));
    const domain::Header good = tasks[0].record.header, done = tasks[1].record.header;
    domain::Header stale = tasks[2].record.header, nobody = good;
    run(engine.complete({completion(done)}));
    ++stale.attempt;
    nobody.id = Uuid::named(Partition{1}, "nobody");
    EXPECT_EQ(told(run(engine.complete(
                  {completion(nobody), completion(good), completion(stale), completion(done)}))),
              (Lines{"not_found", "succeeded", "stale_lease", "succeeded again"}));
}

TEST_F(Step, the_same_task_twice_in_one_batch_is_done_once) {
    const domain::Header h = running();
    EXPECT_EQ(told(run(engine.complete({completion(h, "1"), completion(h, "2")}))),
              (Lines{"succeeded", "succeeded again"}));
    EXPECT_EQ(record(h.id).outcome.view(), R"({"result":1})");
    EXPECT_EQ(events(h.id), (std::vector{Event::submitted, Event::claimed, Event::completed}));
}

TEST_F(Step, more_than_1000_items_are_refused_and_write_nothing) {
    const domain::Header h = running();
    const auto answers = run(engine.complete(std::vector(kLargestBatch + 1, completion(h))));
    EXPECT_EQ(told(answers), Lines(kLargestBatch + 1, "invalid_argument: items"));
    EXPECT_EQ(state(h.id), State::running);
}

// ---- others are faster ----

TEST_F(Step, a_change_by_another_engine_is_seen_and_decided_on_again) {
    Engine& other = new_engine();
    const domain::Header h = running();
    store.before_next(Op::commit, [&] { return ignoring(other.cancel(h.id, kAnn)); });
    EXPECT_EQ(told(run(engine.yield({{h.id, h.fence(), 1h, false}})).front()), "cancelled")
        << "not waiting, as was decided first";
    EXPECT_EQ(events(h.id), (std::vector{Event::submitted, Event::claimed, Event::cancel_requested,
                                         Event::cancelled}));
}

TEST_F(Step, a_completion_that_arrives_first_wins_over_a_requested_cancel) {
    Engine& other = new_engine();
    const domain::Header h = running();
    store.before_next(Op::commit, [&] { return ignoring(other.cancel(h.id, kAnn)); });
    EXPECT_EQ(complete(engine, h), "succeeded");
}

TEST_F(Step, who_lost_the_lease_in_that_moment_is_told_so) {
    Engine& other = new_engine();
    const domain::Header h = running();
    advance(31s);
    store.before_next(Op::commit, [&] { return ignoring(other.tick(10)); });
    EXPECT_EQ(complete(engine, h), "stale_lease");
    EXPECT_EQ(state(h.id), State::queued);
}

TEST_F(Step, a_conflict_on_one_item_does_not_repeat_the_others) {
    Engine& other = new_engine();
    submit(2);
    const auto tasks = claim(claim_call("default", 2));
    const domain::Header a = tasks[0].record.header, b = tasks[1].record.header;
    store.before_next(Op::commit, [&] { return ignoring(other.pause(a.id, kAnn)); });
    EXPECT_EQ(told(run(engine.complete({completion(a), completion(b)}))),
              (Lines{"succeeded", "succeeded"}));
    EXPECT_EQ(store.items(Op::commit), 2U + 2U + 1U) << "the submit, both, and one again";
}

TEST_F(Step, after_three_conflicts_it_gives_up_as_overloaded_and_has_written_nothing) {
    Engine& other = new_engine();
    const domain::Header h = running();
    int signals = 0;
    store.before_next(
        Op::commit,
        [&] { return ignoring(other.signal(h.id, "s" + std::to_string(++signals), {})); }, 3);
    EXPECT_EQ(complete(engine, h), "overloaded");
    EXPECT_EQ(signals, 3);
    EXPECT_EQ(state(h.id), State::running);
    EXPECT_EQ(complete(engine, h), "succeeded") << "when the others have stopped";
}

// ---- a store that does not answer ----

TEST_F(Step, a_lost_reply_is_recognised_as_our_own_write) {
    const domain::Header h = running();
    store.fail_next(Op::commit, Fault::reply_lost);
    EXPECT_EQ(complete(engine, h), "succeeded") << "and no duplicate: the caller asked once";
    EXPECT_EQ(events(h.id), (std::vector{Event::submitted, Event::claimed, Event::completed}));
}

TEST_F(Step, a_lost_reply_is_recognised_also_where_the_step_could_be_repeated) {
    const domain::Header h = running();
    store.fail_next(Op::commit, Fault::reply_lost);
    EXPECT_EQ(told(run_on(engine.pause(h.id, kAnn))), "running");
    EXPECT_EQ(header(h.id).version, h.version + 1);
    store.fail_next(Op::commit, Fault::reply_lost, 2);
    EXPECT_EQ(told(run_on(engine.signal(h.id, "s", {}))), "running");
    EXPECT_EQ(header(h.id).version, h.version + 2);
}

TEST_F(Step, a_lost_reply_in_a_batch_settles_each_item) {
    submit(3);
    const auto tasks = claim(claim_call("default", 3));
    std::vector<Completion> items;
    for (const ClaimedTask& task : tasks) items.push_back(completion(task.record.header));
    ++items[1].fence.attempt;
    store.fail_next(Op::commit, Fault::reply_lost);
    EXPECT_EQ(told(run_on(engine.complete(items))),
              (Lines{"succeeded", "stale_lease", "succeeded"}));
}

TEST_F(Step, what_a_lost_reply_left_final_wakes_those_who_wait_for_it) {
    const domain::Header h = running();
    const auto waiting = begin(engine.get(h.id, 30s));
    store.fail_next(Op::commit, Fault::reply_lost);
    const auto call = begin(engine.complete({completion(h)}));
    advance(20ms);
    EXPECT_EQ(told(call.answer()), Lines{"succeeded"});
    ASSERT_TRUE(waiting.answered());
    EXPECT_EQ(waiting.answer()->header.state, State::succeeded);
}

TEST_F(Step, a_commit_that_did_not_arrive_is_tried_again) {
    const domain::Header h = running();
    store.fail_next(Op::commit, Fault::never_arrives, 2);
    EXPECT_EQ(complete(engine, h), "succeeded");
}

TEST_F(Step, a_store_that_stays_silent_is_unavailable_and_the_task_is_as_it_was) {
    const domain::Header h = running();
    store.fail_next(Op::commit, Fault::never_arrives, 3);
    EXPECT_EQ(complete(engine, h), "unavailable");
    EXPECT_EQ(header(h.id), h);
    store.fail_next(Op::load, Fault::never_arrives, 3);
    EXPECT_EQ(complete(engine, h), "unavailable");
    EXPECT_EQ(complete(engine, h), "succeeded") << "when it is back";
}

TEST_F(Step, a_load_that_fails_is_tried_again) {
    const domain::Header h = running();
    Engine& other = new_engine(store);
    store.fail_next(Op::load, Fault::never_arrives, 2);
    EXPECT_EQ(complete(other, h), "succeeded");
}

TEST_F(Step, steps_go_on_where_submits_are_shed) {
    Engine& small = new_engine(store, {.most_in_flight = 0});
    EXPECT_EQ(told(run(small.submit({work()}))), Lines{"overloaded"});
    EXPECT_EQ(complete(small, running()), "succeeded") << "ending work makes room";
}

}  // namespace
}  // namespace holdfast::engine
