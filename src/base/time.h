// Points in time and durations, and their text forms. No clock here: see base/clock.h.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast {

using Duration = std::chrono::microseconds;
using Time = std::chrono::sys_time<Duration>;

/// "No such moment": a lease that is not held, a deadline that was not set.
inline constexpr Time kNoTime{};

constexpr bool is_set(Time t) {
    return t != kNoTime;
}
/// The earlier of two moments, where "none" is later than anything.
constexpr Time earlier(Time a, Time b) {
    if (!is_set(a)) return b;
    if (!is_set(b)) return a;
    return a < b ? a : b;
}

/// Durations as text: one or more of `d h m s ms us`, largest first: "250ms", "2h30m", "7d", "0s".
/// Negative, fractional, empty and overflowing ones are refused; the longest is 3650 days.
Result<Duration> parse_duration(std::string_view text);
std::string format_duration(Duration d);

/// RFC 3339 with `Z` or an offset; what is finer than a microsecond is cut off. Years 1970 to 2999.
Result<Time> parse_time(std::string_view text);
/// RFC 3339, UTC, milliseconds: "2026-11-15T23:37:11.042Z".
std::string format_time(Time t);

}  // namespace holdfast
