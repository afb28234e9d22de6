// The client and a real cluster.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <vector>

#include "base/task_group.h"
#include "testing/fault_proxy.h"
#include "testing/redis_cluster.h"
#include "testing/redis_talk.h"
#include "world.h"

namespace holdfast::redis {
namespace {

using testing::ask_redis;
using testing::RedisCluster;

std::unique_ptr<RedisCluster> cluster_of(int masters, int replicas_each = 0) {
    auto cluster = RedisCluster::start(masters, replicas_each);
    if (!cluster) throw std::runtime_error(cluster.error().detail);
    return *std::move(cluster);
}

Options options_of(const RedisCluster& cluster) {
    auto options = parse_url(cluster.url());
    options->addresses.resize(1);  // the rest is found
    return *std::move(options);
}

std::int64_t commands_on(std::uint16_t port) {
    const auto stats = ask_redis(port, Command("DBSIZE"));
    return stats ? stats->root().integer() : -1;
}

/// Three masters; the tests leave it as whole as it was.
class RedisClusterOfThree : public ::testing::Test {
  protected:
    static void SetUpTestSuite() { cluster_ = cluster_of(3); }
    static void TearDownTestSuite() { cluster_.reset(); }
    void SetUp() override {
        for (const auto& server : cluster_->servers())
            ask_redis(server->port(), Command("FLUSHALL"));
    }
    static std::unique_ptr<RedisCluster> cluster_;
    World world_;
};
std::unique_ptr<RedisCluster> RedisClusterOfThree::cluster_;

TEST_F(RedisClusterOfThree, every_key_goes_to_the_server_that_has_its_slot) {
    constexpr int kKeys = 300;
    Started client(world_, options_of(*cluster_));
    ASSERT_TRUE(client.result) << client.result.error().detail;
    EXPECT_EQ(client->trouble(), std::nullopt);
    for (int i = 0; i < kKeys; ++i) {
        const std::string key = "key" + std::to_string(i);
        ASSERT_EQ(client.said(key, Command("SET", key, i)), "OK");
        ASSERT_EQ(client.said(key, Command("GET", key)), std::to_string(i));
    }
    std::int64_t all = 0;
    for (const auto& server : cluster_->servers()) {
        EXPECT_GT(commands_on(server->port()), kKeys / 10);
        all += commands_on(server->port());
    }
    EXPECT_EQ(all, kKeys);
}

TEST_F(RedisClusterOfThree, the_slot_of_a_key_is_what_the_server_says) {
    for (const std::string key : {"", "foo", "{user}.name", "{}.x", "a{b}{c}", "a{{b}}", "{"}) {
        const auto slot =
            ask_redis(cluster_->servers()[0]->port(), Command("CLUSTER", "KEYSLOT", key));
        ASSERT_TRUE(slot);
        EXPECT_EQ(slot_of(key), slot->root().integer()) << key;
    }
}

TEST_F(RedisClusterOfThree, call_each_asks_every_master_and_a_call_without_key_any) {
    Started client(world_, options_of(*cluster_));
    const auto replies = world_.run(client->call_each(Command("CLUSTER", "MYID")));
    ASSERT_TRUE(replies);
    std::set<std::string> ids;
    for (const Reply& reply : *replies) ids.emplace(reply.root().text());
    EXPECT_EQ(ids.size(), 3U);
    EXPECT_EQ(client.said(Command("PING")), "PONG");
}

TEST_F(RedisClusterOfThree, a_slot_that_moved_is_found_again) {
    Started client(world_, options_of(*cluster_));
    const std::uint16_t slot = slot_of("moving");
    const int from = cluster_->master_of(slot);
    const int to = (from + 1) % 3;
    ASSERT_EQ(client.said("moving", Command("SET", "moving", "v")), "OK");
    const auto moved = cluster_->migrate(slot, to);
    ASSERT_TRUE(moved) << moved.error().detail;
    EXPECT_EQ(client.said("moving", Command("GET", "moving")), "v");
    EXPECT_EQ(commands_on(cluster_->servers()[static_cast<std::size_t>(to)]->port()), 1);
    const Script script("get", "return redis.call('GET', KEYS[1])");
    const auto run = world_.run(client->run(script, "moving", {}));
    ASSERT_TRUE(run) << run.error().detail;
    EXPECT_EQ(run->root().text(), "v");
    ASSERT_TRUE(cluster_->migrate(slot, from));
}

TEST_F(RedisClusterOfThree, while_a_slot_is_on_its_way_every_key_of_it_is_found) {
    Started client(world_, options_of(*cluster_));
    const std::uint16_t slot = slot_of("{way}");
    const int from = cluster_->master_of(slot);
    const int to = (from + 1) % 3;
    for (int i = 0; i < 20; ++i) {
        const std::string key = "{way}" + std::to_string(i);
        ASSERT_EQ(client.said(key, Command("SET", key, i)), "OK");
    }
    ASSERT_TRUE(cluster_->begin_migration(slot, to));
    ASSERT_TRUE(cluster_->move_keys(slot, to, 10));
    for (int i = 0; i < 20; ++i) {
        const std::string key = "{way}" + std::to_string(i);
        EXPECT_EQ(client.said(key, Command("GET", key)), std::to_string(i));
    }
    // One key here, one there: no server can do it until the slot has arrived. Until then it is tried again.
    std::vector<Result<Reply>> answers;
    TaskGroup group(world_.io.get_executor());
    Command both("MGET");
    for (int i = 0; i < 20; ++i) both.add("{way}" + std::to_string(i));
    group.spawn(kept(client->call("{way}", both), &answers));
    world_.let(100ms);
    EXPECT_TRUE(answers.empty());
    ASSERT_TRUE(cluster_->move_keys(slot, to, 100));
    ASSERT_TRUE(cluster_->end_migration(slot, to));
    world_.run(group.join());
    ASSERT_EQ(answers.size(), 1U);
    ASSERT_TRUE(answers[0]) << answers[0].error().detail;
    EXPECT_EQ(answers[0]->root()[19].text(), "19");
    ASSERT_TRUE(cluster_->migrate(slot, from));
}

/// Everybody says that the server is at `port`; 0: at its own.
void announce(const RedisCluster& cluster, std::size_t server, std::uint16_t port) {
    const std::uint16_t own = cluster.servers()[server]->port();
    const auto told = ask_redis(own, Command("CONFIG", "SET", "cluster-announce-port", port));
    ASSERT_TRUE(told) << told.error().detail;
    const std::string mark = "127.0.0.1:" + std::to_string(port == 0 ? own : port) + "@";
    for (const auto& one : cluster.servers()) {
        const auto known = testing::wait_until("the address is known", 20s, [&] {
            return testing::redis_says(one->port(), Command("CLUSTER", "NODES"), mark);
        });
        ASSERT_TRUE(known) << known.error().detail;
    }
}

/// A key of a slot that this server has.
std::string key_on(const RedisCluster& cluster, int server) {
    for (int i = 0;; ++i) {
        std::string key = "k" + std::to_string(i);
        if (cluster.master_of(slot_of(key)) == server) return key;
    }
}

TEST_F(RedisClusterOfThree,
       a_call_that_was_sent_is_not_repeated_though_another_has_the_slot_by_now) {
    const int first = cluster_->master_of(slot_of("n"));
    const int second = (first + 1) % 3;
    const auto place = static_cast<std::size_t>(first);
    const auto proxy = testing::FaultProxy::start(cluster_->servers()[place]->port());
    announce(*cluster_, place, (*proxy)->port());
    auto options = options_of(*cluster_);
    options.call_timeout = 60s;
    std::vector<Result<Reply>> answers;
    TaskGroup group(world_.io.get_executor());
    int others = 0;
    Started client(world_, options);
    ASSERT_TRUE(client.result) << client.result.error().detail;
    client->on_another_server([&] { ++others; });
    ASSERT_EQ(client.said("n", Command("SET", "n", 1)), "OK");
    ASSERT_GT((*proxy)->bytes_to_server(), 0U);
    announce(*cluster_, place, 0);

    (*proxy)->swallow_replies(true);
    group.spawn(kept(client->call("n", Command("INCR", "n")), &answers));
    world_.let(100ms);
    const auto moved = cluster_->migrate(slot_of("n"), second);
    ASSERT_TRUE(moved) << moved.error().detail;
    // The client hears of it by a slot that moved elsewhere.
    const std::string other = key_on(*cluster_, second);
    ASSERT_NE(slot_of(other), slot_of("n"));
    ASSERT_TRUE(cluster_->migrate(slot_of(other), (first + 2) % 3));
    ASSERT_EQ(client.said(other, Command("GET", other)), "null");
    ASSERT_TRUE(world_.wait([&] { return others > 0; })) << "the address of the proxy is forgotten";
    ASSERT_EQ(client.said("n", Command("GET", "n")), "2");
    EXPECT_TRUE(answers.empty());
    (*proxy)->cut();
    world_.run(group.join());
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_FALSE(answers[0]) << "nobody knows what became of it";
    EXPECT_EQ(client.said("n", Command("GET", "n")), "2") << "carried out once";
    ASSERT_TRUE(cluster_->migrate(slot_of("n"), first));
    ASSERT_TRUE(cluster_->migrate(slot_of(other), second));
}

Async<void> called(Client* client, Command command) {
    co_await client->call("{way}", std::move(command));
}

TEST_F(RedisClusterOfThree, a_caller_who_is_cancelled_leaves_nothing_behind) {
    const std::uint16_t slot = slot_of("{way}");
    const int from = cluster_->master_of(slot);
    const int to = (from + 1) % 3;
    {
        Started client(world_, options_of(*cluster_));
        ASSERT_EQ(client.said("{way}1", Command("MSET", "{way}1", 1, "{way}2", 2)), "OK");
        ASSERT_TRUE(cluster_->begin_migration(slot, to));
        ASSERT_TRUE(cluster_->move_keys(slot, to, 1));
        TaskGroup group(world_.io.get_executor());
        group.spawn(called(&*client, Command("MGET", "{way}1", "{way}2")));  // again and again
        world_.let(50ms);
        ASSERT_EQ(group.size(), 1U);
        world_.run(group.stop());
    }  // stop() waits for all calls: it would not come back
    ASSERT_TRUE(cluster_->move_keys(slot, to, 10));
    ASSERT_TRUE(cluster_->end_migration(slot, to));
    ASSERT_TRUE(cluster_->migrate(slot, from));
}

TEST_F(RedisClusterOfThree, what_is_published_anywhere_is_heard) {
    std::vector<std::string> heard;
    Started client(world_, options_of(*cluster_));
    client->subscribe("news", [&](std::string_view message) { heard.emplace_back(message); });
    EXPECT_TRUE(world_.wait([&] {
        for (const auto& server : cluster_->servers())
            ask_redis(server->port(), Command("PUBLISH", "news", server->port()));
        return std::set<std::string>(heard.begin(), heard.end()).size() == 3;
    }));
}

TEST(redis_cluster, a_server_that_is_no_cluster_is_refused_with_its_own_words) {
    World world;
    const auto server = testing::RedisServer::start();
    ASSERT_TRUE(server);
    auto options = options_for((*server)->port());
    options.mode = Options::Mode::cluster;
    Started client(world, options);
    ASSERT_FALSE(client.result);
    EXPECT_TRUE(client.result.error().detail.contains("cluster support disabled"))
        << client.result.error().detail;
}

TEST(redis_cluster, when_a_master_dies_its_replica_is_found) {
    World world;
    const auto cluster = cluster_of(3, 1);
    int others = 0;
    Started client(world, options_of(*cluster));
    ASSERT_TRUE(client.result) << client.result.error().detail;
    client->on_another_server([&] { ++others; });
    ASSERT_EQ(client.said("n", Command("SET", "n", 1)), "OK");
    const int master = cluster->master_of(slot_of("n"));
    ASSERT_EQ(client.said("n", Command("WAIT", 1, 5000)), "1");
    cluster->servers()[static_cast<std::size_t>(master)]->kill();
    EXPECT_TRUE(world.wait([&] { return client->trouble().has_value(); }));
    EXPECT_TRUE(world.wait([&] { return client.said("n", Command("GET", "n")) == "1"; }, 15s));
    EXPECT_TRUE(world.wait([&] { return !client->trouble().has_value(); }, 5s))
        << client->trouble().value_or("");
    EXPECT_GE(others, 1);
    // The old one comes back as a replica: nobody is disturbed.
    ASSERT_TRUE(cluster->servers()[static_cast<std::size_t>(master)]->start_again());
    ASSERT_TRUE(cluster->wait_until_whole());
    EXPECT_EQ(client.said("n", Command("INCR", "n")), "2");
    // And takes over again when it is told to.
    const auto failed_over = cluster->fail_over(slot_of("n"));
    ASSERT_TRUE(failed_over) << failed_over.error().detail;
    EXPECT_EQ(client.said("n", Command("INCR", "n")), "3");
    EXPECT_TRUE(world.wait([&] { return !client->trouble().has_value(); }, 5s))
        << client->trouble().value_or("");
}

}  // namespace
}  // namespace holdfast::redis
