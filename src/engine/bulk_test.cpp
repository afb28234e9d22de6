// An operator's act on everything that matches: what is done at once, and what a rehearsal says.
#include <cmath>

#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class Bulk : public EngineTest {
  protected:
    static BulkRequest request(BulkAction action, std::string queue = {}) {
        BulkRequest r;
        r.action = action;
        r.filter.queue = std::move(queue);
        r.by = kAnn;
        return r;
    }
    BulkReport bulk(const BulkRequest& r) { return run(engine.bulk(r)).value(); }
    /// One task in every state that a task can stay in, all in queue "zoo".
    void fill_zoo() {
        const domain::Failure transient{domain::ErrorKind::transient, "x", "", ""};
        const auto next = [this] { return running(work("zoo")); };
        const domain::Header done = next(), retrying = next(), asked = next(), paused = next();
        next();  // running
        run(engine.complete({completion(done)}));
        run(engine.fail({{retrying.id, retrying.fence(), transient, 1h}}));
        run(engine.pause(asked.id, kAnn));
        run(engine.yield({{paused.id, paused.fence(), {}, false}}));
        run(engine.pause(paused.id, kAnn));
        suspended(work("zoo"));
        run(engine.cancel(submit(work("zoo")), kAnn));
        run(engine.discard(submit(work("zoo")), kAnn));
        domain::Submission later = work("zoo");
        later.delay = 1h;
        submit(later);
        submit(work("zoo"));
    }
};

TEST_F(Bulk, everything_that_matches_is_acted_on_and_nothing_else) {
    const auto mine = submit(3, work("mine"));
    const auto others = submit(2, work("others"));
    const BulkReport report = bulk(request(BulkAction::cancel, "mine"));
    EXPECT_EQ(report.matched, 3U);
    EXPECT_EQ(report.done, 3U);
    EXPECT_EQ(report.refused_count, 0U);
    EXPECT_EQ(report.state, State::succeeded);
    EXPECT_FALSE(report.bulk_id) << "so few are done at once";
    for (const TaskId& id : mine) {
        EXPECT_EQ(state(id), State::cancelled);
        EXPECT_EQ(history(id).back().actor, "ann");
        EXPECT_EQ(history(id).back().message, "because");
    }
    for (const TaskId& id : others) EXPECT_EQ(state(id), State::queued);
}

TEST_F(Bulk, a_thousand_are_done_at_once) {
    submit(1000, work("q"));
    const BulkReport report = bulk(request(BulkAction::pause, "q"));
    EXPECT_EQ(report.done, 1000U);
    EXPECT_FALSE(report.bulk_id);
    EXPECT_EQ(tasks({State::paused}), 1000U);
}

TEST_F(Bulk, what_could_not_be_done_is_reported_with_its_reason) {
    const domain::Header h = running(work("q"));
    submit(work("q"));
    const BulkReport report = bulk(request(BulkAction::discard, "q"));
    EXPECT_EQ(report.matched, 2U);
    EXPECT_EQ(report.done, 1U);
    EXPECT_EQ(report.refused_count, 1U);
    ASSERT_EQ(report.refused.size(), 1U);
    EXPECT_EQ(report.refused[0].id, h.id);
    EXPECT_EQ(report.refused[0].reason, "the task is running");
    EXPECT_EQ(header(h.id), h);
}

TEST_F(Bulk, the_first_hundred_refusals_are_named_and_all_are_counted) {
    submit(150, work("q"));
    const BulkReport report = bulk(request(BulkAction::resume, "q"));
    EXPECT_EQ(report.refused_count, 150U);
    EXPECT_EQ(report.refused.size(), 100U);
}

TEST_F(Bulk, suspended_tasks_are_resumed_and_count_their_failures_anew) {
    std::vector<TaskId> ids;
    for (int i = 0; i < 3; ++i) ids.push_back(suspended(work("q")).id);
    BulkRequest r = request(BulkAction::resume);
    r.filter.states = {State::suspended};
    EXPECT_EQ(bulk(r).done, 3U);
    for (const TaskId& id : ids) EXPECT_EQ(header(id).retry_count, 0);
}

TEST_F(Bulk, a_limit_is_kept) {
    submit(5, work("q"));
    BulkRequest r = request(BulkAction::cancel, "q");
    r.limit = 2;
    EXPECT_EQ(bulk(r).matched, 2U);
    EXPECT_EQ(tasks({State::cancelled}), 2U);
}

TEST_F(Bulk, a_small_limit_is_done_at_once_however_many_match) {
    submit(1000, work("q"));
    submit(500, work("q"));
    BulkRequest r = request(BulkAction::cancel, "q");
    r.limit = 1000;
    const BulkReport report = bulk(r);
    EXPECT_FALSE(report.bulk_id);
    EXPECT_EQ(report.done, 1000U);
    EXPECT_EQ(tasks({State::cancelled}), 1000U);
}

