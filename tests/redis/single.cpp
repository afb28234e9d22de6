// The client and one real server.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "testing/redis_server.h"
#include "testing/redis_talk.h"
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

// ---- who we are ----

constexpr const char* kSecret = "s3cret-of-mary";

/// Only mary may come in, and do what `rights` say.
std::vector<std::string> with_mary(const std::vector<std::string>& rights) {
    std::vector<std::string> words{
        "--user", "default", "off", "--user", "mary", "on", std::string(">") + kSecret};
    words.insert(words.end(), rights.begin(), rights.end());
    return words;
}

TEST(redis_single, a_user_signs_in_with_the_password) {
    World world;
    const auto server = server_with(with_mary({"~*", "&*", "+@all"}));
    auto options = options_for(server->port());
    options.user = "mary";
    options.password = kSecret;
    Started client(world, options);
    ASSERT_TRUE(client.result) << client.result.error().detail;
    EXPECT_EQ(client.said(Command("ACL", "WHOAMI")), "mary");
    EXPECT_EQ(client.said(Command("CLIENT", "GETNAME")), "holdfast");
}

TEST(redis_single, a_user_with_few_rights_is_enough) {
    World world;
    const auto server = server_with(with_mary({"~*", "-@all", "+get", "+set"}));
    auto options = options_for(server->port());
    options.user = "mary";
    options.password = kSecret;
    Started client(world, options);
    ASSERT_TRUE(client.result) << client.result.error().detail;
    EXPECT_EQ(client.said("k", Command("SET", "k", 1)), "OK");
    EXPECT_TRUE(client.said("k", Command("DEL", "k")).contains("NOPERM"));
}

TEST(redis_single, a_wrong_password_is_said_so_and_not_repeated) {
    World world;
    const auto server = server_with(with_mary({"~*", "+@all"}));
    for (const bool with_user : {true, false}) {
        auto options = options_for(server->port());
        if (with_user) options.user = "mary";
        options.password = "not-the-right-one";
        Started client(world, options);
        ASSERT_FALSE(client.result);
        const std::string& said = client.result.error().detail;
        EXPECT_TRUE(said.contains("WRONGPASS")) << said;
        EXPECT_TRUE(said.contains(std::to_string(server->port()))) << said;
        EXPECT_FALSE(said.contains("not-the-right-one")) << said;
    }
    Started nameless(world, options_for(server->port()));
    ASSERT_FALSE(nameless.result);
    EXPECT_TRUE(nameless.result.error().detail.contains("NOAUTH"))
        << nameless.result.error().detail;
}

TEST(redis_single, the_database_is_the_one_that_was_named) {
    World world;
    const auto server = server_with();
    auto options = options_for(server->port());
    options.database = 5;
    Started five(world, options);
    Started zero(world, options_for(server->port()));
    EXPECT_EQ(five.said("k", Command("SET", "k", 1)), "OK");
    EXPECT_EQ(zero.said("k", Command("GET", "k")), "null");
    options.database = 99;
    Started none(world, options);
    ASSERT_FALSE(none.result);
    EXPECT_TRUE(none.result.error().detail.contains("database 99")) << none.result.error().detail;
}

TEST(redis_single, an_old_server_without_hello_is_spoken_to_in_resp2) {
    World world;
    const auto server = server_with({"--rename-command", "HELLO", "", "--requirepass", kSecret});
    auto options = options_for(server->port());
    options.password = kSecret;
    options.database = 3;
    std::vector<std::string> heard;
    Started client(world, options);
    ASSERT_TRUE(client.result) << client.result.error().detail;
    EXPECT_EQ(client.said("k", Command("SET", "k", 1)), "OK");
    EXPECT_EQ(client.said(Command("CLIENT", "GETNAME")), "holdfast");
    client->subscribe("news", [&](std::string_view message) { heard.emplace_back(message); });
    EXPECT_TRUE(world.wait([&] {
        client.call(Command("PUBLISH", "news", "hello"));
        return !heard.empty();
    }));
    EXPECT_EQ(heard.front(), "hello");
    options.password = "wrong";
    Started refused(world, options);
    EXPECT_FALSE(refused.result);
}

