// Accepting work: who gets a receipt, for what, and what is in the store then.
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class Submit : public EngineTest {
  protected:
    static domain::Submission keyed(std::string key, std::string_view payload = "1") {
        domain::Submission s = work();
        s.idempotency_key = std::move(key);
        s.payload = json(payload);
        return s;
    }
};

TEST_F(Submit, a_receipt_names_a_task_that_is_in_the_store) {
    domain::Submission s = work("mail", "send");
    s.tenant = "acme";
    s.payload = json(R"({"to":"bob"})");
    s.priority = 7;
    const Receipt receipt = run(engine.submit({s})).front().value();
    EXPECT_EQ(receipt.state, State::queued);
    EXPECT_FALSE(receipt.duplicate);
    const domain::Record stored = record(receipt.id);
    EXPECT_EQ(stored.header.state, State::queued);
    EXPECT_EQ(stored.header.queue, "mail");
    EXPECT_EQ(stored.header.type, "send");
    EXPECT_EQ(stored.header.tenant, "acme");
    EXPECT_EQ(stored.header.priority, 7);
    EXPECT_EQ(stored.header.created_at, clock.now());
    EXPECT_EQ(domain::payload_of(stored.body), s.payload);
    EXPECT_EQ(receipt.id.partition(), partition_of("acme"));
    EXPECT_EQ(events(receipt.id), std::vector{Event::submitted});
}

TEST_F(Submit, a_task_for_later_waits) {
    domain::Submission delayed = work(), at = work(), past = work(), at_once = work();
    delayed.delay = 1min;
    at.run_at = clock.now() + 1h;
    past.run_at = clock.now() - 1h;
    at_once.delay = 0s;
    const auto receipts = run(engine.submit({delayed, at, past, at_once}));
    EXPECT_EQ(told(receipts), (Lines{"waiting", "waiting", "queued", "queued"}));
    EXPECT_EQ(header(receipts[0]->id).wake_at, clock.now() + 1min);
    EXPECT_EQ(header(receipts[1]->id).wake_at, clock.now() + 1h);
}

TEST_F(Submit, no_receipt_is_given_before_the_store_has_committed) {
    Alarm disk(clock, world().executor());
    store.before_next(Op::commit, [&] { return ignoring(disk.wait_for(1h)); });
    const auto call = begin(engine.submit({work()}));
    EXPECT_FALSE(call.answered());
    disk.ring();
    world().poll();
    EXPECT_EQ(told(call.answer()), Lines{"queued"});
}

TEST_F(Submit, a_batch_is_one_commit_and_each_item_has_its_own_answer) {
    std::vector<domain::Submission> batch(kLargestBatch, work());
    const auto receipts = run(engine.submit(batch));
    EXPECT_EQ(store.calls(Op::commit), 1U);
    EXPECT_EQ(store.items(Op::commit), kLargestBatch);
    std::set<TaskId> ids;
    for (const auto& receipt : receipts) ids.insert(receipt.value().id);
    EXPECT_EQ(ids.size(), kLargestBatch);
    EXPECT_EQ(tasks(), kLargestBatch);
}

TEST_F(Submit, an_empty_batch_is_answered_without_asking_the_store) {
    EXPECT_TRUE(run(engine.submit({})).empty());
    EXPECT_EQ(store.all_calls(), 0U);
}

TEST_F(Submit, more_than_1000_at_once_are_refused_and_nothing_is_written) {
    const auto answers = run(engine.submit(std::vector(kLargestBatch + 1, work())));
    ASSERT_EQ(answers.size(), kLargestBatch + 1);
    for (const auto& answer : answers) ASSERT_EQ(told(answer), "invalid_argument: items");
    EXPECT_EQ(store.all_calls(), 0U);
}

TEST_F(Submit, bad_items_are_named_by_field_and_only_the_good_ones_are_written) {
    domain::Submission bad_type = work(), bad_queue = work(), bad_delay = work();
    bad_type.type = "";
    bad_queue.queue = "no such name";
    bad_delay.delay = -1s;
    const auto answers = run(engine.submit({bad_type, work(), bad_queue, bad_delay, work()}));
    EXPECT_EQ(told(answers), (Lines{"invalid_argument: type", "queued", "invalid_argument: queue",
                                    "invalid_argument: delay", "queued"}));
    EXPECT_EQ(tasks(), 2U);
    EXPECT_EQ(state(answers[1]->id), State::queued);
    EXPECT_EQ(state(answers[4]->id), State::queued);
}

