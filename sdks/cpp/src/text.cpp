#include "text.h"

#include <array>
#include <boost/json/serialize.hpp>
#include <boost/json/string_view.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>

namespace holdfast::client {
namespace {

using std::chrono::milliseconds;

std::optional<milliseconds> unit_of(std::string_view name) {
    if (name == "ms") return milliseconds{1};
    if (name == "s") return milliseconds{1000};
    if (name == "m") return milliseconds{60'000};
    if (name == "h") return milliseconds{3'600'000};
    if (name == "d") return milliseconds{86'400'000};
    return std::nullopt;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// How many bytes the character at the start of `text` has; 0 when it is none.
std::size_t utf8_length(std::string_view text) {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto lead = at(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((at(i) & 0xc0) != 0x80) return 0;
    const bool overlong = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xf0 && at(1) < 0x90);
    const bool beyond = (lead == 0xed && at(1) > 0x9f) || (lead == 0xf4 && at(1) > 0x8f);
    return overlong || beyond ? 0 : length;
}

/// Where the first byte stands that belongs to no character; the size when all is well.
std::size_t first_bad_byte(std::string_view text) {
    std::size_t i = 0;
    while (i < text.size()) {
        const auto length = utf8_length(text.substr(i));
        if (length == 0) return i;
        i += length;
    }
    return text.size();
}

void append_number(std::string& out, double number) {
    if (!std::isfinite(number)) {
        out += "null";
        return;
    }
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
    out.append(text);
    // So that it is read as what it was.
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void append_json(std::string& out, const boost::json::value& value) {
    if (const auto* object = value.if_object()) {
        out += '{';
        for (const auto& member : *object) {
            if (out.back() != '{') out += ',';
            append_quoted(out, member.key());
            out += ':';
            append_json(out, member.value());
        }
        out += '}';
    } else if (const auto* array = value.if_array()) {
        out += '[';
        for (const auto& element : *array) {
            if (out.back() != '[') out += ',';
            append_json(out, element);
        }
        out += ']';
    } else if (const auto* text = value.if_string()) {
        append_quoted(out, *text);
    } else if (const auto* number = value.if_double()) {
        append_number(out, *number);
    } else {
        out += boost::json::serialize(value);
    }
}

}  // namespace

std::string json_text(const boost::json::value& value) {
    std::string out;
    append_json(out, value);
    return clean_utf8(std::move(out));
}

std::string duration_text(milliseconds duration) {
    const auto count = duration.count() < 0 ? 0 : duration.count();
    if (count % 1000 == 0) return std::to_string(count / 1000) + "s";
    return std::to_string(count) + "ms";
}

std::optional<milliseconds> parse_duration(std::string_view text) {
    constexpr std::int64_t kLongest = 3650LL * 86'400'000;
    milliseconds sum{0};
    if (text.empty()) return std::nullopt;
    while (!text.empty()) {
        std::size_t digits = 0;
        while (digits < text.size() && is_digit(text[digits])) ++digits;
        std::size_t end = digits;
        while (end < text.size() && !is_digit(text[end])) ++end;
        if (digits == 0 || digits > 15) return std::nullopt;
        const auto unit = unit_of(text.substr(digits, end - digits));
        const auto count = std::stoll(std::string(text.substr(0, digits)));
        if (!unit || count > kLongest / unit->count()) return std::nullopt;
        sum += count * *unit;
        text.remove_prefix(end);
    }
    return sum;
}

std::optional<std::chrono::sys_time<milliseconds>> parse_time(std::string_view text) {
    constexpr std::string_view kShape = "0000-00-00T00:00:00.000Z";
    if (text.size() != kShape.size()) return std::nullopt;
    for (std::size_t i = 0; i < kShape.size(); ++i)
        if (kShape[i] == '0' ? !is_digit(text[i]) : text[i] != kShape[i]) return std::nullopt;
    const auto number = [&](std::size_t at, std::size_t count) {
        unsigned value = 0;
        for (std::size_t i = at; i < at + count; ++i)
            value = value * 10 + static_cast<unsigned>(text[i] - '0');
        return value;
    };
    namespace chrono = std::chrono;
    const chrono::year_month_day day{chrono::year(static_cast<int>(number(0, 4))),
                                     chrono::month(number(5, 2)), chrono::day(number(8, 2))};
    if (!day.ok()) return std::nullopt;
    return chrono::sys_days(day) + chrono::hours(number(11, 2)) + chrono::minutes(number(14, 2)) +
           chrono::seconds(number(17, 2)) + milliseconds(number(20, 3));
}

std::string clean_utf8(std::string text) {
    std::string_view rest = text;
    auto good = first_bad_byte(rest);
    if (good == rest.size()) return text;
    std::string out;
    while (good < rest.size()) {
        out.append(rest.substr(0, good)).append("\xef\xbf\xbd");
        rest.remove_prefix(good + 1);
        good = first_bad_byte(rest);
    }
    return out.append(rest);
}

std::string random_key() {
    thread_local std::mt19937_64 random{[] {
        std::random_device device;
        std::array<std::uint32_t, 8> words{};
        for (auto& word : words) word = device();
        std::seed_seq seed(words.begin(), words.end());
        return std::mt19937_64(seed);
    }()};
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string key;
    for (int half = 0; half < 2; ++half) {
        auto bits = random();
        for (int i = 0; i < 16; ++i, bits >>= 4) key += kHex[bits & 15];
    }
    return key;
}

void append_quoted(std::string& out, std::string_view text) {
    bool plain = true;
    for (const char c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\') plain = false;
    if (plain) {
        out.append("\"").append(text).append("\"");
    } else {
        out += boost::json::serialize(boost::json::string_view(text.data(), text.size()));
    }
}

}  // namespace holdfast::client