TEST(redis_single, a_replica_is_refused_because_it_takes_no_writes) {
    World world;
    const auto master = server_with();
    const auto replica =
        server_with({"--replicaof", "127.0.0.1 " + std::to_string(master->port())});
    Started client(world, options_for(replica->port()));
    ASSERT_FALSE(client.result);
    EXPECT_TRUE(client.result.error().detail.contains("replica")) << client.result.error().detail;
}

// ---- TLS ----

TEST(redis_single, tls_believes_whom_the_named_authority_has_signed_and_nobody_else) {
    World world;
    const auto certificates = testing::Certificates::make();
    const auto others = testing::Certificates::make();
    ASSERT_TRUE(certificates && others);
    const auto server = RedisServer::start_tls(*certificates);
    ASSERT_TRUE(server) << server.error().detail;
    auto options = options_for((*server)->port());
    options.tls = true;
    options.connect_timeout = 20s;
    options.ca_file = certificates->ca();
    {
        Started client(world, options);
        ASSERT_TRUE(client.result) << client.result.error().detail;
        const std::string large(3'000'000, 'x');
        EXPECT_EQ(client.said("k", Command("SET", "k", large)), "OK");
        EXPECT_EQ(client.said("k", Command("GET", "k")).size(), large.size());
    }
    options.ca_file = others->ca();
    Started wrong(world, options);
    ASSERT_FALSE(wrong.result);
    EXPECT_TRUE(wrong.result.error().detail.contains("certificate")) << wrong.result.error().detail;
    options.ca_file = "/no/such/file";
    Started none(world, options);
    ASSERT_FALSE(none.result);
    EXPECT_TRUE(none.result.error().detail.contains("/no/such/file")) << none.result.error().detail;
    options.ca_file = certificates->ca();
    options.addresses[0].host = "localhost";  // the certificate is for 127.0.0.1 only
    Started other_name(world, options);
    EXPECT_FALSE(other_name.result);
}

// ---- servers that go and come back ----

TEST(redis_single, a_server_that_is_not_there_is_said_so_at_once) {
    World world;
    const auto port = testing::free_port();
    Started client(world, options_for(*port));
    ASSERT_FALSE(client.result);
    EXPECT_EQ(client.result.error().code, Code::unavailable);
    EXPECT_TRUE(client.result.error().detail.contains(std::to_string(*port)));
    EXPECT_TRUE(client.result.error().detail.contains("refused")) << client.result.error().detail;
}

TEST(redis_single, a_client_that_found_nobody_may_start_again_later) {
    World world;
    const auto server = server_with();
    server->kill();
    const auto client = world.client(options_for(server->port()));
    EXPECT_FALSE(world.run(client->start()));
    EXPECT_TRUE(client->trouble());
    EXPECT_FALSE(world.run(client->call(Command("PING"))));
    ASSERT_TRUE(server->start_again());
    EXPECT_TRUE(world.run(client->start()));
    EXPECT_TRUE(world.run(client->call(Command("PING"))));
    world.run(client->stop());
    EXPECT_FALSE(world.run(client->call(Command("PING"))));
    EXPECT_TRUE(world.run(client->start()));
    EXPECT_TRUE(world.run(client->call(Command("PING"))));
    world.run(client->stop());
}

Async<void> started(Client* client, Result<>* result) {
    *result = co_await client->start();
}

TEST(redis_single, a_start_that_is_cancelled_comes_to_its_proper_end) {
    World world;
    const auto server = server_with();
    for (const auto mode : {Options::Mode::single, Options::Mode::cluster}) {
        auto options = options_for(server->port());
        options.mode = mode;
        options.connect_timeout = 200ms;
        const auto client = world.client(options);
        server->freeze();
        Result<> result;
        TaskGroup group(world.io.get_executor());
        group.spawn(started(client.get(), &result));
        world.let(20ms);
        world.run(group.stop());
        EXPECT_FALSE(result);
        world.run(client->stop());
        server->thaw();
    }
}