TEST_F(Submit, every_bad_field_is_named_and_nothing_is_written) {
    struct Row {
        std::string field;
        std::function<void(domain::Submission&)> spoil;
    };
    const std::string long_name(65, 'a');
    const std::vector<Row> rows{
        {"type", [&](auto& s) { s.type = long_name; }},
        {"queue", [&](auto& s) { s.queue = long_name; }},
        {"tenant", [](auto& s) { s.tenant = "a/b"; }},
        {"priority", [](auto& s) { s.priority = 10; }},
        {"labels", [](auto& s) { s.labels.resize(17, {"k", "v"}); }},
        {"labels.k", [](auto& s) { s.labels = {{"k", "line\nbreak"}}; }},
        {"labels.no way", [](auto& s) { s.labels = {{"no way", "v"}}; }},
        {"idempotency_key", [](auto& s) { s.idempotency_key.assign(256, 'k'); }},
        {"traceparent", [](auto& s) { s.traceparent = "00-xyz"; }},
        {"delay",
         [this](auto& s) {
             s.delay = 1s;
             s.run_at = clock.now();
         }},
        {"run_at", [this](auto& s) { s.run_at = clock.now() + std::chrono::days{4000}; }},
        {"lease", [](auto& s) { s.lease = 999ms; }},
        {"lease", [](auto& s) { s.lease = 25h; }},
        {"retry.max", [](auto& s) { s.policy.max = 1001; }},
        {"concurrency.key", [](auto& s) { s.gate = "no way"; }},
        {"concurrency.limit",
         [](auto& s) {
             s.gate = "g";
             s.gate_limit = domain::kLargestGate + 1;
         }},
    };
    for (const Row& row : rows) {
        domain::Submission s = work();
        row.spoil(s);
        EXPECT_EQ(told(run(engine.submit({s})).front()), "invalid_argument: " + row.field);
    }
    EXPECT_EQ(store.calls(Op::commit), 0U);
}

// ---- idempotency ----

TEST_F(Submit, the_same_key_and_body_give_the_same_task_in_the_state_it_has_now) {
    const TaskId id = submit(keyed("k"));
    auto again = run(engine.submit({keyed("k")})).front().value();
    EXPECT_EQ(again.id, id);
    EXPECT_EQ(told(Result<Receipt>(again)), "queued again");
    const domain::Header h = claim_one();
    EXPECT_EQ(told(run(engine.submit({keyed("k")})).front()), "running again");
    run(engine.complete({completion(h)}));
    EXPECT_EQ(told(run(new_engine().submit({keyed("k")})).front()), "succeeded again");
    EXPECT_EQ(tasks(), 1U);
}

TEST_F(Submit, the_same_key_with_another_body_is_a_conflict_and_writes_nothing) {
    const TaskId id = submit(keyed("k", R"({"a":1,"b":2})"));
    EXPECT_EQ(told(run(engine.submit({keyed("k", R"({"a":1,"b":3})")})).front()),
              "conflict: idempotency_key");
    EXPECT_EQ(run(engine.submit({keyed("k", R"({ "b": 2, "a": 1 })")})).front().value().id, id)
        << "the same body, written otherwise";
    EXPECT_EQ(tasks(), 1U);
}

TEST_F(Submit, a_key_that_comes_twice_in_one_batch_makes_one_task) {
    const auto answers = run(engine.submit({keyed("k"), keyed("k"), keyed("k", "2"), keyed("l")}));
    EXPECT_EQ(told(answers),
              (Lines{"queued", "queued again", "conflict: idempotency_key", "queued"}));
    EXPECT_EQ(answers[0]->id, answers[1]->id);
    EXPECT_EQ(tasks(), 2U);
}

TEST_F(Submit, a_key_belongs_to_its_tenant) {
    domain::Submission acme = keyed("k"), other = keyed("k", "2");
    acme.tenant = "acme";
    other.tenant = "other";
    EXPECT_EQ(told(run(engine.submit({acme, other, keyed("k", "3")}))),
              (Lines{"queued", "queued", "queued"}));
    EXPECT_EQ(tasks(), 3U);
}

TEST_F(Submit, a_key_is_free_again_after_a_day) {
    const TaskId id = submit(keyed("k"));
    advance(24h - 1us);
    EXPECT_EQ(told(run(engine.submit({keyed("k")})).front()), "queued again");
    advance(1us);
    const Receipt fresh = run(engine.submit({keyed("k", "2")})).front().value();
    EXPECT_FALSE(fresh.duplicate);
    EXPECT_NE(fresh.id, id);
}

