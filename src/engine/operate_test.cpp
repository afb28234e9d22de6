// What operators do to a task: at once where nobody holds it, as a request where somebody does; always with who and why.
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class Operate : public EngineTest {
  protected:
    void expect_kept(const TaskId& id, Event event) {
        const domain::Transition row = history(id).back();
        EXPECT_EQ(row.event, event);
        EXPECT_EQ(row.actor, "ann");
        EXPECT_EQ(row.message, "because");
    }
    std::string say(Async<Result<Done>> call) { return told(run(std::move(call))); }
};

TEST_F(Operate, a_queued_task_is_paused_and_resumed_at_once) {
    const TaskId id = submit();
    EXPECT_EQ(say(engine.pause(id, kAnn)), "paused");
    expect_kept(id, Event::paused);
    EXPECT_TRUE(claim().empty());
    EXPECT_EQ(say(engine.pause(id, kAnn)), "paused again");
    EXPECT_EQ(say(engine.resume(id, kAnn)), "queued");
    expect_kept(id, Event::resumed);
    EXPECT_EQ(say(engine.resume(id, kAnn)), "wrong_state");
    EXPECT_EQ(claim_one().id, id);
}

TEST_F(Operate, a_running_task_is_asked_to_pause) {
    const domain::Header h = running();
    const Done done = run(engine.pause(h.id, kAnn)).value();
    EXPECT_EQ(done.state, State::running);
    EXPECT_TRUE(done.pause_requested);
    expect_kept(h.id, Event::pause_requested);
    EXPECT_EQ(say(engine.pause(h.id, kAnn)), "running again");
    EXPECT_EQ(told(run(engine.yield({{h.id, h.fence(), {}, false}})).front()), "paused");
    EXPECT_EQ(say(engine.resume(h.id, kAnn)), "queued");
}

TEST_F(Operate, a_requested_pause_can_be_taken_back) {
    const domain::Header h = running();
    run(engine.pause(h.id, kAnn));
    const Done done = run(engine.resume(h.id, kAnn)).value();
    EXPECT_EQ(done.state, State::running);
    EXPECT_FALSE(done.pause_requested);
    EXPECT_EQ(told(run(engine.yield({{h.id, h.fence(), {}, false}})).front()), "queued");
}

TEST_F(Operate, a_task_nobody_holds_is_cancelled_at_once) {
    const TaskId queued = submit(), parked = suspended(work("other")).id;
    for (const TaskId& id : {queued, parked}) {
        EXPECT_EQ(say(engine.cancel(id, kAnn)), "cancelled");
        expect_kept(id, Event::cancelled);
        EXPECT_EQ(say(engine.cancel(id, kAnn)), "cancelled again");
    }
    EXPECT_TRUE(claim().empty());
}

TEST_F(Operate, a_running_task_is_asked_to_stop_and_is_cancelled_at_its_next_step) {
    const domain::Header h = running();
    const Done done = run(engine.cancel(h.id, kAnn)).value();
    EXPECT_EQ(done.state, State::running);
    EXPECT_TRUE(done.cancel_requested);
    expect_kept(h.id, Event::cancel_requested);
    const domain::Failure failure{domain::ErrorKind::transient, "x", "", ""};
    EXPECT_EQ(told(run(engine.fail({{h.id, h.fence(), failure, {}}})).front()), "cancelled");
}

TEST_F(Operate, what_nobody_holds_can_be_discarded_and_what_runs_cannot) {
    const TaskId parked = suspended().id;
    EXPECT_EQ(say(engine.discard(parked, kAnn)), "discarded");
    expect_kept(parked, Event::discarded);
    EXPECT_EQ(say(engine.discard(parked, kAnn)), "discarded again");
    const domain::Header h = running();
    EXPECT_EQ(say(engine.discard(h.id, kAnn)), "wrong_state");
    EXPECT_EQ(header(h.id), h);
    run(engine.complete({completion(h)}));
    EXPECT_EQ(say(engine.discard(h.id, kAnn)), "wrong_state");
}

