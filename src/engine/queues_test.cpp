// What operators set about queues: kept in the store, audited, and soon known everywhere.
#include <cmath>

#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class QueuesTest : public EngineTest {
  protected:
    QueueSettings settings(Engine& by, std::string name = "q") {
        return run(by.queue(std::move(name))).value();
    }
};

TEST_F(QueuesTest, a_queue_nobody_touched_has_the_defaults) {
    EXPECT_EQ(settings(engine), QueueSettings{});
    EXPECT_EQ(store.calls(Op::commit), 0U);
}

TEST_F(QueuesTest, each_setting_is_answered_and_leaves_the_others_as_they_are) {
    EXPECT_EQ(run(engine.pause_queue("q", kAnn)).value(), QueueSettings{.paused = true});
    EXPECT_EQ(run(engine.close_queue("q", kAnn)).value(),
              (QueueSettings{.paused = true, .closed = true}));
    EXPECT_EQ(run(engine.set_lanes_by_type("q", true, kAnn)).value(),
              (QueueSettings{.paused = true, .closed = true, .lanes_by_type = true}));
    EXPECT_EQ(run(engine.limit_queue("q", 7, 2.5, kAnn)).value(),
              (QueueSettings{true, true, true, 7, 2.5}));
    EXPECT_EQ(run(engine.resume_queue("q", kAnn)).value(),
              (QueueSettings{false, true, true, 7, 2.5}));
    EXPECT_EQ(run(engine.open_queue("q", kAnn)).value(),
              (QueueSettings{false, false, true, 7, 2.5}));
    EXPECT_EQ(settings(engine, "other"), QueueSettings{});
}

TEST_F(QueuesTest, settings_outlive_the_engine_that_made_them) {
    run(engine.limit_queue("q", 3, 0.5, kAnn));
    run(engine.pause_queue("q", kAnn));
    EXPECT_EQ(settings(new_engine()),
              (QueueSettings{.paused = true, .concurrency = 3, .rate = 0.5}));
}

TEST_F(QueuesTest, every_change_is_kept_with_who_and_why) {
    run(engine.pause_queue("q", {"ann", "too hot"}));
    advance(1s);
    run(new_engine().limit_queue("q", 1, 0, {"bob", "one at a time"}));
    const auto rows = history(queue_key("q"));
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].actor, "ann");
    EXPECT_EQ(rows[0].message, "too hot");
    EXPECT_EQ(rows[0].event, Event::paused);
    EXPECT_EQ(rows[1].actor, "bob");
    EXPECT_EQ(rows[1].message, "one at a time");
    EXPECT_EQ(rows[1].at, clock.now());
}

TEST_F(QueuesTest, settings_are_read_once_per_half_second) {
    settings(engine);
    store.forget_calls();
    settings(engine);
    run(engine.submit({work("q")}));
    EXPECT_EQ(store.calls(Op::load), 0U);
    advance(Options{}.settings_fresh_for);
    settings(engine);
    EXPECT_EQ(store.calls(Op::load), 1U);
}

TEST_F(QueuesTest, several_queues_are_read_in_one_load) {
    std::vector<domain::Submission> batch;
    for (int i = 0; i < 20; ++i) batch.push_back(work("q" + std::to_string(i % 10)));
    run(engine.submit(batch));
    EXPECT_EQ(store.calls(Op::load), 1U);
    EXPECT_EQ(store.items(Op::load), 10U);
}

TEST_F(QueuesTest, two_operators_at_once_do_not_undo_each_other) {
    Engine& other = new_engine();
    store.before_next(Op::commit, [&] { return ignoring(other.limit_queue("q", 5, 0, kAnn)); });
    EXPECT_EQ(run(engine.pause_queue("q", kAnn)).value(),
              (QueueSettings{.paused = true, .concurrency = 5}));
    EXPECT_EQ(history(queue_key("q")).size(), 2U);
}

TEST_F(QueuesTest, after_three_conflicts_it_gives_up_as_overloaded) {
    Engine& other = new_engine();
    store.before_next(Op::commit, [&] { return ignoring(other.limit_queue("q", 5, 0, kAnn)); }, 3);
    EXPECT_EQ(told(run(engine.pause_queue("q", kAnn))), "overloaded");
    EXPECT_FALSE(settings(new_engine()).paused);
}

TEST_F(QueuesTest, a_silent_store_is_unavailable_and_nothing_is_taken_as_set) {
    store.fail_next(Op::commit, Fault::never_arrives);
    EXPECT_EQ(told(run(engine.pause_queue("q", kAnn))), "unavailable");
    EXPECT_FALSE(settings(engine).paused);
    store.fail_next(Op::load, Fault::never_arrives);
    EXPECT_EQ(told(run(engine.pause_queue("q", kAnn))), "unavailable");
}

TEST_F(QueuesTest, bad_input_is_named_and_writes_nothing) {
    const By too_long{"ann", std::string(1025, 'x')};
    EXPECT_EQ(told(run(engine.pause_queue("no name", kAnn))), "invalid_argument: queue");
    EXPECT_EQ(told(run(engine.resume_queue("", kAnn))), "invalid_argument: queue");
    EXPECT_EQ(told(run(engine.queue(std::string(65, 'q')))), "invalid_argument: queue");
    EXPECT_EQ(told(run(engine.close_queue("q", too_long))), "invalid_argument: reason");
    EXPECT_EQ(told(run(engine.open_queue("q", too_long))), "invalid_argument: reason");
    EXPECT_EQ(told(run(engine.limit_queue("q", 1, -1, kAnn))), "invalid_argument: rate");
    EXPECT_EQ(told(run(engine.limit_queue("q", 1, 1e7, kAnn))), "invalid_argument: rate");
    EXPECT_EQ(told(run(engine.limit_queue("q", 1, std::nan(""), kAnn))), "invalid_argument: rate");
    EXPECT_EQ(told(run(engine.set_lanes_by_type("no name", true, kAnn))),
              "invalid_argument: queue");
    EXPECT_EQ(store.calls(Op::commit), 0U);
}

}  // namespace
}  // namespace holdfast::engine