TEST_F(Submit, a_duplicate_whose_state_cannot_be_read_is_not_vouched_for) {
    submit(keyed("k"));
    store.fail_next(Op::load, Fault::never_arrives);
    EXPECT_EQ(told(run(engine.submit({keyed("k"), work()}))), (Lines{"unavailable", "queued"}));
}

// ---- shedding ----

TEST_F(Submit, a_closed_queue_takes_nothing_in_and_the_others_do) {
    run(engine.close_queue("shut", kAnn));
    EXPECT_EQ(told(run(engine.submit({work("shut"), work("open"), work("shut")}))),
              (Lines{"overloaded", "queued", "overloaded"}));
    EXPECT_EQ(tasks({}, "shut"), 0U);
    run(engine.open_queue("shut", kAnn));
    EXPECT_EQ(told(run(engine.submit({work("shut")}))), Lines{"queued"});
}

TEST_F(Submit, a_queue_closed_through_another_engine_takes_nothing_in_within_half_a_second) {
    Engine& other = new_engine();
    EXPECT_EQ(told(run(engine.submit({work("q")}))), Lines{"queued"});
    run(other.close_queue("q", kAnn));
    advance(Options{}.settings_fresh_for);
    EXPECT_EQ(told(run(engine.submit({work("q")}))), Lines{"overloaded"});
}

TEST_F(Submit, beyond_the_bound_of_what_is_being_written_it_is_shed) {
    Engine& small = new_engine(store, {.most_in_flight = 2});
    Alarm disk(clock, world().executor());
    store.before_next(Op::commit, [&] { return ignoring(disk.wait_for(1h)); });
    const auto first = begin(small.submit({work()}));
    EXPECT_EQ(told(run(small.submit({work(), work()}))), (Lines{"overloaded", "overloaded"}));
    EXPECT_EQ(told(run(small.submit({work()}))), Lines{"queued"});
    disk.ring();
    world().poll();
    EXPECT_EQ(told(first.answer()), Lines{"queued"});
    EXPECT_EQ(told(run(small.submit({work(), work()}))), (Lines{"queued", "queued"}))
        << "what was written makes room";
    EXPECT_EQ(tasks(), 4U);
}

TEST_F(Submit, a_batch_larger_than_the_bound_is_shed_whole) {
    Engine& small = new_engine(store, {.most_in_flight = 2});
    EXPECT_EQ(told(run(small.submit(std::vector(3, work())))), Lines(3, "overloaded"));
    EXPECT_EQ(store.all_calls(), 0U);
}

// ---- a store that does not answer ----

TEST_F(Submit, a_lost_reply_is_recognised_and_the_task_is_not_made_twice) {
    store.fail_next(Op::commit, Fault::reply_lost);
    const auto answers = run_on(engine.submit({work(), keyed("k")}));
    EXPECT_EQ(told(answers), (Lines{"queued", "queued"})) << "our own write is no duplicate";
    EXPECT_EQ(store.calls(Op::commit), 2U);
    EXPECT_EQ(tasks(), 2U);
    for (const auto& answer : answers) EXPECT_EQ(events(answer->id), std::vector{Event::submitted});
}

TEST_F(Submit, after_a_lost_reply_a_key_that_came_twice_still_makes_one_task) {
    store.fail_next(Op::commit, Fault::reply_lost, 2);
    EXPECT_EQ(told(run_on(engine.submit({keyed("k"), keyed("k"), keyed("k", "2")}))),
              (Lines{"queued", "queued again", "conflict: idempotency_key"}));
    EXPECT_EQ(tasks(), 1U);
}

TEST_F(Submit, a_commit_that_did_not_arrive_is_tried_again) {
    store.fail_next(Op::commit, Fault::never_arrives, 2);
    EXPECT_EQ(told(run_on(engine.submit({work()}))), Lines{"queued"});
    EXPECT_EQ(tasks(), 1U);
}

TEST_F(Submit, a_store_that_stays_silent_is_unavailable_and_nothing_is_accepted) {
    store.fail_next(Op::commit, Fault::never_arrives, 100);
    EXPECT_EQ(told(run_on(engine.submit({work(), work()}))), (Lines{"unavailable", "unavailable"}));
    EXPECT_EQ(store.calls(Op::commit), 3U) << "a bounded number of tries";
    EXPECT_EQ(tasks(), 0U);
}

TEST_F(Submit, settings_that_cannot_be_read_let_nothing_in) {
    store.fail_next(Op::load, Fault::never_arrives);
    EXPECT_EQ(told(run(engine.submit({work()}))), Lines{"unavailable"});
    EXPECT_EQ(store.calls(Op::commit), 0U);
}

}  // namespace
}  // namespace holdfast::engine
