// The worker stream against an engine and a memory store, over a line that only remembers.
#include "nodes/nodes.h"

#include <gtest/gtest.h>

#include <deque>

#include "testing/engine_fixture.h"

namespace holdfast::nodes {
namespace {

using namespace holdfast::testing;

class FakeLine final : public Line {
  public:
    void send(std::string frame) override { frames.push_back(std::move(frame)); }
    void close(std::string_view reason) override { closed = reason; }
    std::size_t unsent_bytes() const override { return unsent; }

    std::deque<std::string> frames;
    std::string closed;
    std::size_t unsent = 0;
};

/// A worker at the other end: what it was told, and what it runs.
struct Peer {
    Peer(engine::Engine& engine, Workers& workers)
        : stream(engine, workers, line, {.instance = "here", .address = "127.0.0.1:9", .seed = 7}) {
    }

    FakeLine line;
    WorkerStream stream;
    std::vector<std::string> ops;  ///< Of the frames that were read.
    std::vector<boost::json::value> frames;
    std::vector<Ref> tasks;
    Call<bool> served;

    /// Reads what came.
    void read() {
        for (; !line.frames.empty(); line.frames.pop_front()) {
            frames.push_back(
                Json::parse(line.frames.front(), {.bytes = 1 << 24, .keys = 1'000'000})->value());
            ops.emplace_back(frames.back().at("op").as_string());
            if (ops.back() != "assign") continue;
            for (const auto& task : frames.back().at("tasks").as_array()) {
                tasks.push_back({Uuid::parse(task.at("id").as_string()).value(),
                                 {task.at("attempt").to_number<std::uint32_t>(),
                                  domain::Epoch{task.at("epoch").as_int64()}}});
            }
        }
    }
    /// The frames with this op, and their items' field.
    Lines items(std::string_view op, std::string_view field) {
        Lines found;
        for (const auto& frame : frames) {
            if (frame.at("op").as_string() != op) continue;
            for (const auto& item : frame.at("items").as_array()) {
                const auto* value = item.as_object().if_contains(field);
                found.emplace_back(value == nullptr ? "-" : Json::of(*value).text());
            }
        }
        return found;
    }
};

class StreamTest : public EngineTest {
  protected:
    ~StreamTest() override {
        for (Peer& peer : peers) {
            peer.stream.closed();
            world().poll();
            EXPECT_TRUE(peer.served.answered()) << "a stream has not ended";
        }
        EXPECT_EQ(engine.waiting(), 0U);
    }

    static Async<bool> serve(WorkerStream* stream) {
        co_await stream->run();
        co_return true;
    }
    Peer& connect(engine::Engine& to) {
        Peer& peer = peers.emplace_back(to, workers);
        peer.served = begin(serve(&peer.stream));
        return peer;
    }
    Peer& connect() { return connect(engine); }
    void says(Peer& peer, std::string frame) {
        peer.stream.received(frame);
        settle();
    }
    void settle() {
        world().poll();
        for (Peer& peer : peers) peer.read();
    }
    Peer& worker(int slots, const std::string& more = {}) {
        Peer& peer = connect();
        says(peer, hello(slots, more));
        return peer;
    }
    static std::string hello(int slots, const std::string& more = {}) {
        return R"({"op":"hello","worker":"w","queues":["default"],"slots":)" +
               std::to_string(slots) + more + '}';
    }
    static std::string list(const std::vector<Ref>& refs, const std::string& more = {}) {
        std::string out = "[";
        for (const Ref& r : refs) {
            out += out.back() == '[' ? "{" : ",{";
            append_ref(out, r);
            out += more + '}';
        }
        return out + ']';
    }
    static std::string frame(std::string_view op, const std::vector<Ref>& refs,
                             const std::string& more = {}) {
        return R"({"op":")" + std::string(op) + R"(","items":)" + list(refs, more) + '}';
    }

