#include "config/values.h"

#include <gtest/gtest.h>

#include "config/options.h"

namespace holdfast::config {
namespace {

using namespace std::chrono_literals;

TEST(Size, is_read_with_its_unit_or_as_plain_bytes) {
    EXPECT_EQ(parse_size("0"), 0);
    EXPECT_EQ(parse_size("1048576"), 1 << 20);
    EXPECT_EQ(parse_size("512B"), 512);
    EXPECT_EQ(parse_size("512KiB"), 512 << 10);
    EXPECT_EQ(parse_size("1MiB"), 1 << 20);
    EXPECT_EQ(parse_size("2GiB"), std::int64_t{2} << 30);
    for (const std::string_view text : {"", "-1", "1 MiB", "1MB", "1mib", "MiB", "1.5MiB", "1MiBx",
                                        "9223372036854775808", "9007199254740993KiB", "+1"}) {
        const auto size = parse_size(text);
        ASSERT_FALSE(size) << text;
        EXPECT_NE(size.error().detail.find("512KiB, 1MiB"), std::string::npos);
    }
}

TEST(Size, is_shown_in_the_largest_unit_that_fits) {
    EXPECT_EQ(format_size(0), "0");
    EXPECT_EQ(format_size(1000), "1000");
    EXPECT_EQ(format_size(1536 << 10), "1536KiB");
    EXPECT_EQ(format_size(64 << 20), "64MiB");
    EXPECT_EQ(format_size(std::int64_t{1} << 40), "1TiB");
}

TEST(AddressText, takes_ip_literals_and_localhost) {
    EXPECT_EQ(parse_address("127.0.0.1:7400"), (Address{"127.0.0.1", 7400}));
    EXPECT_EQ(parse_address("127.8.9.10:0"), (Address{"127.8.9.10", 0}));
    EXPECT_EQ(parse_address("[::1]:7400"), (Address{"::1", 7400}));
    EXPECT_EQ(parse_address("localhost:65535"), (Address{"127.0.0.1", 65535}));
    EXPECT_EQ(parse_address("[::1]:7400")->text(), "[::1]:7400");
    EXPECT_EQ(parse_address("localhost:80")->text(), "127.0.0.1:80");
}

TEST(AddressText, that_is_none_is_refused_with_an_example) {
    using namespace std::string_view_literals;
    for (const std::string_view text :
         {""sv, ":"sv, "7400"sv, "127.0.0.1"sv, "127.0.0.1:"sv, "127.0.0.1:x"sv, "127.0.0.1:-1"sv,
          "127.0.0.1:65536"sv, "127.0.0.1:000080"sv, "127.0.0.1: 80"sv, "127.1:80"sv, "::1:7400"sv,
          "[::1]"sv, "[::1:80"sv, "[127.0.0.1]:80"sv, "example.com:80"sv, "[fe80::1%eth0]:80"sv,
          "127.0.0.1\0x:80"sv, "http://127.0.0.1:80"sv}) {
        const auto address = parse_address(text);
        ASSERT_FALSE(address) << text;
        EXPECT_NE(address.error().detail.find("127.0.0.1:7400"), std::string::npos) << text;
    }
}

TEST(AddressText, beyond_loopback_is_refused_and_the_reason_said) {
    for (const std::string_view text : {"0.0.0.0:7400", "192.168.0.1:7400", "[::]:7400",
                                        "[2001:db8::1]:7400", "[::ffff:10.0.0.1]:7400"}) {
        const auto address = parse_address(text);
        ASSERT_FALSE(address) << text;
        EXPECT_NE(address.error().detail.find(
                      "authentication comes in a later version, so only loopback is allowed"),
                  std::string::npos);
    }
}

TEST(StoreUrlText, has_a_scheme_and_a_place) {
    const auto check = [](std::string_view text, Scheme scheme, std::string_view place) {
        const auto url = parse_store_url(text);
        ASSERT_TRUE(url) << text << ": " << url.error().detail;
        EXPECT_EQ(url->scheme, scheme) << text;
        EXPECT_EQ(url->place(), place) << text;
        EXPECT_EQ(url->text, text);
    };
    check("memory:", Scheme::memory, "");
    check("sqlite:./holdfast-data", Scheme::sqlite, "./holdfast-data");
    check("redis://h:6379/0", Scheme::redis, "h:6379/0");
    check("rediss://h", Scheme::rediss, "h");
    check("redis-cluster://a:1,b:2", Scheme::redis_cluster, "a:1,b:2");
    check("rediss-cluster://a:1,b:2", Scheme::rediss_cluster, "a:1,b:2");
    check("redis-sentinel://a:1,b:2/main", Scheme::redis_sentinel, "a:1,b:2/main");
    check("postgres://u@h/db", Scheme::postgres, "u@h/db");
    for (const std::string_view text : {"", "holdfast-data", "mysql://h", "sqlite:", "memory:x",
                                        "redis://", "redis:h", "SQLITE:x"})
        EXPECT_FALSE(parse_store_url(text)) << text;
}

TEST(Name, is_short_and_plain) {
    const Option& prefix = *find_option("redis.prefix");
    EXPECT_EQ(read_value(prefix, "hf:test-1"), Value(std::string("hf:test-1")));
    for (const std::string& text : {std::string(), std::string("a b"), std::string("{x}"),
                                    std::string("ä"), std::string(33, 'a')})
        EXPECT_FALSE(read_value(prefix, text)) << text;
    EXPECT_EQ(read_value(*find_option("redis.dlq"), ""), Value(std::string()));
}

TEST(Names, are_read_with_commas_each_once_and_only_those_there_are) {
    const Option& roles = *find_option("server.roles");
    EXPECT_EQ(read_value(roles, "api,ticker,api"),
              Value(std::vector<std::string>{"api", "ticker"}));
    for (const std::string_view text : {"", "worker", "api,,ticker", "api, ticker", "*"})
        EXPECT_FALSE(read_value(roles, text)) << text;
    const Option& queues = *find_option("redis.pel_queues");
    EXPECT_EQ(read_value(queues, ""), Value(std::vector<std::string>{}));
    EXPECT_EQ(read_value(queues, "*"), Value(std::vector<std::string>{"*"}));
    EXPECT_EQ(show_value(queues, *read_value(queues, "a,b")), "a,b");
    EXPECT_FALSE(read_value(queues, "a b"));
}

TEST(StoreUrlText, never_shows_a_password) {
    const auto shown = [](std::string_view text) { return parse_store_url(text)->redacted(); };
    EXPECT_EQ(shown("redis://:hunter2@h:6379/0"), "redis://:***@h:6379/0");
    EXPECT_EQ(shown("postgres://me:hunter2@h/db"), "postgres://me:***@h/db");
    EXPECT_EQ(shown("postgres://me:hun/t@er?2@h/db"), "postgres://me:***@h/db");
    EXPECT_EQ(shown("redis-cluster://me:hunter2@a:1,b:2"), "redis-cluster://me:***@a:1,b:2");
    EXPECT_EQ(shown("postgres://h/db?user=me&password=hunter2&sslmode=require"),
              "postgres://h/db?user=me&password=***&sslmode=require");
    EXPECT_EQ(shown("redis-sentinel://me:hunter2@a:1,b:2/main/0"),
              "redis-sentinel://me:***@a:1,b:2/main/0");
    EXPECT_EQ(shown("redis-cluster://a:1,b:2"), "redis-cluster://a:1,b:2");
    EXPECT_EQ(shown("sqlite:/data/a:b@c"), "sqlite:/data/a:b@c");
    for (const std::string_view text :
         {"postgres://h/db?password=x:hunter2@z", "postgres://h/db?password=hunter2@z",
          "postgres://h/db?sslpassword=hunter2"})
        EXPECT_EQ(shown(text).find("hunter2"), std::string::npos) << shown(text);
    for (const std::string_view text : {"mysql://me:hunter2@h", "me:hunter2@h", "hunter2"})
        EXPECT_EQ(parse_store_url(text).error().detail.find("hunter2"), std::string::npos) << text;
}

TEST(Values, are_held_to_their_range) {
    const Option& body = *find_option("http.max_body");
    EXPECT_EQ(std::get<std::int64_t>(*read_value(body, "1KiB")), 1024);
    EXPECT_EQ(std::get<std::int64_t>(*read_value(body, "64MiB")), 64 << 20);
    EXPECT_EQ(read_value(body, "1023").error().detail,
              "\"1023\" is out of range, which is 1KiB to 64MiB");
    EXPECT_FALSE(read_value(body, "65MiB"));
    const Option& drain = *find_option("server.drain");
    EXPECT_EQ(std::get<Duration>(*read_value(drain, "10m")), 10min);
    EXPECT_EQ(read_value(drain, "11m").error().detail,
              "\"11m\" is out of range, which is 0s to 10m");
    EXPECT_FALSE(read_value(drain, "10"));
    const Option& level = *find_option("log.level");
    EXPECT_EQ(read_value(level, "wran").error().detail,
              "\"wran\" is none of debug, info, warn, error; did you mean warn?");
    EXPECT_FALSE(read_value(*find_option("http.max_connections"), "-1"));
    EXPECT_FALSE(read_value(*find_option("http.max_connections"), "1e3"));
    EXPECT_FALSE(read_value(*find_option("http.max_connections"), "99999999999999999999"));
}

TEST(Values, that_are_repeated_in_a_message_are_bounded_and_on_one_line) {
    const std::string evil = "\n\x1b[2J" + std::string(10'000, 'x');
    const std::string detail = read_value(*find_option("log.level"), evil).error().detail;
    EXPECT_LT(detail.size(), 200U);
    EXPECT_EQ(detail.find('\n'), std::string::npos);
    EXPECT_EQ(detail.find('\x1b'), std::string::npos);
}

TEST(Secrets, are_shown_as_stars) {
    Option option = *find_option("log.level");
    option.secret = true;
    EXPECT_EQ(show_value(option, *read_value(option, "warn")), "***");
}

}  // namespace
}  // namespace holdfast::config