TEST_F(Operate, a_suspended_task_is_resumed_with_all_its_attempts_again) {
    const domain::Header h = suspended();
    EXPECT_GT(h.retry_count, 0);
    EXPECT_EQ(say(engine.resume(h.id, kAnn)), "queued");
    EXPECT_EQ(header(h.id).retry_count, 0);
    EXPECT_EQ(claim_one().attempt, 2U) << "attempts are never counted anew";
}

TEST_F(Operate, a_new_payload_is_a_revision_and_the_old_body_stays_readable) {
    domain::Submission s = work();
    s.payload = json("1");
    s.idempotency_key = "k";
    const TaskId id = suspended(s).id;
    const Bytes first = record(id).body;
    EXPECT_EQ(say(engine.resume(id, kAnn, json("2"))), "queued");
    EXPECT_EQ(header(id).revision, 1);
    const ClaimedTask task = claim().at(0);
    EXPECT_EQ(domain::payload_of(task.record.body), json("2"));
    EXPECT_EQ(Json::stored(task.record.body.view()).member("context"),
              Json::stored(first.view()).member("context"))
        << "only the payload is new";
    run(engine.fail(
        {{id, task.record.header.fence(), {domain::ErrorKind::permanent, "no", "", ""}, {}}}));
    run(engine.resume(id, kAnn, json("3")));

    const auto old = run(memory.log(std::string(domain::kRevisionLog), id, 0, 10)).value();
    ASSERT_EQ(old.size(), 2U);
    EXPECT_EQ(old[0].bytes, first);
    EXPECT_EQ(domain::payload_of(old[1].bytes), json("2"));
    EXPECT_EQ(domain::payload_of(record(id).body), json("3"));
}

TEST_F(Operate, a_running_task_takes_no_new_payload) {
    const domain::Header h = running();
    run(engine.pause(h.id, kAnn));
    EXPECT_EQ(say(engine.resume(h.id, kAnn, json("2"))), "wrong_state");
    EXPECT_EQ(header(h.id).revision, 0);
    EXPECT_TRUE(header(h.id).pause_requested);
}

TEST_F(Operate, a_signal_is_kept_once_and_finished_tasks_take_none) {
    const domain::Header h = running();
    EXPECT_EQ(say(engine.signal(h.id, "s", json("1"))), "running");
    EXPECT_EQ(say(engine.signal(h.id, "s", json("2"))), "running again");
    EXPECT_EQ(say(new_engine().signal(h.id, "s", json("3"))), "running again");
    const auto log = run(memory.log(std::string(domain::kSignalLog), h.id, 0, 10)).value();
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(log[0].bytes.view(), "1");
    run(engine.complete({completion(h)}));
    EXPECT_EQ(say(engine.signal(h.id, "t", {})), "wrong_state");
}

TEST_F(Operate, bad_input_is_named_and_writes_nothing) {
    const domain::Header h = suspended();
    const By too_long{"ann", std::string(1025, 'x')}, nameless{std::string(1025, 'x'), ""};
    EXPECT_EQ(say(engine.pause(h.id, too_long)), "invalid_argument: reason");
    EXPECT_EQ(say(engine.resume(h.id, too_long)), "invalid_argument: reason");
    EXPECT_EQ(say(engine.cancel(h.id, nameless)), "invalid_argument: reason");
    EXPECT_EQ(say(engine.discard(h.id, too_long)), "invalid_argument: reason");
    EXPECT_EQ(say(engine.resume(h.id, kAnn, Json::quoted(std::string(1 << 20, 'x')))),
              "invalid_argument: payload");
    EXPECT_EQ(say(engine.signal(h.id, "", {})), "invalid_argument: signal.id");
    EXPECT_EQ(say(engine.signal(h.id, "a b", {})), "invalid_argument: signal.id");
    EXPECT_EQ(say(engine.signal(h.id, std::string(129, 's'), {})), "invalid_argument: signal.id");
    EXPECT_EQ(say(engine.signal(h.id, "s", Json::quoted(std::string(1 << 20, 'x')))),
              "invalid_argument: data");
    EXPECT_EQ(header(h.id), h);
}

}  // namespace
}  // namespace holdfast::engine
