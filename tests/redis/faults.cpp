// The client and a connection that behaves badly.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "base/task_group.h"
#include "testing/fault_proxy.h"
#include "testing/redis_server.h"
#include "testing/redis_talk.h"
#include "world.h"

namespace holdfast::redis {
namespace {

using testing::ask_redis;
using testing::FaultProxy;
using testing::RedisServer;

class RedisFaults : public ::testing::Test {
  protected:
    void SetUp() override {
        auto server = RedisServer::start();
        ASSERT_TRUE(server) << server.error().detail;
        server_ = *std::move(server);
        auto proxy = FaultProxy::start(server_->port());
        ASSERT_TRUE(proxy);
        proxy_ = *std::move(proxy);
    }
    Options impatient() const {
        Options options = options_for(proxy_->port());
        options.call_timeout = 300ms;
        return options;
    }
    std::int64_t stored() const {
        const auto reply = ask_redis(server_->port(), Command("GET", "n"));
        return reply ? reply->root().integer() : -1;
    }
    World world_;
    std::unique_ptr<RedisServer> server_;
    std::unique_ptr<FaultProxy> proxy_;
};

TEST_F(RedisFaults, a_lost_reply_is_unavailable_and_the_call_is_not_repeated) {
    Started client(world_, impatient());
    ASSERT_TRUE(client.result) << client.result.error().detail;
    ASSERT_EQ(client.said("n", Command("INCR", "n")), "1");
    proxy_->swallow_replies(true);
    const auto lost = client.call("n", Command("INCR", "n"));
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, Code::unavailable);
    EXPECT_TRUE(lost.error().detail.contains("no answer within 300ms")) << lost.error().detail;
    proxy_->swallow_replies(false);
    ASSERT_TRUE(world_.wait([&] { return !client->trouble(); }, 5s));
    EXPECT_EQ(stored(), 2) << "carried out once";
    EXPECT_EQ(client.said("n", Command("INCR", "n")), "3");
}

TEST_F(RedisFaults, a_server_that_stalls_is_given_up_when_the_oldest_call_is_late) {
    Started client(world_, impatient());
    proxy_->stall(true);
    const Time before = world_.clock.now();
    EXPECT_FALSE(client.call("n", Command("INCR", "n")));
    const Duration took = world_.clock.now() - before;
    EXPECT_GE(took, 290ms);
    EXPECT_LT(took, 2s);
    EXPECT_TRUE(client->trouble());
    proxy_->stall(false);
    EXPECT_TRUE(world_.wait([&] { return client.said(Command("PING")) == "PONG"; }, 5s));
}

TEST_F(RedisFaults, a_peer_that_vanished_is_found_out_though_nobody_calls) {
    Started client(world_, impatient());
    proxy_->stall(true);
    EXPECT_TRUE(world_.wait([&] { return client->trouble().has_value(); }, 3s));
    proxy_->stall(false);
}

TEST_F(RedisFaults, a_slow_reply_within_the_time_is_a_reply) {
    Started client(world_, impatient());
    proxy_->delay_replies(100ms);
    EXPECT_EQ(client.said("n", Command("INCR", "n")), "1");
}

Async<void> increment(Client* client, int* answered, int* failed) {
    auto reply = co_await client->call("n", Command("INCR", "n"));
    ++*(reply ? answered : failed);
}

TEST_F(RedisFaults, cut_under_load_every_call_is_answered_once_and_none_is_repeated) {
    constexpr int kRounds = 40;
    constexpr int kCalls = 50;
    Started client(world_, impatient());
    int answered = 0;
    int failed = 0;
    TaskGroup group(world_.io.get_executor());
    for (int round = 0; round < kRounds; ++round) {
        for (int i = 0; i < kCalls; ++i) group.spawn(increment(&*client, &answered, &failed));
        if (round % 4 == 3) proxy_->cut();
        world_.let(2ms);
    }
    world_.run(group.join());
    EXPECT_EQ(answered + failed, kRounds * kCalls);
    EXPECT_GT(answered, kCalls);
    EXPECT_GE(stored(), answered) << "what was answered was carried out";
    EXPECT_LE(stored(), kRounds * kCalls) << "nothing was carried out twice";
    EXPECT_TRUE(world_.wait([&] { return client.said(Command("PING")) == "PONG"; }, 5s));
}

TEST_F(RedisFaults, a_handshake_that_never_ends_is_given_up) {
    proxy_->swallow_replies(true);
    Options options = impatient();
    options.connect_timeout = 300ms;
    Started client(world_, options);
    ASSERT_FALSE(client.result);
    EXPECT_TRUE(client.result.error().detail.contains("no answer within 300ms"))
        << client.result.error().detail;
}

TEST_F(RedisFaults, more_calls_than_a_connection_holds_are_shed_and_the_others_answered) {
    constexpr int kTooMany = 66'000;
    Options options = impatient();
    options.call_timeout = 30s;
    Started client(world_, options);
    proxy_->stall(true);
    int answered = 0;
    int failed = 0;
    TaskGroup group(world_.io.get_executor());
    for (int i = 0; i < kTooMany; ++i) group.spawn(increment(&*client, &answered, &failed));
    ASSERT_TRUE(world_.wait([&] { return failed > 0; }));
    const auto shed = client.call("n", Command("INCR", "n"));
    ASSERT_FALSE(shed);
    EXPECT_EQ(shed.error().code, Code::overloaded);
    proxy_->stall(false);
    world_.run(group.join());
    EXPECT_EQ(answered + failed, kTooMany);
    EXPECT_EQ(answered, 65'536);
    EXPECT_EQ(stored(), answered);
}

}  // namespace
}  // namespace holdfast::redis
