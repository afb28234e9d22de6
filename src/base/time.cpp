#include "base/time.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

struct Unit {
    std::string_view name;
    Duration size;
};
// Largest first, as they must appear in a text.
constexpr std::array kUnits{Unit{"d", std::chrono::days{1}},
                            Unit{"h", 1h},
                            Unit{"m", 1min},
                            Unit{"s", 1s},
                            Unit{"ms", 1ms},
                            Unit{"us", 1us}};
constexpr Duration kLongest = std::chrono::days{3650};

std::unexpected<Error> bad_duration(std::string_view text) {
    return refuse(Code::invalid_argument,
                  "'" + std::string(text.substr(0, 40)) +
                      "' is not a duration; write it like \"250ms\", \"30s\", \"2h30m\" or \"7d\"");
}

std::unexpected<Error> bad_time(std::string_view text) {
    return refuse(Code::invalid_argument,
                  "'" + std::string(text.substr(0, 40)) +
                      "' is not a time; write it like \"2026-11-15T23:37:11.042Z\"");
}

/// Takes exactly `width` digits off the front of `text`.
bool take_number(std::string_view& text, std::size_t width, int& value) {
    if (text.size() < width) return false;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + width, value);
    if (ec != std::errc{} || end != text.data() + width || text.front() == '-') return false;
    text.remove_prefix(width);
    return true;
}

bool take_char(std::string_view& text, char wanted, char also) {
    if (text.empty() || (text.front() != wanted && text.front() != also)) return false;
    text.remove_prefix(1);
    return true;
}

bool take_fraction(std::string_view& text, Duration& fraction) {
    if (text.empty() || text.front() != '.') return true;
    text.remove_prefix(1);
    std::int64_t micros = 0;
    std::size_t digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
        if (digits < 6) micros = micros * 10 + (text[digits] - '0');
    }
    if (digits == 0 || digits > 9) return false;
    for (std::size_t i = digits; i < 6; ++i) micros *= 10;
    text.remove_prefix(digits);
    fraction = Duration{micros};
    return true;
}

bool take_offset(std::string_view& text, std::chrono::minutes& offset) {
    if (take_char(text, 'Z', 'z')) return text.empty();
    if (text.empty()) return false;
    const bool west = text.front() == '-';
    int hours = 0;
    int minutes = 0;
    if (!take_char(text, '+', '-') || !take_number(text, 2, hours) || !take_char(text, ':', ':') ||
        !take_number(text, 2, minutes) || hours > 23 || minutes > 59)
        return false;
    offset = std::chrono::minutes{(hours * 60 + minutes) * (west ? -1 : 1)};
    return text.empty();
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
    Duration total{0};
    std::string_view rest = text;
    auto unit = kUnits.begin();
    if (rest.empty()) return bad_duration(text);
    while (!rest.empty()) {
        std::uint64_t count = 0;
        const auto [end, ec] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
        if (ec != std::errc{}) return bad_duration(text);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        const std::string_view name = rest.substr(0, rest.find_first_of("0123456789"));
        while (unit != kUnits.end() && unit->name != name) ++unit;
        if (unit == kUnits.end()) return bad_duration(text);
        if (count > static_cast<std::uint64_t>(kLongest / unit->size)) return bad_duration(text);
        total += static_cast<std::int64_t>(count) * unit->size;
        if (total > kLongest) return bad_duration(text);
        rest.remove_prefix(name.size());
        ++unit;
    }
    return total;
}

std::string format_duration(Duration d) {
    if (d <= Duration{0}) return "0s";
    std::string text;
    for (const Unit& unit : kUnits) {
        if (d < unit.size) continue;
        text += std::to_string(d / unit.size);
        text += unit.name;
        d %= unit.size;
    }
    return text;
}

Result<Time> parse_time(std::string_view text) {
    std::string_view rest = text;
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    Duration fraction{0};
    std::chrono::minutes offset{0};
    const bool shaped =
        take_number(rest, 4, year) && take_char(rest, '-', '-') && take_number(rest, 2, month) &&
        take_char(rest, '-', '-') && take_number(rest, 2, day) && take_char(rest, 'T', 't') &&
        take_number(rest, 2, hour) && take_char(rest, ':', ':') && take_number(rest, 2, minute) &&
        take_char(rest, ':', ':') && take_number(rest, 2, second) &&
        take_fraction(rest, fraction) && take_offset(rest, offset);
    if (!shaped) return bad_time(text);
    const std::chrono::year_month_day date{std::chrono::year{year},
                                           std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day)}};
    if (!date.ok() || year < 1970 || year > 2999 || hour > 23 || minute > 59 || second > 59)
        return bad_time(text);
    const Time t = std::chrono::sys_days{date} + std::chrono::hours{hour} +
                   std::chrono::minutes{minute} + std::chrono::seconds{second} + fraction - offset;
    if (t <= kNoTime) return bad_time(text);
    return t;
}

std::string format_time(Time t) {
    const auto day = std::chrono::floor<std::chrono::days>(t);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::milliseconds>(t - day)};
    std::array<char, 40> text{};
    const int length = std::snprintf(
        text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
        static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
        static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
        static_cast<int>(clock.subseconds().count()));
    return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace holdfast
