#include "base/json.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>

namespace holdfast {
namespace {

namespace json = boost::json;

struct Census {
    std::size_t pairs = 0;
    bool finite = true;
};

void count(const json::value& value, Census& census) {
    if (const auto* object = value.if_object()) {
        census.pairs += object->size();
        for (const auto& pair : *object) count(pair.value(), census);
    } else if (const auto* array = value.if_array()) {
        for (const auto& item : *array) count(item, census);
    } else if (const auto* number = value.if_double()) {
        census.finite = census.finite && std::isfinite(*number);
    }
}

/// Past the closing quote of the string that opens at `text[at]`. The text is valid JSON.
std::size_t after_string(std::string_view text, std::size_t at) {
    for (++at; text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
    }
    return at + 1;
}

/// How many `"key":` the text writes, duplicates included: the parsed form keeps only the last of
/// them.
std::size_t written_keys(std::string_view text) {
    std::size_t keys = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '"') {
            at = after_string(text, at);
        } else {
            keys += text[at++] == ':' ? 1 : 0;
        }
    }
    return keys;
}

std::size_t skip_space(std::string_view text, std::size_t at) {
    return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

/// Past the value that begins at `text[at]`. The text is valid JSON.
std::size_t after_value(std::string_view text, std::size_t at) {
    std::size_t depth = 0;
    do {
        const char c = text[at];
        if (c == '"') {
            at = after_string(text, at);
        } else if (c == '{' || c == '[') {
            ++depth;
            ++at;
        } else if (c == '}' || c == ']') {
            --depth;
            ++at;
        } else if (depth == 0) {
            return std::min(text.find_first_of(",}] \t\r\n", at), text.size());
        } else {
            ++at;
        }
    } while (depth > 0);
    return at;
}

}  // namespace

Result<Json> Json::parse(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.bytes)
        return refuse(Code::invalid_argument,
                      "larger than " + std::to_string(limits.bytes) + " bytes of JSON");
    json::error_code ec;
    json::parse_options options;
    options.max_depth = limits.depth;
    const json::value value = json::parse(text, ec, {}, options);
    if (ec == json::error::too_deep)
        return refuse(Code::invalid_argument,
                      "nested deeper than " + std::to_string(limits.depth) + " levels");
    if (ec) return refuse(Code::invalid_argument, "not valid JSON: " + ec.message());
    Census census;
    count(value, census);
    if (!census.finite) return refuse(Code::invalid_argument, "a number is out of range");
    const std::size_t keys = written_keys(text);
    if (keys > limits.keys)
        return refuse(Code::invalid_argument, "more than " + std::to_string(limits.keys) + " keys");
    if (keys != census.pairs)
        return refuse(Code::invalid_argument, "an object has a duplicate key");
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
    return Json(json::serialize(json::string_view(text.data(), text.size())));
}

json::value Json::value() const {
    json::parse_options options;
    options.max_depth = 2 * JsonLimits{}.depth;  // our own envelope around a payload of full depth
    return json::parse(text_, {}, options);
}

std::vector<Json::Member> Json::members() const {
    std::vector<Member> found;
    const std::string_view text = text_;
    if (text.front() != '{') return found;
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

std::string canonical(const json::value& value) {
    std::string out;
    if (const auto* object = value.if_object()) {
        std::vector<const json::key_value_pair*> pairs;
        for (const auto& pair : *object) pairs.push_back(&pair);
        std::ranges::sort(pairs, {},
                          [](const auto* pair) { return std::string_view(pair->key()); });
        out += '{';
        for (const auto* pair : pairs) {
            if (out.size() > 1) out += ',';
            out += Json::quoted(pair->key()).text() + ':' + canonical(pair->value());
        }
        return out += '}';
    }
    if (const auto* array = value.if_array()) {
        out += '[';
        for (const auto& item : *array) {
            if (out.size() > 1) out += ',';
            out += canonical(item);
        }
        return out += ']';
    }
    return json::serialize(value);
}

}  // namespace holdfast
