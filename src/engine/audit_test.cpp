// What operators do leaves a trace: with the act, in the same commit, or not at all.
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class AuditTest : public EngineTest {
  protected:
    std::vector<domain::AuditEntry> entries(AuditFilter filter = {}) {
        return run(engine.audit(std::move(filter))).value().entries;
    }
    /// "who action target", newest first.
    std::vector<std::string> acts(AuditFilter filter = {}) {
        std::vector<std::string> lines;
        for (const domain::AuditEntry& entry : entries(std::move(filter)))
            lines.push_back(entry.act.by.who + ' ' + entry.act.action + ' ' + entry.act.target);
        return lines;
    }
    const By bob{"bob", "because", "10.0.0.7"};
};

TEST_F(AuditTest, each_act_on_a_task_is_kept_with_who_why_where_and_when) {
    const TaskId id = submit();
    run(engine.pause(id, bob));
    advance(1s);
    run(engine.resume(id, bob, Json::quoted("new")));
    advance(1s);
    run(engine.cancel(id, bob));
    const std::string task = "task:" + id.text();
    EXPECT_EQ(acts(),
              (std::vector<std::string>{"bob task.cancel " + task, "bob task.resume " + task,
                                        "bob task.pause " + task}));
    const auto newest = entries().front();
    EXPECT_EQ(newest.act.by.why, "because");
    EXPECT_EQ(newest.act.by.address, "10.0.0.7");
    EXPECT_EQ(newest.at, engine.now());
    EXPECT_EQ(entries()[1].act.detail.text(), R"({"payload":"replaced"})");
}

TEST_F(AuditTest, an_act_that_was_refused_left_no_trace) {
    const TaskId id = submit();
    run(engine.cancel(id, bob));
    EXPECT_EQ(told(run(engine.discard(id, bob))), "wrong_state");
    run(engine.cancel(id, bob));  // again: nothing is done
    EXPECT_EQ(told(run(engine.cancel(Uuid{1, 2}, bob))), "not_found");
    EXPECT_EQ(acts().size(), 1U);
}

TEST_F(AuditTest, an_act_whose_commit_failed_left_no_trace_and_one_that_was_repeated_left_one) {
    const TaskId id = submit();
    store.fail_next(Op::commit, Fault::never_arrives, 3);
    EXPECT_FALSE(run_on(engine.cancel(id, bob)));
    EXPECT_TRUE(entries().empty());
    store.fail_next(Op::commit, Fault::reply_lost);
    EXPECT_TRUE(run_on(engine.cancel(id, bob)));
    EXPECT_EQ(acts().size(), 1U);
}

TEST_F(AuditTest, a_signal_is_kept_when_somebody_says_whose_it_is) {
    const TaskId id = submit();
    run(engine.signal(id, "s1", Json{}));
    EXPECT_TRUE(entries().empty());
    run(engine.signal(id, "s2", Json{}, bob));
    EXPECT_EQ(entries().front().act.detail.text(), R"({"signal":"s2"})");
}

TEST_F(AuditTest, what_is_done_to_queues_is_kept) {
    run(engine.pause_queue("q", bob));
    advance(1s);
    run(engine.limit_queue("q", 3, 0.5, bob));
    EXPECT_EQ(acts(),
              (std::vector<std::string>{"bob queue.limits queue:q", "bob queue.pause queue:q"}));
    EXPECT_EQ(entries().front().act.detail.text(), R"({"concurrency":3,"rate":0.5})");
}

TEST_F(AuditTest, a_queue_knows_who_paused_it_first_until_it_is_resumed) {
    run(engine.pause_queue("q", bob));
    const Time paused_at = engine.now();
    advance(1s);
    const auto again = run(engine.pause_queue("q", kAnn)).value();
    ASSERT_TRUE(again.paused_by);
    EXPECT_EQ(again.paused_by->by, "bob");
    EXPECT_EQ(again.paused_by->reason, "because");
    EXPECT_EQ(again.paused_by->at, paused_at);
    EXPECT_FALSE(again.closed_by);
    EXPECT_EQ(run(new_engine().queue("q"))->paused_by->by, "bob");
    EXPECT_FALSE(run(engine.resume_queue("q", bob))->paused_by);
    EXPECT_EQ(run(engine.close_queue("q", bob))->closed_by->by, "bob");
}

TEST_F(AuditTest, a_bulk_leaves_one_entry_for_the_whole) {
    for (int i = 0; i < 5; ++i) submit();
    BulkRequest request;
    request.action = BulkAction::cancel;
    request.filter.queue = "default";
    request.q = "-state:running";
    request.by = bob;
    request.dry_run = true;
    run(engine.bulk(request));
    EXPECT_TRUE(entries().empty());
    request.dry_run = false;
    EXPECT_EQ(run(engine.bulk(request))->done, 5U);
    ASSERT_EQ(acts(), std::vector<std::string>{"bob bulk.start tasks"});
    EXPECT_EQ(
        entries().front().act.detail.text(),
        R"({"action":"cancel","filter":{"queue":"default"},"q":"-state:running","matched":5})");
}

TEST_F(AuditTest, a_job_is_kept_with_its_start_and_with_each_control) {
    for (int i = 0; i < 5; ++i) submit();
    BulkRequest request;
    request.action = BulkAction::cancel;
    request.rate = 1;
    request.by = bob;
    const Uuid job = run(engine.bulk(request))->bulk_id.value();
    advance(1s);
    run(engine.control_bulk(job, Engine::BulkControl::pause, kAnn));
    advance(1s);
    run(engine.control_bulk(job, Engine::BulkControl::stop, kAnn));
    const std::string target = " bulk:" + job.text();
    EXPECT_EQ(acts(), (std::vector<std::string>{"ann bulk.stop" + target, "ann bulk.pause" + target,
                                                "bob bulk.start" + target}));
}

TEST_F(AuditTest, a_search_goes_by_who_action_and_target) {
    const TaskId id = submit();
    run(engine.cancel(id, bob));
    run(engine.pause_queue("q", bob));
    run(engine.pause_queue("r", kAnn));
    EXPECT_EQ(acts({"bob", "", ""}).size(), 2U);
    EXPECT_EQ(acts({"", "queue.pause", ""}).size(), 2U);
    EXPECT_EQ(acts({"", "", "queue:r"}).size(), 1U);
    EXPECT_EQ(acts({"bob", "queue.pause", "queue:r"}).size(), 0U);
}

TEST_F(AuditTest, pages_go_on_where_the_last_one_ended) {
    for (int i = 0; i < 3; ++i) {
        run(engine.note_act({bob, "worker.drain", "worker:" + std::to_string(i), Json{}}));
        advance(1s);
    }
    const auto first = run(engine.audit({}, {}, 2)).value();
    ASSERT_EQ(first.entries.size(), 2U);
    const auto second = run(engine.audit({}, first.next, 2)).value();
    ASSERT_EQ(second.entries.size(), 1U);
    EXPECT_EQ(second.entries[0].act.target, "worker:0");
    EXPECT_EQ(told(run(engine.audit({}, {}, 0))), "invalid_argument: limit");
}

TEST_F(AuditTest, what_is_old_goes) {
    run(engine.pause_queue("q", bob));
    advance(1h);
    run(engine.resume_queue("q", bob));
    EXPECT_EQ(run(engine.trim_audit(engine.now() - 30min)).value(), 1U);
    EXPECT_EQ(acts(), std::vector<std::string>{"bob queue.resume queue:q"});
    EXPECT_EQ(run(engine.trim_audit(engine.now() - 30min)).value(), 0U);
}

}  // namespace
}  // namespace holdfast::engine
