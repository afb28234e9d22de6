#include "base/json.h"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/json_check.h"
#include "base/json_cursor.h"

namespace holdfast {
namespace {

namespace json = boost::json;

template <class Number>
std::string shortest(Number value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// Bytes of the UTF-8 character that begins `text`; 0 when none does.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length == 0 || lead > 0xf4 || text.size() < length) return 0;
    // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
    const unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (byte(1) < least || byte(1) > most) return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) return 0;
    }
    return length;
}

/// The text with U+FFFD in the place of each byte that is no UTF-8.
std::string repaired(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        out += length > 0 ? text.substr(0, length) : "\xef\xbf\xbd";
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

std::size_t skip_space(std::string_view text, std::size_t at) {
    return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

/// Rewrites one valid JSON text, from its own letters: a number that no machine word holds keeps
/// all its digits.
class Canonical {
  public:
    explicit Canonical(std::string_view text) : text_(text) {}

    std::string value() {
        if (text_[at_] == '{') return object();
        if (text_[at_] == '[') return array();
        return scalar();
    }

  private:
    std::string object() {
        std::vector<std::pair<std::string, std::string>> members;
        for (advance(1); text_[at_] != '}'; advance(0)) {
            if (text_[at_] == ',') advance(1);
            std::string name(json::parse(token()).get_string());
            advance(0);
            advance(1);  // the colon
            members.emplace_back(std::move(name), value());
        }
        ++at_;
        std::ranges::sort(members);
        std::string out = "{";
        for (const auto& [name, text] : members) {
            if (out.size() > 1) out += ',';
            out += Json::quoted(name).text() + ':' + text;
        }
        return out += '}';
    }

    std::string array() {
        std::string out = "[";
        for (advance(1); text_[at_] != ']'; advance(0)) {
            if (text_[at_] == ',') advance(1);
            if (out.size() > 1) out += ',';
            out += value();
        }
        ++at_;
        return out += ']';
    }

    std::string scalar() {
        const std::string_view text = token();
        if (text.front() == '-' || (text.front() >= '0' && text.front() <= '9'))
            return number(text);
        return json::serialize(json::parse(text));
    }

    static std::string number(std::string_view text) {
        if (text == "-0") return "0";
        double value = 0;
        if (text.find_first_of(".eE") == std::string_view::npos ||  // an integer: one spelling each
            std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{})
            return std::string(text);
        return shortest(value + 0.0);  // + 0.0: no "-0"
    }

    std::string_view token() {
        const std::size_t begin = std::exchange(at_, after_value(text_, at_));
        return text_.substr(begin, at_ - begin);
    }
    void advance(std::size_t n) { at_ = skip_space(text_, at_ + n); }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

Result<Json> Json::parse(std::string_view text, const JsonLimits& limits) {
    TRY_VOID(check_json(text, limits));
    const std::size_t begin = skip_space(text, 0);
    return Json(std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin)));
}

Json Json::of(const json::value& value) {
    return Json(json::serialize(value));
}

Json Json::stored(std::string_view text) {
    constexpr JsonLimits kNone{
        .bytes = SIZE_MAX, .depth = 2 * JsonLimits{}.depth, .keys = SIZE_MAX};
    return parse(text, kNone).value_or(Json{});
}

Json Json::quoted(std::string_view text) {
    const bool plain = std::ranges::all_of(
        text, [](char c) { return c >= ' ' && c != '"' && c != '\\' && c != '\x7f'; });
    if (plain) return Json('"' + std::string(text) + '"');
    return Json(json::serialize(json::string_view(repaired(text))));
}

Json Json::number(double value) {
    return std::isfinite(value) ? Json(shortest(value)) : Json{};
}

Json Json::number(float value) {
    return std::isfinite(value) ? Json(shortest(value)) : Json{};
}

json::value Json::value() const {
    json::parse_options options;
    options.max_depth = 2 * JsonLimits{}.depth;  // our own envelope around a payload of full depth
    return json::parse(text_, {}, options);
}

std::vector<Json::Member> Json::members() const {
    std::vector<Member> found;
    const std::string_view text = text_;
    if (!text.starts_with('{')) return found;
    for (std::size_t at = skip_space(text, 1); text[at] != '}';) {
        if (text[at] == ',') at = skip_space(text, at + 1);
        const std::size_t name_end = after_string(text, at);
        const json::value name = json::parse(text.substr(at, name_end - at));
        at = skip_space(text, skip_space(text, name_end) + 1);
        const std::size_t end = after_value(text, at);
        found.push_back(
            {std::string(name.get_string()), Json(std::string(text.substr(at, end - at)))});
        at = skip_space(text, end);
    }
    return found;
}

std::vector<Json> Json::elements() const {
    std::vector<Json> found;
    const std::string_view text = text_;
    if (!text.starts_with('[')) return found;
    for (std::size_t at = skip_space(text, 1); text[at] != ']'; at = skip_space(text, at)) {
        if (text[at] == ',') at = skip_space(text, at + 1);
        const std::size_t begin = std::exchange(at, after_value(text, at));
        found.push_back(Json(std::string(text.substr(begin, at - begin))));
    }
    return found;
}

std::size_t Json::keys() const {
    std::size_t keys = 0;
    for (std::size_t at = 0; at < text_.size();) {
        if (text_[at] == '"') {
            at = after_string(text_, at);
        } else {
            keys += text_[at++] == ':' ? 1 : 0;
        }
    }
    return keys;
}

Json Json::member(std::string_view name) const {
    for (Member& m : members()) {
        if (m.name == name) return std::move(m.value);
    }
    return {};
}

JsonObject& JsonObject::add(std::string_view name, const Json& value) {
    if (text_.size() > 1) text_ += ',';
    text_ += '"';
    text_ += name;
    text_ += "\":";
    text_ += value.text();
    return *this;
}

JsonObject& JsonObject::add(std::string_view name, std::int64_t number) {
    return add(name, Json(std::to_string(number)));
}

Json JsonObject::done() {
    text_ += '}';
    return Json(std::move(text_));
}

std::string canonical(const Json& json) {
    return Canonical(json.text()).value();
}

}  // namespace holdfast
