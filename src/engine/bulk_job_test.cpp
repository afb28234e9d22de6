// An act on very many: a job that goes on by ticks, keeps its place, and can be paused and stopped.
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;
using Control = Engine::BulkControl;

class BulkJobTest : public EngineTest {
  protected:
    static BulkRequest cancel_all(std::string queue = "q") {
        BulkRequest r;
        r.action = BulkAction::cancel;
        r.filter.queue = std::move(queue);
        r.by = kAnn;
        return r;
    }
    void fill(std::size_t thousands, const std::string& queue = "q") {
        for (std::size_t i = 0; i < thousands; ++i) submit(1000, work(queue));
    }
    Uuid begin_job(const BulkRequest& r) { return run(engine.bulk(r)).value().bulk_id.value(); }
    BulkReport report(const Uuid& job) { return run(engine.bulk_report(job)).value(); }
    std::size_t cancelled() { return tasks({State::cancelled}); }
    void tick_until_done(Engine& by, const Uuid& job) {
        for (int i = 0; i < 100 && report(job).state == State::running; ++i) {
            advance(1ms);
            run(by.tick(10));
        }
    }
};

TEST_F(BulkJobTest, more_than_a_thousand_become_a_job_that_ticks_bring_to_its_end) {
    fill(2);
    submit(500, work("q"));
    const BulkReport promised = run(engine.bulk(cancel_all())).value();
    ASSERT_TRUE(promised.bulk_id);
    EXPECT_EQ(promised.state, State::running);
    EXPECT_EQ(promised.matched, 0U);
    EXPECT_EQ(promised.expected, 2500U);
    EXPECT_EQ(cancelled(), 0U) << "nothing is done before the first tick";
    const Uuid job = *promised.bulk_id;
    run(engine.tick(10));
    EXPECT_EQ(cancelled(), 500U) << "a page at a time";
    EXPECT_EQ(report(job).done, 500U);
    EXPECT_EQ(report(job).expected, 2500U) << "it is kept with the job";
    tick_until_done(engine, job);
    EXPECT_EQ(report(job).state, State::succeeded);
    EXPECT_EQ(report(job).matched, 2500U);
    EXPECT_EQ(report(job).done, 2500U);
    EXPECT_EQ(report(job).bulk_id, job);
    EXPECT_EQ(cancelled(), 2500U);
    advance(1h);
    EXPECT_EQ(run(engine.tick(10)).value(), 0U) << "a job that is over has no timer";
}

TEST_F(BulkJobTest, a_job_survives_the_engine_that_began_it) {
    fill(2);
    const Uuid job = begin_job(cancel_all());
    run(engine.tick(10));
    Engine& heir = new_engine();
    tick_until_done(heir, job);
    EXPECT_EQ(report(job).done, 2000U) << "every task once, none forgotten";
    EXPECT_EQ(cancelled(), 2000U);
    EXPECT_EQ(history({domain::Kind::task, run(memory.list({}, {}, 1, 1))->rows[0].header.id})
                  .back()
                  .actor,
              "ann")
        << "who asked is not forgotten either";
}

TEST_F(BulkJobTest, a_page_whose_place_could_not_be_saved_is_done_over) {
    fill(2);
    const Uuid job = begin_job(cancel_all());
    store.fail_next(Op::commit, Fault::none);           // the acts …
    store.fail_next(Op::commit, Fault::never_arrives);  // … and the job's place
    run(engine.tick(10));
    EXPECT_EQ(cancelled(), 500U);
    EXPECT_EQ(report(job).done, 0U);
    advance(stores::kDuePush);
    tick_until_done(engine, job);
    EXPECT_EQ(report(job).state, State::succeeded);
    EXPECT_EQ(report(job).done, 2000U);
    EXPECT_EQ(cancelled(), 2000U);
}

TEST_F(BulkJobTest, tasks_of_which_the_store_did_not_answer_are_not_passed_over) {
    fill(2);
    const Uuid job = begin_job(cancel_all());
    store.fail_next(Op::commit, Fault::never_arrives, 3);  // all tries of the acts, then it is back
    run_on(engine.tick(10));
    EXPECT_EQ(report(job).matched, 0U);
    advance(stores::kDuePush);
    tick_until_done(engine, job);
    EXPECT_EQ(report(job).done, 2000U);
    EXPECT_EQ(report(job).refused_count, 0U);
}

TEST_F(BulkJobTest, only_what_existed_at_the_request_is_meant) {
    fill(2);
    const Uuid job = begin_job(cancel_all());
    advance(1ms);
    const TaskId newcomer = submit(work("q"));
    tick_until_done(engine, job);
    EXPECT_EQ(report(job).matched, 2000U);
    EXPECT_EQ(state(newcomer), State::queued);
}

TEST_F(BulkJobTest, its_whole_filter_is_remembered) {
    fill(1);
    domain::Submission marked = work("q", "special");
    marked.tenant = "acme";
    marked.labels = {{"k", "v"}};
    submit(700, marked);
    submit(700, marked);
    BulkRequest r = cancel_all();
    r.filter.type = "special";
    r.filter.tenant = "acme";
    r.filter.labels = {"k=v"};
    r.filter.states = {State::queued, State::waiting};
    r.filter.since = clock.now() - 1h;
    const Uuid job = begin_job(r);
    tick_until_done(new_engine(), job);
    EXPECT_EQ(report(job).done, 1400U);
    EXPECT_EQ(cancelled(), 1400U);
}