    Workers workers{clock};
    std::list<Peer> peers;
};

TEST_F(StreamTest, tasks_are_pushed_up_to_the_free_slots_and_never_more) {
    submit(5);
    Peer& w = worker(3);
    EXPECT_EQ(w.tasks.size(), 3U);
    EXPECT_EQ(tasks({State::running}), 3U);
    says(w, frame("done", {w.tasks[0], w.tasks[1]}, R"(,"result":{"ok":true})"));
    EXPECT_EQ(w.items("outcome", "outcome"), (Lines{R"("ok")", R"("ok")"}));
    EXPECT_EQ(w.tasks.size(), 5U) << "two slots were free again";
    EXPECT_EQ(tasks({State::running}), 3U);
    EXPECT_EQ(state(w.tasks[0].id), State::succeeded);
}

TEST_F(StreamTest, a_slot_is_not_free_before_its_outcome_is_in_the_store) {
    submit(2);
    Peer& w = worker(1);
    Alarm disk(clock, world().executor());
    store.before_next(Op::commit, [&] { return ignoring(disk.wait_for(1h)); });
    says(w, frame("done", {w.tasks[0]}));
    EXPECT_EQ(w.tasks.size(), 1U);
    disk.ring();
    settle();
    EXPECT_EQ(w.tasks.size(), 2U);
}

TEST_F(StreamTest, an_idle_worker_is_given_a_task_as_soon_as_there_is_one) {
    Peer& w = worker(2);
    EXPECT_TRUE(w.tasks.empty());
    submit();
    settle();
    EXPECT_EQ(w.tasks.size(), 1U) << "without time going on";
    submit();
    settle();
    EXPECT_EQ(w.tasks.size(), 2U);
    submit();
    settle();
    EXPECT_EQ(w.tasks.size(), 2U) << "no slot is free";
}

TEST_F(StreamTest, the_outcomes_of_one_frame_are_one_commit_and_frames_do_not_wait_for_each_other) {
    submit(6);
    Peer& w = worker(6);
    store.forget_calls();
    Alarm disk(clock, world().executor());
    store.before_next(Op::commit, [&] { return ignoring(disk.wait_for(1h)); });
    says(w, frame("done", {w.tasks[0], w.tasks[1], w.tasks[2]}));
    says(w, frame("done", {w.tasks[3], w.tasks[4]}));
    EXPECT_EQ(store.calls(Op::commit), 2U);
    EXPECT_EQ(w.items("outcome", "id").size(), 2U) << "the second was answered before the first";
    disk.ring();
    settle();
    EXPECT_EQ(w.items("outcome", "id").size(), 5U);
}

TEST_F(StreamTest, when_too_many_calls_are_under_way_the_reader_waits) {
    submit(70);
    Peer& w = worker(70);
    std::list<Alarm> disks;
    store.before_next(
        Op::commit,
        [&] { return ignoring(disks.emplace_back(clock, world().executor()).wait_for(1h)); }, 64);
    const auto ready = [](WorkerStream* stream) -> Async<bool> {
        co_await stream->room();
        co_return true;
    };
    for (std::size_t i = 0; i < 63; ++i) says(w, frame("done", {w.tasks[i]}));
    EXPECT_TRUE(begin(ready(&w.stream)).answered());
    says(w, frame("done", {w.tasks[63]}));
    const auto reader = begin(ready(&w.stream));
    EXPECT_FALSE(reader.answered());
    disks.front().ring();
    world().poll();
    EXPECT_TRUE(reader.answered());
    for (Alarm& disk : disks) disk.ring();
    settle();
}

TEST_F(StreamTest, a_lost_connection_leaves_the_tasks_to_their_leases) {
    const TaskId id = submit();
    Peer& w = worker(1);
    w.stream.closed();
    settle();
    EXPECT_TRUE(w.served.answered());
    EXPECT_EQ(state(id), State::running);
    advance(31s);
    run(engine.tick(10));
    EXPECT_EQ(state(id), State::queued);
}

TEST_F(StreamTest, a_lost_connection_leaves_no_seat_and_takes_no_task) {
    Peer& w = worker(1);
    EXPECT_EQ(engine.waiting(), 1U);
    w.stream.closed();
    settle();
    EXPECT_TRUE(w.served.answered());
    EXPECT_EQ(engine.waiting(), 0U);
    const TaskId id = submit();
    EXPECT_EQ(state(id), State::queued);
}

TEST_F(StreamTest, a_stream_that_is_cancelled_ends_like_one_that_is_lost) {
    const TaskId id = submit();
    FakeLine line;
    WorkerStream stream(engine, workers, line, {.instance = "here", .address = "", .seed = 1});
    TaskGroup group(world().executor());
    group.spawn(stream.run());
    world().poll();
    stream.received(hello(2));
    world().poll();
    EXPECT_EQ(engine.waiting(), 1U);
    world().run(group.stop());
    EXPECT_EQ(engine.waiting(), 0U);
    EXPECT_EQ(state(id), State::running);
    EXPECT_EQ(workers.size(), 0U);
}

TEST_F(StreamTest, what_is_claimed_for_a_line_that_closed_meanwhile_goes_back_at_once) {
    run(engine.queue("default"));
    const TaskId id = submit();
    Alarm disk(clock, world().executor());
    store.before_next(Op::claim, [&] { return ignoring(disk.wait_for(1h)); });
    Peer& w = worker(1);
    w.stream.closed();
    settle();
    EXPECT_TRUE(w.served.answered());
    EXPECT_EQ(state(id), State::queued);
    EXPECT_EQ(events(id), (std::vector<Event>{Event::submitted, Event::claimed, Event::yielded}));
}

TEST_F(StreamTest, a_worker_that_says_goodbye_gives_its_tasks_back_at_once) {
    const auto ids = submit(2);
    Peer& w = worker(2);
    says(w, R"({"op":"drain"})");
    EXPECT_EQ(state(ids[0]), State::running) << "it may finish what it has";
    w.stream.closed();
    settle();
    EXPECT_EQ(state(ids[0]), State::queued);
    EXPECT_EQ(state(ids[1]), State::queued);
    EXPECT_EQ(header(ids[0]).crashes, 0U);
}

TEST_F(StreamTest, draining_now_gives_back_and_says_bye) {
    const TaskId id = submit();
    Peer& w = worker(2);
    says(w, R"({"op":"drain","now":true})");
    EXPECT_EQ(state(id), State::queued);
    EXPECT_EQ(w.ops.back(), "bye");
    EXPECT_EQ(w.line.closed, "drained");
    EXPECT_TRUE(w.served.answered());
}

TEST_F(StreamTest, a_draining_worker_gets_nothing_more_and_bye_when_it_has_finished) {
    submit(2);
    Peer& w = worker(2);
    says(w, R"({"op":"drain"})");
    says(w, frame("done", {w.tasks[0]}));
    submit();
    settle();
    EXPECT_EQ(w.tasks.size(), 2U);
    EXPECT_EQ(w.line.closed, "");
    says(w, frame("done", {w.tasks[1]}));
    EXPECT_EQ(w.line.closed, "drained");
    EXPECT_TRUE(w.served.answered());
}

TEST_F(StreamTest, a_waiting_claim_ends_when_the_worker_drains) {
    submit();
    Peer& w = worker(2);
    EXPECT_EQ(engine.waiting(), 1U);
    says(w, R"({"op":"drain"})");
    EXPECT_EQ(engine.waiting(), 0U);
}

TEST_F(StreamTest, after_a_reconnect_tasks_are_completed_under_their_old_fence) {
    const auto ids = submit(2);
    Peer& before = worker(2);
    const std::vector<Ref> held = before.tasks;
    before.stream.closed();
    settle();
    submit();
    advance(20s);
    Peer& after = worker(2, R"(,"running":)" + list(held));
    EXPECT_TRUE(after.tasks.empty()) << "both slots are taken";
    EXPECT_EQ(after.items("heartbeat", "lease_until"), (Lines(2, R"("2026-01-05T00:00:50.000Z")")));
    advance(20s);
    run(engine.tick(10));
    says(after, frame("done", held));
    EXPECT_EQ(state(ids[0]), State::succeeded);
    EXPECT_EQ(header(ids[0]).attempt, 1U) << "it ran once";
    EXPECT_EQ(after.tasks.size(), 1U);
}

TEST_F(StreamTest, what_somebody_else_has_by_now_is_said_after_a_reconnect) {
    submit();
    Peer& before = worker(1);
    const std::vector<Ref> held = before.tasks;
    before.stream.closed();
    settle();
    advance(31s);
    run(engine.tick(10));
    claim_one();
    Peer& after = worker(1, R"(,"running":)" + list(held));
    EXPECT_EQ(after.items("heartbeat", "outcome"), (Lines{R"("stale_lease")"}));
    submit();
    settle();
    EXPECT_EQ(after.tasks.size(), 1U) << "its slot is free";
}

TEST_F(StreamTest, a_keep_alive_keeps_the_leases_of_all_that_runs) {
    const auto ids = submit(2);
    Peer& w = worker(2);
    for (int i = 0; i < 6; ++i) {
        advance(20s);
        says(w, R"({"op":"heartbeat","items":[]})");
        run(engine.tick(10));
    }
    EXPECT_EQ(state(ids[0]), State::running);
    EXPECT_EQ(header(ids[1]).lease_until, clock.now() + 30s);
}

TEST_F(StreamTest, a_cancel_reaches_the_worker_with_its_next_heartbeat) {
    const TaskId id = submit();
    Peer& w = worker(1);
    run(engine.cancel(id, kAnn));
    says(w, frame("heartbeat", w.tasks, R"(,"progress":0.5)"));
    says(w, frame("heartbeat", w.tasks));
    EXPECT_EQ(std::ranges::count(w.ops, "cancel"), 1);
    says(w, frame("yield", w.tasks));
    EXPECT_EQ(state(id), State::cancelled);
}

TEST_F(StreamTest, a_requested_pause_ends_the_task_at_its_next_checkpoint_and_frees_the_slot) {
    const TaskId id = submit();
    Peer& w = worker(1);
    run(engine.pause(id, kAnn));
    submit();
    says(w, frame("checkpoint", w.tasks, R"(,"stage":"one","data":{})"));
    EXPECT_EQ(w.items("outcome", "outcome"), (Lines{R"("pause")"}));
    EXPECT_EQ(state(id), State::paused);
    EXPECT_EQ(w.tasks.size(), 2U);
}

TEST_F(StreamTest, a_node_that_announces_acks_gets_tasks_as_dispatched) {
    const TaskId id = submit();
    Peer& w = worker(1, R"(,"acks":true)");
    EXPECT_EQ(state(id), State::dispatched);
    says(w, frame("ack", w.tasks));
    EXPECT_EQ(state(id), State::accepted);
    says(w, frame("started", w.tasks));
    EXPECT_EQ(state(id), State::running);
}

TEST_F(StreamTest, a_failure_goes_to_its_retry_and_a_repeated_outcome_is_a_duplicate) {
    const TaskId id = submit();
    Peer& w = worker(1);
    const std::string failed =
        frame("fail", w.tasks, R"(,"error":{"kind":"transient","message":"m"})");
    says(w, failed);
    EXPECT_EQ(state(id), State::retrying);
    says(w, failed);
    EXPECT_EQ(w.items("outcome", "duplicate"), (Lines{"-", "true"}));
}

TEST_F(StreamTest, a_server_that_stops_answers_what_is_under_way_and_keeps_the_leases) {
    const auto ids = submit(2);
    Peer& w = worker(3);
    Alarm disk(clock, world().executor());
    store.before_next(Op::commit, [&] { return ignoring(disk.wait_for(1h)); });
    says(w, frame("done", {w.tasks[0]}));
    w.stream.shut_down();
    settle();
    EXPECT_EQ(engine.waiting(), 0U);
    EXPECT_EQ(w.line.closed, "");
    disk.ring();
    settle();
    EXPECT_EQ(w.ops.back(), "bye");
    EXPECT_EQ(w.items("outcome", "outcome"), (Lines{R"("ok")"}));
    EXPECT_EQ(w.line.closed, "shutting_down");
    EXPECT_TRUE(w.served.answered());
    EXPECT_EQ(state(ids[0]), State::succeeded);
    EXPECT_EQ(state(ids[1]), State::running);
}

TEST_F(StreamTest, a_worker_that_does_not_read_is_given_nothing_until_it_does) {
    Peer& w = connect();
    w.line.unsent = (1 << 20) + 1;
    submit();
    says(w, hello(1));
    advance(1s);
    settle();
    EXPECT_TRUE(w.tasks.empty());
    w.line.unsent = 0;
    advance(10ms);
    settle();
    EXPECT_EQ(w.tasks.size(), 1U);
}

TEST_F(StreamTest, after_large_tasks_fewer_are_claimed_at_once) {
    domain::Submission large = work();
    large.payload = json('"' + std::string(1'000'000, 'x') + '"');
    Peer& w = worker(100);
    submit(large);
    settle();
    EXPECT_EQ(w.tasks.size(), 1U);
    run(engine.pause_queue("default", kAnn));
    submit(20, large);
    store.forget_calls();
    run(engine.resume_queue("default", kAnn));
    settle();
    EXPECT_EQ(w.tasks.size(), 21U);
    EXPECT_GE(store.calls(Op::claim), 4U) << "about five of them are 4 MiB";
}

TEST_F(StreamTest, a_store_that_is_silent_is_asked_again_later_and_later) {
    submit();
    store.fail_next(Op::claim, Fault::never_arrives, 3);
    Peer& w = worker(1);
    EXPECT_EQ(store.calls(Op::claim), 1U);
    advance(50ms);
    settle();
    EXPECT_EQ(store.calls(Op::claim), 2U);
    advance(100ms);
    settle();
    EXPECT_EQ(store.calls(Op::claim), 3U);
    advance(200ms);
    settle();
    EXPECT_EQ(w.tasks.size(), 1U);
    EXPECT_EQ(std::ranges::count(w.ops, "error"), 0);
}

TEST_F(StreamTest, a_claim_that_no_queue_allows_is_told_to_the_worker) {
    Peer& w = worker(1, R"(,"types":["t"])");
    EXPECT_EQ(w.ops, (Lines{"welcome", "error"}));
    EXPECT_EQ(w.frames.back().at("field").as_string(), "types");
    advance(5s);
    advance(5s);
    settle();
    EXPECT_EQ(w.ops.size(), 2U) << "once";
    run(engine.set_lanes_by_type("default", true, kAnn));
    submit(work("default", "t"));
    advance(5s);
    settle();
    EXPECT_EQ(w.tasks.size(), 1U) << "and it works as soon as it can";
}

TEST_F(StreamTest, one_who_never_says_hello_is_sent_away) {
    Peer& w = connect();
    advance(10s);
    settle();
    EXPECT_EQ(w.ops, (Lines{"bye"}));
    EXPECT_EQ(w.line.closed, "protocol");
    EXPECT_TRUE(w.served.answered());
}

TEST_F(StreamTest, it_is_listed_while_it_is_connected) {
    submit(2);
    Peer& w = worker(4, R"(,"labels":{"gpu":"a"})");
    advance(5s);
    says(w, R"({"op":"heartbeat"})");
    EXPECT_EQ(
        workers.json("i1"),
        R"([{"name":"w","kind":"stream","instance":"i1","queues":["default"],"slots":4,"running":2,)"
        R"("connected_at":"2026-01-05T00:00:00.000Z","last_seen":"2026-01-05T00:00:05.000Z","busy_until":null,)"
        R"("draining":false,"labels":{"gpu":"a"},"models":[],"address":"127.0.0.1:9"}])");
    EXPECT_EQ(workers.drain("w"), 1U);
    EXPECT_NE(workers.json("i1").find(R"("draining":true)"), std::string::npos);
    says(w, frame("done", w.tasks));
    EXPECT_EQ(w.line.closed, "drained_by_operator");
    EXPECT_EQ(workers.size(), 0U);
}

TEST_F(StreamTest, bad_frames_are_answered_and_do_no_harm) {
    const TaskId id = submit();
    Peer& w = worker(1);
    says(w, R"({"op":"done","items":[{"id":"x"}]})");
    EXPECT_EQ(w.ops.back(), "error");
    EXPECT_EQ(state(id), State::running);
    says(w, frame("done", w.tasks));
    EXPECT_EQ(state(id), State::succeeded);
}

}  // namespace
}  // namespace holdfast::nodes