TEST(redis_single, a_host_is_looked_up_by_its_name) {
    World world;
    const auto server = server_with();
    auto options = options_for(server->port());
    options.addresses[0].host = "localhost";
    Started client(world, options);
    EXPECT_TRUE(client.result) << client.result.error().detail;
}

TEST(redis_single, a_killed_server_is_found_again_and_calls_in_between_fail_at_once) {
    World world;
    const auto server = server_with();
    int others = 0;
    std::vector<std::string> heard;
    Started client(world, options_for(server->port()));
    client->on_another_server([&] { ++others; });
    client->subscribe("news", [&](std::string_view message) { heard.emplace_back(message); });
    server->kill();
    ASSERT_TRUE(world.wait([&] { return client->trouble().has_value(); }));
    std::vector<Duration> took;
    for (int i = 0; i < 21; ++i) {
        const Time before = world.clock.now();
        const auto failed = client.call("k", Command("GET", "k"));
        took.push_back(world.clock.now() - before);
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().code, Code::unavailable);
        EXPECT_TRUE(failed.error().detail.contains(std::to_string(server->port())));
        world.let(10ms);
    }
    std::ranges::sort(took);
    EXPECT_LT(took[took.size() / 2], 5ms);  // not the worst: the machine may be busy
    EXPECT_EQ(others, 0);
    ASSERT_TRUE(server->start_again());
    EXPECT_TRUE(world.wait([&] { return !client->trouble(); }, 5s));
    EXPECT_EQ(client.said("k", Command("GET", "k")), "null");
    EXPECT_EQ(others, 1) << "it was started again: what it said before may be gone";
    heard.clear();
    EXPECT_TRUE(world.wait([&] {
        client.call(Command("PUBLISH", "news", "again"));
        return !heard.empty();
    })) << "the subscription was made again";
}

TEST(redis_single, the_same_server_after_a_cut_is_not_another_one) {
    World world;
    const auto server = server_with();
    int others = 0;
    Started client(world, options_for(server->port()));
    client->on_another_server([&] { ++others; });
    const std::string before = client.said(Command("CLIENT", "ID"));
    testing::ask_redis(server->port(), Command("CLIENT", "KILL", "TYPE", "normal"));
    ASSERT_TRUE(world.wait([&] {
        const std::string now = client.said(Command("CLIENT", "ID"));
        return now != before && !now.starts_with("failed");
    }));
    EXPECT_EQ(others, 0);
}

TEST(redis_single, one_that_became_a_replica_is_left_and_says_so) {
    World world;
    const auto server = server_with();
    const auto master = server_with();
    Started client(world, options_for(server->port()));
    testing::ask_redis(server->port(), Command("REPLICAOF", "127.0.0.1", master->port()));
    EXPECT_TRUE(client.said("k", Command("SET", "k", 1)).contains("READONLY"));
    EXPECT_TRUE(world.wait([&] { return client->trouble().value_or("").contains("replica"); }));
    testing::ask_redis(server->port(), Command("REPLICAOF", "NO", "ONE"));
    EXPECT_TRUE(world.wait([&] { return client.said("k", Command("SET", "k", 1)) == "OK"; }, 5s));
}

TEST(redis_single, stop_answers_what_is_under_way) {
    World world;
    const auto server = server_with();
    std::vector<Result<Reply>> answers;
    TaskGroup group(world.io.get_executor());
    {
        Started client(world, options_for(server->port()));
        server->freeze();
        for (int i = 0; i < 3; ++i)
            group.spawn(kept(client->call("k", Command("GET", "k")), &answers));
        world.let(20ms);
    }
    world.run(group.join());
    ASSERT_EQ(answers.size(), 3U);
    for (const auto& answer : answers) EXPECT_FALSE(answer);
}

}  // namespace
}  // namespace holdfast::redis