TEST_F(BulkJobTest, a_limit_beyond_a_thousand_is_kept) {
    fill(3);
    BulkRequest r = cancel_all();
    r.limit = 1700;
    const Uuid job = begin_job(r);
    tick_until_done(engine, job);
    EXPECT_EQ(report(job).matched, 1700U);
    EXPECT_EQ(cancelled(), 1700U);
}

TEST_F(BulkJobTest, a_rate_spreads_the_acts_over_time) {
    submit(10, work("q"));
    BulkRequest r = cancel_all();
    r.rate = 2;
    const Uuid job = begin_job(r);  // a rate makes a job also of few
    run(engine.tick(10));
    EXPECT_EQ(cancelled(), 2U);
    advance(1s - 1us);
    run(engine.tick(10));
    EXPECT_EQ(cancelled(), 2U);
    advance(1us);
    run(engine.tick(10));
    EXPECT_EQ(cancelled(), 4U);
    for (int i = 0; i < 4; ++i) {
        advance(1s);
        run(engine.tick(10));
    }
    EXPECT_EQ(cancelled(), 10U);
    EXPECT_EQ(report(job).state, State::succeeded);
}

TEST_F(BulkJobTest, a_rate_below_one_per_second_acts_on_one_at_a_time) {
    submit(3, work("q"));
    BulkRequest r = cancel_all();
    r.rate = 0.5;
    begin_job(r);
    run(engine.tick(10));
    EXPECT_EQ(cancelled(), 1U);
    advance(1s);
    run(engine.tick(10));
    EXPECT_EQ(cancelled(), 1U);
    advance(1s);
    run(engine.tick(10));
    EXPECT_EQ(cancelled(), 2U);
}

// ---- control ----

TEST_F(BulkJobTest, a_paused_job_stands_still_and_goes_on_where_it_was) {
    fill(2);
    const Uuid job = begin_job(cancel_all());
    run(engine.tick(10));
    EXPECT_EQ(run(engine.control_bulk(job, Control::pause, kAnn)).value().state, State::paused);
    advance(1h);
    EXPECT_EQ(run(engine.tick(10)).value(), 0U);
    EXPECT_EQ(cancelled(), 500U);
    EXPECT_EQ(told(run(engine.control_bulk(job, Control::pause, kAnn))), "wrong_state");
    EXPECT_EQ(run(new_engine().control_bulk(job, Control::resume, kAnn)).value().state,
              State::running);
    tick_until_done(engine, job);
    EXPECT_EQ(report(job).done, 2000U);
}

TEST_F(BulkJobTest, a_stopped_job_never_goes_on) {
    fill(2);
    const Uuid job = begin_job(cancel_all());
    run(engine.tick(10));
    EXPECT_EQ(run(engine.control_bulk(job, Control::stop, kAnn)).value().state, State::cancelled);
    advance(1h);
    run(engine.tick(10));
    EXPECT_EQ(cancelled(), 500U);
    for (const Control control : {Control::pause, Control::resume, Control::stop})
        EXPECT_EQ(told(run(engine.control_bulk(job, control, kAnn))), "wrong_state");
    EXPECT_EQ(report(job).done, 500U);
}

TEST_F(BulkJobTest, a_paused_job_can_be_stopped) {
    fill(2);
    const Uuid job = begin_job(cancel_all());
    run(engine.control_bulk(job, Control::pause, kAnn));
    EXPECT_EQ(run(engine.control_bulk(job, Control::stop, kAnn)).value().state, State::cancelled);
}

TEST_F(BulkJobTest, a_stop_in_the_middle_of_a_page_is_not_overwritten) {
    Engine& other = new_engine();
    fill(2);
    const Uuid job = begin_job(cancel_all());
    store.before_next(Op::list,
                      [&] { return ignoring(other.control_bulk(job, Control::stop, kAnn)); });
    run(engine.tick(10));
    EXPECT_EQ(report(job).state, State::cancelled);
    advance(1h);
    run(engine.tick(10));
    EXPECT_EQ(cancelled(), 500U) << "the page that was under way, and no more";
}

TEST_F(BulkJobTest, what_was_done_to_a_job_is_kept_with_who_and_why) {
    fill(2);
    const Uuid job = begin_job(cancel_all());
    run(engine.tick(10));
    run(engine.control_bulk(job, Control::stop, {"bob", "enough"}));
    const auto rows = history(domain::Key{domain::Kind::bulk, job});
    ASSERT_EQ(rows.size(), 2U) << "single pages are not";
    EXPECT_EQ(rows[0].event, Event::submitted);
    EXPECT_EQ(rows[0].actor, "ann");
    EXPECT_EQ(rows[1].event, Event::cancelled);
    EXPECT_EQ(rows[1].actor, "bob");
    EXPECT_EQ(rows[1].message, "enough");
}

TEST_F(BulkJobTest, an_unknown_job_is_not_found_and_bad_input_is_named) {
    const Uuid nothing = Uuid::named(Partition{1}, "nothing");
    EXPECT_EQ(told(run(engine.bulk_report(nothing))), "not_found");
    EXPECT_EQ(told(run(engine.control_bulk(nothing, Control::stop, kAnn))), "not_found");
    EXPECT_EQ(told(run(engine.bulk_report(submit()))), "not_found") << "a task is no job";
    fill(2);
    const Uuid job = begin_job(cancel_all());
    EXPECT_EQ(told(run(engine.control_bulk(job, Control::stop, {"ann", std::string(1025, 'x')}))),
              "invalid_argument: reason");
    EXPECT_EQ(report(job).state, State::running);
}

}  // namespace
}  // namespace holdfast::engine
