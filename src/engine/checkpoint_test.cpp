// Stages: written once, honouring what operators asked for.
#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class Checkpoint : public EngineTest {
  protected:
    static StageDone stage(const domain::Header& h, std::string name, std::string_view data = "1") {
        return {h.id, h.fence(), std::move(name), json(data)};
    }
    std::string checkpoint(Engine& by, const StageDone& item) {
        return told(run_on(by.checkpoint({item})).front());
    }
    std::string checkpoint(const StageDone& item) { return checkpoint(engine, item); }
    Lines stages(const TaskId& id) {
        Lines written;
        for (const auto& entry :
             run(memory.log(std::string(domain::kCheckpointLog), id, 0, 10'000)).value())
            written.push_back(entry.key + '=' + std::string(entry.bytes.view()));
        return written;
    }
};

TEST_F(Checkpoint, a_stage_is_written_and_the_task_goes_on) {
    const domain::Header h = running();
    EXPECT_EQ(checkpoint(stage(h, "a")), "running");
    EXPECT_EQ(checkpoint(stage(h, "b", "2")), "running");
    EXPECT_EQ(stages(h.id), (Lines{"a=1", "b=2"}));
    EXPECT_EQ(header(h.id).checkpoints, 2);
    EXPECT_EQ(history(h.id).back().message, "b");
}

TEST_F(Checkpoint, a_stage_is_written_once_whoever_repeats_it) {
    const domain::Header h = running();
    checkpoint(stage(h, "a", "1"));
    EXPECT_EQ(checkpoint(stage(h, "a", "2")), "running again");
    run(engine.yield({{h.id, h.fence(), {}, false}}));
    EXPECT_EQ(checkpoint(stage(claim_one(), "a", "3")), "running again") << "also a later attempt";
    EXPECT_EQ(stages(h.id), Lines{"a=1"});
    EXPECT_EQ(header(h.id).checkpoints, 1);
}

TEST_F(Checkpoint, the_same_stage_twice_in_one_batch_is_written_once) {
    const domain::Header h = running();
    EXPECT_EQ(told(run(engine.checkpoint({stage(h, "a", "1"), stage(h, "a", "2"), stage(h, "b")}))),
              (Lines{"running", "running again", "running"}));
    EXPECT_EQ(stages(h.id), (Lines{"a=1", "b=1"}));
}

TEST_F(Checkpoint, a_requested_pause_is_honoured_and_the_stage_is_kept) {
    const domain::Header h = running();
    run(engine.pause(h.id, kAnn));
    EXPECT_EQ(checkpoint(stage(h, "a")), "paused");
    EXPECT_EQ(stages(h.id), Lines{"a=1"});
    EXPECT_EQ(checkpoint(stage(h, "a")), "paused again");
    EXPECT_EQ(checkpoint(stage(h, "b")), "paused again") << "the attempt is over";
    EXPECT_EQ(stages(h.id), Lines{"a=1"});
}

TEST_F(Checkpoint, a_requested_cancel_is_honoured_and_the_stage_is_kept) {
    const domain::Header h = running();
    run(engine.cancel(h.id, kAnn));
    EXPECT_EQ(checkpoint(stage(h, "a")), "cancelled");
    EXPECT_EQ(stages(h.id), Lines{"a=1"});
}

TEST_F(Checkpoint, a_request_is_honoured_also_when_the_stage_was_there_already) {
    const domain::Header h = running();
    checkpoint(stage(h, "a"));
    run(engine.pause(h.id, kAnn));
    EXPECT_EQ(checkpoint(stage(h, "a", "2")), "paused");
    EXPECT_EQ(stages(h.id), Lines{"a=1"});
}

TEST_F(Checkpoint, a_request_through_another_engine_in_that_very_moment_is_honoured) {
    Engine& other = new_engine();
    const domain::Header h = running();
    store.before_next(Op::commit, [&] { return ignoring(other.pause(h.id, kAnn)); });
    EXPECT_EQ(checkpoint(stage(h, "a")), "paused");
    EXPECT_EQ(stages(h.id), Lines{"a=1"});
}

TEST_F(Checkpoint, a_lost_reply_is_recognised_and_the_stage_counted_once) {
    const domain::Header h = running();
    store.fail_next(Op::commit, Fault::reply_lost, 2);
    EXPECT_EQ(checkpoint(stage(h, "a")), "running");
    EXPECT_EQ(stages(h.id), Lines{"a=1"});
    EXPECT_EQ(header(h.id).checkpoints, 1);
}

TEST_F(Checkpoint, a_stage_whose_reply_was_lost_before_an_operators_request_is_known_all_the_same) {
    Engine& other = new_engine();
    const domain::Header h = running();
    store.fail_next(Op::commit, Fault::reply_lost);
    store.before_next(Op::load, [&] { return ignoring(other.pause(h.id, kAnn)); });
    EXPECT_EQ(checkpoint(stage(h, "a")), "paused");
    EXPECT_EQ(stages(h.id), Lines{"a=1"});
    EXPECT_EQ(header(h.id).checkpoints, 1);
}

TEST_F(Checkpoint, a_stale_fence_writes_no_stage) {
    const domain::Header old = running();
    advance(31s);
    run(engine.tick(10));
    claim_one();
    const domain::Record before = record(old.id);
    EXPECT_EQ(checkpoint(stage(old, "a")), "stale_lease");
    EXPECT_TRUE(stages(old.id).empty());
    EXPECT_EQ(record(old.id), before);
}

TEST_F(Checkpoint, what_was_not_started_has_no_stages) {
    submit();
    ClaimCall call = claim_call();
    call.acks = true;
    EXPECT_EQ(checkpoint(stage(claim_one(call), "a")), "wrong_state");
}

TEST_F(Checkpoint, bad_input_is_named_and_writes_nothing) {
    const domain::Header h = running();
    for (const std::string& name : {std::string{}, std::string("a b"), std::string(65, 'a')})
        EXPECT_EQ(checkpoint(stage(h, name)), "invalid_argument: stage");
    StageDone huge = stage(h, "a");
    huge.data = Json::quoted(std::string(1 << 20, 'x'));
    EXPECT_EQ(checkpoint(huge), "invalid_argument: data");
    EXPECT_TRUE(stages(h.id).empty());
    EXPECT_EQ(header(h.id), h);
}

TEST_F(Checkpoint, beyond_the_most_a_task_may_have_it_says_so_and_the_task_goes_on) {
    const domain::Header h = running();
    for (int i = 0; i < domain::kMostLogged; ++i)
        ASSERT_EQ(checkpoint(stage(h, "s" + std::to_string(i))), "running");
    EXPECT_EQ(checkpoint(stage(h, "one-more")), "overloaded");
    EXPECT_EQ(told(run(engine.complete({completion(h)})).front()), "succeeded");
}

}  // namespace
}  // namespace holdfast::engine
