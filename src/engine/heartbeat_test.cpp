// Signs of life: a lease goes on as long as its holder is heard of.
#include <limits>

#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class HeartbeatTest : public EngineTest {
  protected:
    Result<Beat> beat(Engine& by, Heartbeat item) {
        return run(by.heartbeat({std::move(item)})).front();
    }
    Result<Beat> beat(const domain::Header& h) {
        return beat(engine, {h.id, h.fence(), 0s, {}, {}});
    }
};

TEST_F(HeartbeatTest, extends_the_lease_by_as_much_as_its_claim_was_given) {
    submit();
    ClaimCall call = claim_call();
    call.lease = 2min;
    const domain::Header h = claim_one(call);
    advance(1min);
    EXPECT_EQ(beat(h).value().lease_until, clock.now() + 2min);
    EXPECT_EQ(header(h.id).lease_until, clock.now() + 2min);
    EXPECT_EQ(header(h.id).wake_at, clock.now() + 2min);
}

TEST_F(HeartbeatTest, may_ask_for_another_lease_and_never_shortens_it) {
    const domain::Header h = running();
    EXPECT_EQ(beat(engine, {h.id, h.fence(), 10min, {}, {}})->lease_until, clock.now() + 10min);
    EXPECT_EQ(beat(engine, {h.id, h.fence(), 1s, {}, {}})->lease_until, clock.now() + 10min);
}

TEST_F(HeartbeatTest, keeps_the_task_from_being_taken_back) {
    const domain::Header h = running();
    for (int i = 0; i < 5; ++i) {
        advance(20s);
        ASSERT_TRUE(beat(new_engine(), {h.id, h.fence(), 0s, {}, {}}));
        run(engine.tick(10));
    }
    EXPECT_EQ(state(h.id), State::running);
    EXPECT_EQ(header(h.id).version, h.version) << "and costs no version";
    EXPECT_EQ(events(h.id), (std::vector{Event::submitted, Event::claimed})) << "and no history";
}

TEST_F(HeartbeatTest, is_one_call_of_the_store_for_the_whole_batch) {
    submit(3);
    std::vector<Heartbeat> items;
    for (const ClaimedTask& task : claim(claim_call("default", 3)))
        items.push_back({task.record.header.id, task.record.header.fence(), 0s, {}, {}});
    store.forget_calls();
    EXPECT_EQ(told(run(engine.heartbeat(items))), Lines(3, "ok"));
    EXPECT_EQ(store.calls(Op::renew), 1U);
    EXPECT_EQ(store.all_calls(), 1U);
}

TEST_F(HeartbeatTest, reports_what_operators_asked_for) {
    const domain::Header h = running();
    EXPECT_FALSE(beat(h)->pause_requested);
    EXPECT_FALSE(beat(h)->cancel_requested);
    run(new_engine().pause(h.id, kAnn));
    EXPECT_TRUE(beat(h)->pause_requested);
    run(new_engine().cancel(h.id, kAnn));
    EXPECT_TRUE(beat(h)->cancel_requested);
}

TEST_F(HeartbeatTest, keeps_progress_and_note_for_those_who_look) {
    const domain::Header h = running();
    EXPECT_TRUE(beat(engine, {h.id, h.fence(), 0s, 0.25F, "page 1 of 4"}));
    EXPECT_EQ(header(h.id).progress, 0.25F);
    EXPECT_EQ(header(h.id).note, "page 1 of 4");
    EXPECT_TRUE(beat(h));
    EXPECT_EQ(header(h.id).progress, 0.25F) << "a beat that says nothing leaves them";
    EXPECT_EQ(header(h.id).note, "page 1 of 4");
    run(engine.checkpoint({{h.id, h.fence(), "a", {}}}));
    EXPECT_EQ(header(h.id).progress, 0.25F) << "and so does a step decided on an older header";
    EXPECT_EQ(header(h.id).note, "page 1 of 4");
}

TEST_F(HeartbeatTest, a_step_does_not_take_back_what_a_heartbeat_gave) {
    const domain::Header h = running();
    advance(20s);
    const Time until = beat(h)->lease_until;
    run(engine.checkpoint({{h.id, h.fence(), "a", {}}}));
    EXPECT_EQ(header(h.id).lease_until, until);
    EXPECT_EQ(header(h.id).wake_at, until);
}

TEST_F(HeartbeatTest, a_stale_fence_is_told_and_extends_nothing) {
    const domain::Header old = running();
    advance(31s);
    run(engine.tick(10));
    EXPECT_EQ(told(beat(old)), "stale_lease") << "nobody holds it";
    const domain::Header now = claim_one();
    advance(5s);
    EXPECT_EQ(told(beat(old)), "stale_lease") << "somebody else does";
    EXPECT_EQ(header(old.id).lease_until, now.lease_until);
    domain::Header nobody = now;
    nobody.id = Uuid::named(Partition{1}, "nobody");
    EXPECT_EQ(told(beat(nobody)), "stale_lease");
}

TEST_F(HeartbeatTest, bad_items_are_named_and_the_good_ones_are_heard) {
    const domain::Header h = running();
    const auto item = [&](Duration lease, std::optional<float> progress, std::string note) {
        return Heartbeat{h.id, h.fence(), lease, progress, std::move(note)};
    };
    advance(10s);
    const auto answers = run(engine.heartbeat({
        item(0s, 1.01F, ""),
        item(0s, -0.01F, ""),
        item(0s, std::numeric_limits<float>::quiet_NaN(), ""),
        item(0s, 0.5F, std::string(257, 'n')),
        item(999ms, {}, ""),
        item(25h, {}, ""),
        item(-1s, {}, ""),
        item(0s, 1.0F, std::string(256, 'n')),
    }));
    EXPECT_EQ(told(answers), (Lines{"invalid_argument: progress", "invalid_argument: progress",
                                    "invalid_argument: progress", "invalid_argument: note",
                                    "invalid_argument: lease", "invalid_argument: lease",
                                    "invalid_argument: lease", "ok"}));
    EXPECT_EQ(header(h.id).progress, 1.0F);
    EXPECT_EQ(header(h.id).lease_until, clock.now() + 30s);
}

TEST_F(HeartbeatTest, more_than_1000_at_once_are_refused) {
    const domain::Header h = running();
    const std::vector items(kLargestBatch + 1, Heartbeat{h.id, h.fence(), 1h, {}, {}});
    EXPECT_EQ(told(run(engine.heartbeat(items))),
              Lines(kLargestBatch + 1, "invalid_argument: items"));
    EXPECT_EQ(store.calls(Op::renew), 0U);
    EXPECT_EQ(header(h.id), h);
}

TEST_F(HeartbeatTest, a_silent_store_is_unavailable) {
    const domain::Header h = running();
    store.fail_next(Op::renew, Fault::never_arrives);
    EXPECT_EQ(told(beat(h)), "unavailable");
}

}  // namespace
}  // namespace holdfast::engine
