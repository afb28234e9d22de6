#include "redis/slot_map.h"

#include <gtest/gtest.h>

#include <string>

#include "redis/link.h"
#include "redis/reply_parser.h"

namespace holdfast::redis {
namespace {

Result<SlotMap> map_of(std::string_view bytes) {
    ReplyParser parser;
    EXPECT_EQ(parser.feed(bytes), ReplyParser::Outcome::reply);
    const Reply reply = parser.take();
    return SlotMap::read(reply, "asked");
}

TEST(redis_slot_map, every_slot_has_the_master_of_its_range) {
    const auto map = map_of(
        "*2\r\n"
        "*4\r\n:0\r\n:8191\r\n*4\r\n$1\r\na\r\n:1\r\n$2\r\nid\r\n*0\r\n*4\r\n$1\r\nr\r\n:9\r\n$"
        "2\r\nir\r\n*0\r\n"
        "*3\r\n:8192\r\n:16383\r\n*4\r\n$0\r\n\r\n:2\r\n$2\r\nid\r\n*0\r\n");
    ASSERT_TRUE(map) << map.error().detail;
    EXPECT_EQ(to_string(*map->owner(0)), "a:1");
    EXPECT_EQ(to_string(*map->owner(8191)), "a:1");
    EXPECT_EQ(to_string(*map->owner(8192)), "asked:2") << "it does not know its own host";
    EXPECT_EQ(map->first_without_owner(), std::nullopt);
    EXPECT_EQ(map->masters().size(), 2U);
}

TEST(redis_slot_map, a_slot_that_moves_takes_its_server_along) {
    auto map = map_of("*1\r\n*3\r\n:5\r\n:5\r\n*2\r\n$1\r\na\r\n:1\r\n");
    ASSERT_TRUE(map);
    EXPECT_EQ(map->first_without_owner(), 0);
    EXPECT_EQ(map->owner(6), nullptr);
    map->set(5, {"b", 2});
    EXPECT_EQ(to_string(*map->owner(5)), "b:2");
    EXPECT_EQ(map->masters(), (std::set<Address>{{"b", 2}}));
}

TEST(redis_slot_map, nonsense_is_refused) {
    for (const std::string_view bytes :
         {"*0\r\n", ":1\r\n", "_\r\n", "*1\r\n:1\r\n",
          "*1\r\n*3\r\n:-1\r\n:5\r\n*2\r\n$1\r\na\r\n:1\r\n",
          "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n",
          "*1\r\n*3\r\n:9\r\n:5\r\n*2\r\n$1\r\na\r\n:1\r\n",
          "*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n$1\r\na\r\n:65536\r\n", "*1\r\n*2\r\n:0\r\n:5\r\n"})
        EXPECT_FALSE(map_of(bytes)) << bytes;
}

TEST(redis_redirection, a_server_says_where_to_go) {
    const auto moved = redirection_in("MOVED 3999 127.0.0.1:6381", "asked");
    EXPECT_EQ(moved.kind, Redirection::Kind::moved);
    EXPECT_EQ(moved.slot, 3999);
    EXPECT_EQ(moved.address, (Address{"127.0.0.1", 6381}));
    const auto ask = redirection_in("ASK 0 :6381", "asked");
    EXPECT_EQ(ask.kind, Redirection::Kind::ask);
    EXPECT_EQ(ask.address, (Address{"asked", 6381}));
    EXPECT_EQ(redirection_in("MOVED 1 ::1:6381", "x").address, (Address{"::1", 6381}));
    EXPECT_EQ(redirection_in("TRYAGAIN Multiple keys request", "x").kind, Redirection::Kind::later);
    EXPECT_EQ(redirection_in("CLUSTERDOWN The cluster is down", "x").kind,
              Redirection::Kind::later);
}

TEST(redis_redirection, an_ordinary_error_or_half_of_one_leads_nowhere) {
    for (const std::string_view error :
         {"ERR no", "MOVED", "MOVED ", "MOVED 1", "MOVED x a:1", "MOVED 1 a", "MOVED 1 a:0",
          "MOVED 1 a:65536", "MOVED 16384 a:1", "MOVED -1 a:1", "ASK 1:1 a", ""})
        EXPECT_EQ(redirection_in(error, "x").kind, Redirection::Kind::none) << error;
}

TEST(redis_backoff, the_first_pause_is_none_and_the_others_grow_to_the_longest) {
    Backoff backoff(std::chrono::seconds{1}, Rng(7));
    EXPECT_EQ(backoff.next(), Duration::zero());
    Duration most = std::chrono::milliseconds{20};
    Duration seen{};
    for (int i = 0; i < 200; ++i) {
        const Duration pause = backoff.next();
        EXPECT_GT(pause, Duration::zero());
        EXPECT_LE(pause, std::min<Duration>(most, std::chrono::seconds{1}) + Duration(1));
        if (most < std::chrono::seconds{10}) most *= 2;
        seen = std::max(seen, pause);
    }
    EXPECT_GT(seen, std::chrono::milliseconds{900});
    backoff.reset();
    EXPECT_EQ(backoff.next(), Duration::zero());
}

}  // namespace
}  // namespace holdfast::redis
