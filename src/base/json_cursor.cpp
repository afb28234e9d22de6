#include "base/json_cursor.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <charconv>
#include <utility>

namespace holdfast {

std::size_t after_string(std::string_view text, std::size_t at) {
    for (;;) {
        const std::size_t quote = text.find('"', at + 1);
        std::size_t slashes = 0;
        while (text[quote - 1 - slashes] == '\\') ++slashes;
        if (slashes % 2 == 0) return quote + 1;
        at = quote;
    }
}

namespace {

std::size_t after_nested(std::string_view text, std::size_t at) {
    std::size_t depth = 0;
    do {
        const char c = text[at];
        if (c == '"') {
            at = after_string(text, at);
            continue;
        }
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
        ++at;
    } while (depth > 0);
    return at;
}

std::size_t after_word(std::string_view text, std::size_t at) {
    const auto ends = [](char c) {
        return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
    };
    while (at < text.size() && !ends(text[at])) ++at;
    return at;
}

}  // namespace

std::size_t after_value(std::string_view text, std::size_t at) {
    const char c = text[at];
    return c == '"'               ? after_string(text, at)
           : c == '{' || c == '[' ? after_nested(text, at)
                                  : after_word(text, at);
}

void JsonCursor::skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
        ++at_;
}

void JsonCursor::enter() {
    ++at_;
    first_ = true;
}

bool JsonCursor::next_item() {
    skip_space();
    if (text_[at_] == ']') {
        ++at_;
        first_ = false;
        return false;
    }
    if (!std::exchange(first_, false)) ++at_;  // the comma
    skip_space();
    return true;
}

std::optional<std::string_view> JsonCursor::next_member() {
    skip_space();
    if (text_[at_] == '}') {
        ++at_;
        first_ = false;
        return std::nullopt;
    }
    if (!std::exchange(first_, false)) ++at_;  // the comma
    skip_space();
    const std::string_view name = take_string();
    skip_space();
    ++at_;  // the colon
    skip_space();
    return name;
}

std::string_view JsonCursor::take_text() {
    const std::size_t begin = std::exchange(at_, after_value(text_, at_));
    return text_.substr(begin, at_ - begin);
}

std::string_view JsonCursor::take_string() {
    const std::string_view quoted = take_text();
    if (quoted.find('\\') != std::string_view::npos) return unescaped(quoted);
    return quoted.substr(1, quoted.size() - 2);
}

std::string_view JsonCursor::unescaped(std::string_view quoted) {
    const boost::json::value parsed = boost::json::parse(quoted);
    scratch_ = std::string_view(parsed.get_string());
    return scratch_;
}

std::optional<std::int64_t> JsonCursor::take_integer() {
    const std::string_view text = take_text();
    std::int64_t number = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (ec != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

double JsonCursor::take_number() {
    const std::string_view text = take_text();
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);  // out of range stays 0: tiny
    return number;
}

}  // namespace holdfast
