#include "nodes/ports/workers.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "testing/manual_clock.h"

namespace holdfast::nodes {
namespace {

using namespace std::chrono_literals;

class WorkersTest : public ::testing::Test {
  protected:
    std::vector<std::string> names() {
        std::vector<std::string> found;
        const auto all = Json::stored(workers.json("i1")).value();
        for (const auto& worker : all.as_array()) found.emplace_back(worker.at("name").as_string());
        return found;
    }
    testing::ManualClock clock;
    Workers workers{clock};
};

TEST_F(WorkersTest, a_stream_is_shown_until_it_leaves) {
    Worker worker;
    worker.name = "w\"1";
    worker.address = "127.0.0.1:5";
    worker.queues = {"a", "b"};
    worker.models = {"m"};
    worker.labels = {{"gpu", "a100"}};
    worker.slots = 8;
    worker.running = 3;
    worker.connected_at = worker.last_seen = clock.now();
    worker.stream = true;
    const auto place = workers.join({worker, [] {}});
    EXPECT_EQ(
        workers.json("i1"),
        R"([{"name":"w\"1","kind":"stream","instance":"i1","queues":["a","b"],"slots":8,"running":3,)"
        R"("connected_at":"2026-01-05T00:00:00.000Z","last_seen":"2026-01-05T00:00:00.000Z","busy_until":null,)"
        R"("draining":false,"labels":{"gpu":"a100"},"models":["m"],"address":"127.0.0.1:5"}])");
    clock.advance(1h);
    EXPECT_EQ(workers.size(), 1U) << "a connection is not forgotten";
    EXPECT_EQ(workers.json("i1", 0), "[]") << "at most so many";
    workers.leave(place);
    EXPECT_EQ(workers.json("i1"), "[]");
}

TEST_F(WorkersTest, an_http_worker_is_shown_as_it_was_seen) {
    workers.seen_claiming("w", {"q"}, "127.0.0.1:1");
    clock.advance(10s);
    workers.seen_beating("w", 2, "127.0.0.1:2");
    EXPECT_EQ(
        workers.json("i1"),
        R"([{"name":"w","kind":"http","instance":"i1","queues":["q"],"slots":null,"running":2,)"
        R"("connected_at":"2026-01-05T00:00:00.000Z","last_seen":"2026-01-05T00:00:10.000Z","busy_until":null,)"
        R"("draining":false,"labels":{},"models":[],"address":"127.0.0.1:2"}])");
}

TEST_F(WorkersTest, an_http_worker_that_is_not_seen_is_forgotten) {
    workers.seen_claiming("a", {"q"}, "");
    workers.seen_claiming("b", {"q"}, "");
    clock.advance(Workers::kForgottenAfter);
    workers.seen_beating("a", 0, "");
    EXPECT_EQ(names(), (std::vector<std::string>{"b", "a"}));
    clock.advance(1s);
    EXPECT_EQ(names(), (std::vector<std::string>{"a"}));
}

TEST_F(WorkersTest, an_http_worker_that_holds_a_lease_is_not_forgotten_before_it_ends) {
    workers.seen_claiming("long", {"q"}, "");
    workers.holds_until("long", clock.now() + 10min);
    workers.holds_until("long", clock.now() + 1min);  // of a second task
    workers.holds_until("nobody", clock.now() + 10min);
    workers.seen_claiming("short", {"q"}, "");
    clock.advance(5min);
    EXPECT_EQ(names(), (std::vector<std::string>{"long"}));
    EXPECT_NE(workers.json("i1").find(R"("busy_until":"2026-01-05T00:10:00.000Z")"),
              std::string::npos);
    clock.advance(6min);
    EXPECT_TRUE(names().empty());
}

TEST_F(WorkersTest, a_heartbeat_without_tasks_ends_what_was_held) {
    workers.seen_claiming("w", {"q"}, "");
    workers.holds_until("w", clock.now() + 10min);
    workers.seen_beating("w", 0, "");
    clock.advance(2min);
    EXPECT_TRUE(names().empty());
}

TEST_F(WorkersTest, there_is_a_bound_and_whoever_was_seen_last_stays) {
    for (std::size_t i = 0; i < Workers::kMostHttp; ++i)
        workers.seen_claiming("w" + std::to_string(i), {"q"}, "");
    workers.seen_claiming("w0", {"q"}, "");
    workers.seen_claiming("new", {"q"}, "");
    EXPECT_EQ(workers.size(), Workers::kMostHttp);
    const auto found = names();
    EXPECT_EQ(std::ranges::count(found, "w1"), 0);
    EXPECT_EQ(std::ranges::count(found, "w0"), 1);
    EXPECT_EQ(found.back(), "new");
}

TEST_F(WorkersTest, an_operators_drain_reaches_every_stream_of_that_name) {
    int told = 0;
    for (const char* name : {"a", "b", "a"}) {
        Worker worker;
        worker.name = name;
        workers.join({worker, [&told] { ++told; }});
    }
    workers.seen_claiming("h", {"q"}, "");
    EXPECT_EQ(workers.drain("a"), 2U);
    EXPECT_EQ(told, 2);
    EXPECT_EQ(workers.drain("h"), 0U);
}

}  // namespace
}  // namespace holdfast::nodes
