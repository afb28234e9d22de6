// Two engines on one store, joined by nothing but hints.
#include "coordination/local/local_coordination.h"
#include "testing/engine_fixture.h"

namespace holdfast::testing {
namespace {

using coordination::Hint;

class Neighbours : public EngineTest {
  protected:
    Neighbours() {
        connect(engine, here);
        connect(other, there);
    }
    static void connect(engine::Engine& e, coordination::LocalCoordination& c) {
        e.set_neighbours(&c);
        c.on_hint([&e](const Hint& hint) { e.heard(hint); });
    }
    static engine::ClaimCall waiting(std::string queue = "default") {
        engine::ClaimCall call = claim_call(std::move(queue));
        call.wait = 30s;
        return call;
    }
    /// A poll interval that nothing in these tests waits for.
    engine::Engine& other = new_engine({.poll_interval = 20s, .settings_fresh_for = 1h});
    coordination::LocalHub hub{clock, world().executor()};
    coordination::LocalCoordination here{hub};
    coordination::LocalCoordination there{hub};
};

TEST_F(Neighbours, a_task_submitted_on_one_is_handed_out_on_the_other_without_waiting_for_a_poll) {
    const auto claimed = begin(other.claim(waiting()));
    EXPECT_FALSE(claimed.answered());
    const TaskId id = submit();
    ASSERT_TRUE(claimed.answered());
    EXPECT_EQ(claimed.answer().value().at(0).record.header.id, id);
}

TEST_F(Neighbours, so_is_one_that_is_given_back) {
    const domain::Header h = running();
    const auto claimed = begin(other.claim(waiting()));
    run(engine.yield({{h.id, h.fence(), std::nullopt, false}}));
    ASSERT_TRUE(claimed.answered());
    EXPECT_EQ(claimed.answer().value().at(0).record.header.id, h.id);
}

TEST_F(Neighbours, many_tasks_wake_as_many_workers_and_no_more) {
    const auto first = begin(other.claim(waiting()));
    const auto second = begin(other.claim(waiting()));
    const auto third = begin(other.claim(waiting()));
    submit(2);
    EXPECT_TRUE(first.answered());
    EXPECT_TRUE(second.answered());
    EXPECT_FALSE(third.answered());
}

TEST_F(Neighbours, who_waits_for_a_task_hears_that_it_was_finished_on_the_other) {
    const domain::Header h = running();
    const auto got = begin(other.get(h.id, 30s));
    EXPECT_FALSE(got.answered());
    run(engine.complete({completion(h)}));
    ASSERT_TRUE(got.answered());
    EXPECT_EQ(got.answer().value().header.state, State::succeeded);
}

TEST_F(Neighbours, settings_that_are_changed_on_one_hold_on_the_other_at_once) {
    EXPECT_FALSE(run(other.queue("default")).value().paused);
    run(engine.pause_queue("default", kAnn)).value();
    EXPECT_TRUE(run(other.queue("default")).value().paused);
    const auto claimed = begin(other.claim(waiting()));
    submit();
    EXPECT_FALSE(claimed.answered());
    run(engine.resume_queue("default", kAnn)).value();
    EXPECT_TRUE(claimed.answered());
}

TEST_F(Neighbours, a_cancel_and_a_pause_reach_who_runs_the_task_on_either) {
    Lines told_here, told_there;
    const auto into = [](Lines& lines) {
        return [&lines](const TaskId& id, bool cancel, bool pause) {
            lines.push_back(id.text() + (cancel ? " cancel" : "") + (pause ? " pause" : ""));
        };
    };
    engine.on_request(into(told_here));
    other.on_request(into(told_there));
    const domain::Header h = running();
    run(engine.pause(h.id, kAnn)).value();
    EXPECT_EQ(told_here, Lines{h.id.text() + " pause"});
    EXPECT_EQ(told_there, Lines{h.id.text() + " pause"});
    run(other.cancel(h.id, kAnn)).value();
    EXPECT_EQ(told_there.at(1), h.id.text() + " cancel pause");
    EXPECT_EQ(told_here.at(1), h.id.text() + " cancel");
}

TEST_F(Neighbours, one_that_is_alone_tells_nobody) {
    engine.set_neighbours(nullptr);
    const auto claimed = begin(other.claim(waiting()));
    const TaskId id = submit();
    EXPECT_FALSE(claimed.answered());
    advance(20s);  // the poll is the truth
    ASSERT_TRUE(claimed.answered());
    EXPECT_EQ(claimed.answer().value().at(0).record.header.id, id);
}

TEST_F(Neighbours, nonsense_is_heard_and_nothing_follows) {
    for (const auto of : {Hint::Of::cancel, Hint::Of::task, Hint::Of::queue, Hint::Of::settings,
                          Hint::Of::drain, Hint::Of::instances})
        engine.heard({of, "no such thing", 4'000'000'000});
    EXPECT_EQ(tasks(), 0U);
}

}  // namespace
}  // namespace holdfast::testing