TEST_F(Bulk, what_others_do_in_between_is_decided_on_again) {
    Engine& other = new_engine();
    const TaskId id = submit(work("q"));
    store.before_next(Op::commit, [&] { return ignoring(other.claim(claim_call("q"))); });
    EXPECT_EQ(bulk(request(BulkAction::cancel, "q")).done, 1U);
    EXPECT_TRUE(header(id).cancel_requested);
}

// ---- rehearsal ----

TEST_F(Bulk, a_dry_run_changes_nothing) {
    fill_zoo();
    const auto before = run(memory.list({}, {}, 1000, 1000)).value();
    for (const BulkAction action :
         {BulkAction::pause, BulkAction::resume, BulkAction::cancel, BulkAction::discard}) {
        BulkRequest r = request(action, "zoo");
        r.dry_run = true;
        EXPECT_EQ(bulk(r).matched, before.rows.size());
    }
    const auto after = run(memory.list({}, {}, 1000, 1000)).value();
    for (std::size_t i = 0; i < before.rows.size(); ++i)
        EXPECT_EQ(before.rows[i].header, after.rows[i].header);
}

class Rehearsal : public Bulk, public ::testing::WithParamInterface<BulkAction> {};

TEST_P(Rehearsal, a_dry_run_predicts_what_is_then_done_and_refused) {
    fill_zoo();
    BulkRequest r = request(GetParam(), "zoo");
    r.dry_run = true;
    const BulkReport predicted = bulk(r);
    r.dry_run = false;
    const BulkReport real = bulk(r);
    EXPECT_EQ(predicted.matched, real.matched);
    EXPECT_EQ(predicted.done, real.done);
    EXPECT_EQ(predicted.refused_count, real.refused_count);
    ASSERT_EQ(predicted.refused.size(), real.refused.size());
    for (std::size_t i = 0; i < real.refused.size(); ++i) {
        EXPECT_EQ(predicted.refused[i].id, real.refused[i].id);
        EXPECT_EQ(predicted.refused[i].reason, real.refused[i].reason);
    }
}

INSTANTIATE_TEST_SUITE_P(Actions, Rehearsal,
                         ::testing::Values(BulkAction::pause, BulkAction::resume,
                                           BulkAction::cancel, BulkAction::discard),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST_F(Bulk, a_dry_run_counts_also_more_than_a_thousand) {
    for (int i = 0; i < 3; ++i) submit(1000, work("q"));
    BulkRequest r = request(BulkAction::cancel, "q");
    r.dry_run = true;
    const BulkReport report = bulk(r);
    EXPECT_EQ(report.matched, 3000U);
    EXPECT_EQ(report.done, 3000U);
    EXPECT_FALSE(report.bulk_id);
    r.limit = 1234;
    EXPECT_EQ(bulk(r).matched, 1234U);
}

// ---- bad input ----

TEST_F(Bulk, bad_input_is_named_and_changes_nothing) {
    submit(work("q"));
    const auto refused = [this](const std::function<void(BulkRequest&)>& spoil) {
        BulkRequest r = request(BulkAction::cancel);
        spoil(r);
        return told(run(engine.bulk(r)));
    };
    EXPECT_EQ(refused([](auto& r) { r.rate = -1; }), "invalid_argument: rate");
    EXPECT_EQ(refused([](auto& r) { r.rate = 1e7; }), "invalid_argument: rate");
    EXPECT_EQ(refused([](auto& r) { r.rate = std::nan(""); }), "invalid_argument: rate");
    EXPECT_EQ(refused([](auto& r) { r.limit = 0; }), "invalid_argument: limit");
    EXPECT_EQ(refused([](auto& r) { r.filter.kind = domain::Kind::queue; }),
              "invalid_argument: filter");
    EXPECT_EQ(refused([](auto& r) { r.filter.queue = "no name"; }), "invalid_argument: queue");
    EXPECT_EQ(refused([](auto& r) { r.by.why.assign(1025, 'x'); }), "invalid_argument: reason");
    EXPECT_EQ(tasks({State::queued}), 1U);
}

TEST_F(Bulk, a_silent_store_is_unavailable) {
    submit(work("q"));
    store.fail_next(Op::list, Fault::never_arrives);
    EXPECT_EQ(told(run(engine.bulk(request(BulkAction::cancel, "q")))), "unavailable");
    EXPECT_EQ(tasks({State::queued}), 1U);
}

TEST_F(Bulk, a_store_that_falls_silent_in_the_middle_is_unavailable_and_no_refusal) {
    submit(work("q"));
    store.fail_next(Op::commit, Fault::never_arrives, 3);
    EXPECT_EQ(told(run_on(engine.bulk(request(BulkAction::cancel, "q")))), "unavailable");
    EXPECT_EQ(tasks({State::queued}), 1U);
}

TEST_F(Bulk, action_names_are_the_words_of_the_api) {
    for (const std::string name : {"resume", "discard", "cancel", "pause"})
        EXPECT_EQ(to_string(bulk_action_from(name).value()), name);
    EXPECT_FALSE(bulk_action_from("delete"));
}

}  // namespace
}  // namespace holdfast::engine
