// The client and one real server.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/task_group.h"
#include "testing/redis_server.h"
#include "world.h"

namespace holdfast::redis {
namespace {

using testing::RedisServer;

std::unique_ptr<RedisServer> server_with(std::vector<std::string> options = {}) {
    auto server = RedisServer::start(std::move(options));
    if (!server) throw std::runtime_error(server.error().detail);
    return *std::move(server);
}

TEST(redis_single, a_call_is_answered) {
    World world;
    const auto server = server_with();
    Started client(world, options_for(server->port()));
    ASSERT_TRUE(client.result) << client.result.error().detail;
    EXPECT_EQ(client.said("k", Command("SET", "k", "v")), "OK");
    EXPECT_EQ(client.said("k", Command("GET", "k")), "v");
    EXPECT_EQ(client.said("n", Command("GET", "n")), "null");
    EXPECT_EQ(client->trouble(), std::nullopt);
}

TEST(redis_single, what_the_server_refuses_is_unavailable_in_its_own_words) {
    World world;
    const auto server = server_with();
    Started client(world, options_for(server->port()));
    const auto refused = client.call("k", Command("INCR"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unavailable);
    EXPECT_TRUE(refused.error().detail.contains("wrong number of arguments"))
        << refused.error().detail;
    EXPECT_EQ(client.said(Command("PING")), "PONG") << "the connection is as good as before";
}

Async<void> increment(Client* client, int* at, std::vector<std::int64_t>* seen) {
    const int mine = (*at)++;
    auto reply = co_await client->call("n", Command("INCR", "n"));
    (*seen)[static_cast<std::size_t>(mine)] = reply ? reply->root().integer() : -1;
}

TEST(redis_single, ten_thousand_calls_at_once_are_answered_each_with_its_own_reply) {
    constexpr int kCalls = 10'000;
    World world;
    const auto server = server_with();
    Started client(world, options_for(server->port()));
    std::vector<std::int64_t> seen(kCalls);
    int at = 0;
    TaskGroup group(world.io.get_executor());
    for (int i = 0; i < kCalls; ++i) group.spawn(increment(&*client, &at, &seen));
    world.run(group.join());
    for (int i = 0; i < kCalls; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], i + 1);
}

TEST(redis_single, a_script_that_the_server_forgot_is_loaded_again) {
    World world;
    const auto server = server_with();
    Started client(world, options_for(server->port()));
    const Script script("echo", "return {KEYS[1], ARGV[1]}");
    for (int round = 0; round < 3; ++round) {
        const auto reply = world.run(client->run(script, "key", {"word"}));
        ASSERT_TRUE(reply) << reply.error().detail;
        EXPECT_EQ(reply->root()[0].text(), "key");
        EXPECT_EQ(reply->root()[1].text(), "word");
        if (round == 1) client.call(Command("SCRIPT", "FLUSH"));
    }
    EXPECT_EQ(client.said("", Command("EVALSHA", script.digest(), 1, "k", "a")).find("failed"),
              std::string::npos);
}

}  // namespace
}  // namespace holdfast::redis
