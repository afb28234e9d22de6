#include "base/time.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

TEST(Durations, every_unit_is_read) {
    const std::pair<std::string_view, Duration> rows[] = {
        {"0s", 0s},
        {"250ms", 250ms},
        {"17us", 17us},
        {"30s", 30s},
        {"5m", 5min},
        {"2h30m", 150min},
        {"7d", std::chrono::days{7}},
        {"1d2h3m4s5ms6us", std::chrono::days{1} + 2h + 3min + 4s + 5ms + 6us},
        {"90s", 90s},
        {"007s", 7s},
        {"3650d", std::chrono::days{3650}},
    };
    for (const auto& [text, expected] : rows) {
        const auto parsed = parse_duration(text);
        ASSERT_TRUE(parsed) << text;
        EXPECT_EQ(*parsed, expected) << text;
    }
}

TEST(Durations, nonsense_is_refused_and_quoted_in_the_error) {
    for (const std::string_view text : {"",
                                        " ",
                                        "s",
                                        "5",
                                        "-5s",
                                        "+5s",
                                        "1.5s",
                                        "5 s",
                                        " 5s",
                                        "5s ",
                                        "5x",
                                        "5S",
                                        "1m1m",
                                        "1s1m",
                                        "1us1ms",
                                        "3651d",
                                        "3650d1us",
                                        "87601h",
                                        "18446744073709551616s",
                                        "99999999999999999999s",
                                        "9223372036854775807us",
                                        "1e3s",
                                        "0x10s",
                                        "5s\n",
                                        "ms5"}) {
        const auto parsed = parse_duration(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, Code::invalid_argument) << text;
        EXPECT_NE(parsed.error().detail.find("'" + std::string(text) + "'"), std::string::npos);
    }
}

TEST(Durations, a_long_bad_text_is_cut_in_the_error) {
    const auto parsed = parse_duration(std::string(10'000, 'x'));
    ASSERT_FALSE(parsed);
    EXPECT_LT(parsed.error().detail.size(), 200U);
}

TEST(Durations, text_and_back_is_the_same_duration) {
    Rng rng(7);
    for (int i = 0; i < 2000; ++i) {
        const Duration longest = std::chrono::days{3650};
        const auto bound = static_cast<std::uint64_t>(longest.count()) >> rng.below(48);
        const Duration d{static_cast<std::int64_t>(rng.below(bound + 1))};
        const auto back = parse_duration(format_duration(d));
        ASSERT_TRUE(back) << d.count();
        ASSERT_EQ(*back, d);
    }
}

TEST(Durations, are_written_largest_unit_first) {
    EXPECT_EQ(format_duration(150min), "2h30m");
    EXPECT_EQ(format_duration(90s + 1us), "1m30s1us");
    EXPECT_EQ(format_duration(0s), "0s");
    EXPECT_EQ(format_duration(-5s), "0s");
}

TEST(Times, utc_offsets_and_fractions_name_the_same_moment) {
    const Time expected =
        std::chrono::sys_days{std::chrono::year{2026} / 11 / 15} + 23h + 37min + 11s + 42ms;
    for (const std::string_view text :
         {"2026-11-15T23:37:11.042Z", "2026-11-15t23:37:11.042z", "2026-11-15T23:37:11.042000Z",
          "2026-11-16T01:37:11.042+02:00", "2026-11-15T18:07:11.042-05:30",
          "2026-11-15T23:37:11.042000999Z"}) {
        const auto parsed = parse_time(text);
        ASSERT_TRUE(parsed) << text;
        EXPECT_EQ(*parsed, expected) << text;
    }
    EXPECT_EQ(format_time(expected), "2026-11-15T23:37:11.042Z");
}

TEST(Times, leap_days_and_the_ends_of_the_range_are_read) {
    for (const std::string_view text :
         {"2024-02-29T00:00:00Z", "1970-01-01T00:00:00.000001Z", "2999-12-31T23:59:59.999999Z"}) {
        EXPECT_TRUE(parse_time(text)) << text;
    }
}

TEST(Times, nonsense_is_refused) {
    for (const std::string_view text : {"",
                                        "now",
                                        "2026-11-15",
                                        "2026-11-15T23:37:11",
                                        "2026-11-15 23:37:11Z",
                                        "2026-11-15T23:37Z",
                                        "2026-11-15T23:37:11.Z",
                                        "2026-11-15T23:37:11.0000000001Z",
                                        "2026-13-01T00:00:00Z",
                                        "2026-00-01T00:00:00Z",
                                        "2026-02-30T00:00:00Z",
                                        "2025-02-29T00:00:00Z",
                                        "2026-11-15T24:00:00Z",
                                        "2026-11-15T23:60:00Z",
                                        "2026-11-15T23:37:60Z",
                                        "2026-11-15T23:37:11+24:00",
                                        "2026-11-15T23:37:11+01:60",
                                        "2026-11-15T23:37:11+0100",
                                        "2026-11-15T23:37:11ZZ",
                                        "2026-11-15T23:37:11+01:00x",
                                        "2026-11-15T23:37:11+",
                                        "-026-11-15T23:37:11Z",
                                        "2026--1-15T23:37:11Z",
                                        "2026-+1-15T23:37:11Z",
                                        "1969-12-31T23:59:59Z",
                                        "1970-01-01T00:00:00Z",
                                        "1970-01-01T00:30:00+01:00",
                                        "3000-01-01T00:00:00Z",
                                        "12026-11-15T23:37:11Z"}) {
        const auto parsed = parse_time(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, Code::invalid_argument);
    }
}

TEST(Times, text_and_back_keeps_milliseconds) {
    Rng rng(11);
    for (int i = 0; i < 2000; ++i) {
        const Time t{std::chrono::milliseconds{1 + rng.below(32'503'680'000'000U)}};
        const auto back = parse_time(format_time(t));
        ASSERT_TRUE(back) << format_time(t);
        ASSERT_EQ(*back, t);
    }
}

TEST(Times, no_time_is_later_than_any_time) {
    const Time one{1s};
    const Time two{2s};
    EXPECT_EQ(earlier(one, two), one);
    EXPECT_EQ(earlier(two, one), one);
    EXPECT_EQ(earlier(kNoTime, two), two);
    EXPECT_EQ(earlier(two, kNoTime), two);
    EXPECT_FALSE(is_set(earlier(kNoTime, kNoTime)));
}

}  // namespace
}  // namespace holdfast
