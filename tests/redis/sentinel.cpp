// The client and a server that Sentinels watch.
#include <gtest/gtest.h>

#include <stdexcept>

#include "testing/redis_sentinel.h"
#include "testing/redis_talk.h"
#include "world.h"

namespace holdfast::redis {
namespace {

using testing::RedisSentinel;

TEST(redis_sentinel, the_master_is_found_and_found_again_when_another_takes_over) {
    World world;
    const auto house = RedisSentinel::start(2);
    ASSERT_TRUE(house) << house.error().detail;
    auto options = parse_url((*house)->url());
    ASSERT_TRUE(options);
    options->addresses.insert(options->addresses.begin(), {"127.0.0.1", 1});  // nobody is there
    int others = 0;
    Started client(world, *options);
    ASSERT_TRUE(client.result) << client.result.error().detail;
    client->on_another_server([&] { ++others; });
    ASSERT_EQ(client.said("n", Command("SET", "n", 1)), "OK");
    ASSERT_EQ(client.said("n", Command("WAIT", 2, 5000)), "2");

    const int first = (*house)->master();
    (*house)->servers()[static_cast<std::size_t>(first)]->kill();
    EXPECT_TRUE(world.wait([&] { return client.said("n", Command("INCR", "n")) == "2"; }, 20s))
        << client->trouble().value_or("no trouble");
    EXPECT_GE(others, 1);

    // One that steps down while it is alive answers READONLY, or not at all: either way the new one is found.
    const int second = (*house)->master();
    ASSERT_TRUE((*house)->servers()[static_cast<std::size_t>(first)]->start_again());
    ASSERT_TRUE(testing::wait_until("the Sentinels are ready for it", 30s,
                                    [&] { return (*house)->fail_over().has_value(); }));
    ASSERT_TRUE((*house)->wait_for_another_than(second));
    EXPECT_TRUE(world.wait([&] { return others >= 2; }, 20s)) << "heard of by +switch-master";
    EXPECT_TRUE(world.wait([&] { return client.said("m", Command("INCR", "m")) == "1"; }, 20s));
    const std::uint16_t port =
        (*house)->servers()[static_cast<std::size_t>((*house)->master())]->port();
    EXPECT_TRUE(testing::redis_says(port, Command("GET", "m"), "1"));
}

TEST(redis_sentinel, a_service_that_nobody_knows_is_named) {
    World world;
    const auto house = RedisSentinel::start(0, 1);
    ASSERT_TRUE(house) << house.error().detail;
    auto options = parse_url((*house)->url());
    options->service = "unknown";
    Started client(world, *options);
    ASSERT_FALSE(client.result);
    EXPECT_TRUE(client.result.error().detail.contains("knows no service unknown"))
        << client.result.error().detail;
}

}  // namespace
}  // namespace holdfast::redis
