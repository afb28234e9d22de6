// The doctor finds damage that a sound store never has, and no other.
#include "engine/services.h"
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

/// Shows damage that a sound store never has.
class LyingStore : public WatchedStore {
  public:
    using WatchedStore::WatchedStore;
    std::function<void(stores::ListRow&)> damage_row = [](stores::ListRow&) {};
    std::function<void(stores::Stats&)> damage_stats = [](stores::Stats&) {};

    Async<Result<stores::Page>> list(stores::Filter filter, std::string cursor, std::size_t limit,
                                     std::size_t budget) override {
        auto page =
            co_await WatchedStore::list(std::move(filter), std::move(cursor), limit, budget);
        if (page) std::ranges::for_each(page->rows, damage_row);
        co_return page;
    }
    Async<Result<stores::Stats>> stats() override {
        auto stats = co_await WatchedStore::stats();
        if (stats) damage_stats(*stats);
        co_return stats;
    }
};

class DoctorTest : public EngineTest {
  protected:
    static domain::Submission later(Duration delay) {
        domain::Submission s = work();
        s.delay = delay;
        return s;
    }
    LyingStore lying{memory};
    Engine& patient = new_engine(lying);
    Doctor doctor{patient};

    const Diagnosis& examine() {
        run(doctor.run_once()).value();
        return doctor.diagnosis();
    }
};

TEST_F(DoctorTest, a_sound_store_is_healthy_in_every_state) {
    const domain::Header h = running(), r = running();
    run(engine.fail({{r.id, r.fence(), {domain::ErrorKind::transient, "x", "", ""}, {}}}));
    run(engine.complete({completion(h)}));
    suspended();
    running();
    submit(later(1h));
    run(engine.pause(submit(), kAnn));
    submit(1000);
    const Diagnosis& found = examine();
    EXPECT_TRUE(found.healthy());
    EXPECT_EQ(found.examined, 1005U) << "every unfinished task, over several pages";
}

TEST_F(DoctorTest, a_queued_task_that_stands_in_no_lane_is_found) {
    const TaskId id = submit();
    submit(later(1h));
    lying.damage_row = [](auto& row) { row.in_lane = false; };
    const Diagnosis& found = examine();
    EXPECT_EQ(found.misplaced, std::vector{id});
    EXPECT_EQ(found.without_wake_source, std::vector{id});
    EXPECT_FALSE(found.healthy());
}

TEST_F(DoctorTest, a_task_in_a_lane_that_is_not_queued_is_found) {
    const TaskId id = running().id;
    lying.damage_row = [](auto& row) { row.in_lane = true; };
    EXPECT_EQ(examine().misplaced, std::vector{id});
}

TEST_F(DoctorTest, a_task_that_nothing_will_ever_wake_is_found) {
    const TaskId held = running().id, waiting = submit(later(1h));
    suspended(work("s"));
    lying.damage_row = [](auto& row) { row.header.wake_at = kNoTime; };
    const auto& lost = examine().without_wake_source;
    EXPECT_EQ((std::set<TaskId>(lost.begin(), lost.end())), (std::set<TaskId>{held, waiting}))
        << "and a task parked for a person is not among them";
}

TEST_F(DoctorTest, a_timer_that_nobody_answers_is_found_after_a_minute) {
    const TaskId id = submit(later(1s));
    advance(1min + 1s);
    EXPECT_TRUE(examine().healthy());
    advance(1us);
    EXPECT_EQ(examine().overdue, std::vector{id});
    run(engine.tick(10));
    EXPECT_TRUE(examine().healthy());
}

TEST_F(DoctorTest, counts_that_disagree_with_the_records_are_found) {
    submit(3, work("q", "t"));
    lying.damage_stats = [](auto& s) {
        ++s.queues.at(0).by_state[static_cast<std::size_t>(State::queued)];
    };
    EXPECT_EQ(examine().miscounted, Lines{"q/t queued"});
    lying.damage_stats = [](auto& s) { s.queues.clear(); };
    EXPECT_EQ(examine().miscounted, Lines{"q/t queued"}) << "not counted at all";
    lying.damage_stats = [](auto& s) {
        s.queues.push_back({"ghost", "t", {}});
        s.queues.back().by_state[static_cast<std::size_t>(State::running)] = 1;
    };
    EXPECT_EQ(examine().miscounted, Lines{"ghost/t running"}) << "counted, and not there";
    lying.damage_stats = [](auto&) {};
    EXPECT_TRUE(examine().healthy()) << "a diagnosis is of now, not of then";
}

TEST_F(DoctorTest, what_moves_while_the_doctor_looks_is_no_damage) {
    submit(3, work("q", "t"));
    lying.before_next(Op::list, [this] { return ignoring(engine.claim(claim_call("q"))); });
    EXPECT_TRUE(examine().healthy());
}

TEST_F(DoctorTest, a_store_that_falls_silent_leaves_the_last_diagnosis) {
    submit();
    examine();
    lying.fail_next(Op::list, Fault::never_arrives);
    EXPECT_EQ(told(run(doctor.run_once())), "unavailable");
    EXPECT_EQ(doctor.diagnosis().examined, 1U);
}

}  // namespace
}  // namespace holdfast::engine
