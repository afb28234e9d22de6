#include "text.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <limits>

#include "backoff.h"

namespace holdfast::client {
namespace {

using std::chrono::milliseconds;

TEST(Text, a_duration_is_written_so_that_it_reads_back) {
    for (const auto duration : {milliseconds{0}, milliseconds{250}, milliseconds{30'000}})
        EXPECT_EQ(parse_duration(duration_text(duration)), duration);
    EXPECT_EQ(duration_text(milliseconds{1500}), "1500ms");
    EXPECT_EQ(duration_text(milliseconds{-5}), "0s");
}

TEST(Text, durations_of_several_units_are_read_and_others_refused) {
    EXPECT_EQ(parse_duration("2h30m"), milliseconds{9'000'000});
    EXPECT_EQ(parse_duration("7d"), milliseconds{604'800'000});
    for (const auto* bad : {"", "5", "s", "1x", "-1s", "99999999999999999s", "9999999999d"})
        EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(Text, a_time_of_the_server_is_read_to_the_millisecond) {
    const auto time = parse_time("1970-01-02T00:00:01.042Z");
    ASSERT_TRUE(time);
    EXPECT_EQ(time->time_since_epoch(), milliseconds{86'401'042});
    for (const auto* bad : {"", "1970-01-02T00:00:01Z", "1970-13-02T00:00:01.042Z"})
        EXPECT_FALSE(parse_time(bad)) << bad;
}

TEST(Text, bytes_that_are_no_character_are_replaced_and_nothing_else) {
    EXPECT_EQ(clean_utf8("plain, ünï, 漢, 😀"), "plain, ünï, 漢, 😀");
    EXPECT_EQ(clean_utf8("a\xff\x80z"), "a\xef\xbf\xbd\xef\xbf\xbdz");
    EXPECT_EQ(clean_utf8("cut \xe6\xbc"), "cut \xef\xbf\xbd\xef\xbf\xbd");
    EXPECT_EQ(clean_utf8("\xed\xa0\x80").substr(0, 3), "\xef\xbf\xbd");  // half of a surrogate pair
    EXPECT_EQ(clean_utf8("\xc0\xaf").substr(0, 3), "\xef\xbf\xbd");      // a slash in disguise
}

TEST(Text, quoting_escapes_what_json_must_escape) {
    std::string out;
    append_quoted(out, "plain");
    append_quoted(out, "a\"b\\c\nd");
    EXPECT_EQ(out, R"("plain""a\"b\\c\nd")");
}

TEST(Text, values_are_written_as_a_person_would_and_read_back_the_same) {
    const auto value = boost::json::parse(
        R"({"a":[0.2,1.0,-3,18446744073709551615,1e300,true,null],"q\"":"x\ny","":{},"e":[]})");
    EXPECT_EQ(
        json_text(value),
        R"({"a":[0.2,1.0,-3,18446744073709551615,1e+300,true,null],"q\"":"x\ny","":{},"e":[]})");
    EXPECT_EQ(boost::json::parse(json_text(value)), value);
    EXPECT_EQ(json_text(std::numeric_limits<double>::infinity()), "null");
    EXPECT_EQ(json_text("\xff"), "\"\xef\xbf\xbd\"");
}

TEST(Text, random_keys_differ) {
    EXPECT_EQ(random_key().size(), 32U);
    EXPECT_NE(random_key(), random_key());
}

TEST(Backoff, waits_are_drawn_up_to_a_ceiling_that_doubles_and_ends) {
    Backoff backoff(milliseconds{100}, milliseconds{1000}, 7);
    for (const auto ceiling : {100, 200, 400, 800, 1000, 1000}) {
        EXPECT_EQ(backoff.ceiling(), milliseconds{ceiling});
        const auto wait = backoff.next();
        EXPECT_GE(wait.count(), 0);
        EXPECT_LE(wait.count(), ceiling);
    }
    backoff.reset();
    EXPECT_EQ(backoff.ceiling(), milliseconds{100});
}

TEST(Backoff, a_hundred_tries_do_not_overflow) {
    Backoff backoff(milliseconds{200}, milliseconds{10'000}, 7);
    for (int i = 0; i < 100; ++i) EXPECT_LE(backoff.next(), milliseconds{10'000});
}

}  // namespace
}  // namespace holdfast::client
