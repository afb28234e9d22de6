#include "http/fields.h"

#include <algorithm>
#include <boost/json/value.hpp>

namespace holdfast::http {

Result<Fields> Fields::of(const Call& call) {
    if (call.request->body.empty()) return Fields({});
    TRY(const Json json, parse_body(call));
    if (!json.text().starts_with('{')) return invalid("body", "must be a JSON object");
    return Fields(json.members());
}

Result<Json> parse_body(const Call& call) {
    // A batch has the keys of all its items; each item is held to the usual limit by whoever reads it.
    const JsonLimits limits{.bytes = SIZE_MAX, .depth = JsonLimits{}.depth, .keys = kMostKeys};
    auto json = Json::parse(call.request->body, limits);
    if (!json) return std::unexpected(Error{Code::invalid_argument, json.error().detail, "body"});
    return json;
}

std::optional<Json> Fields::take(std::string_view name) {
    for (auto member = members_.begin(); member != members_.end(); ++member) {
        if (member->name != name) continue;
        Json value = std::move(member->value);
        members_.erase(member);
        if (value.is_null()) return std::nullopt;
        return value;
    }
    return std::nullopt;
}

bool Fields::has(std::string_view name) const {
    return std::ranges::find(members_, name, &Json::Member::name) != members_.end();
}

Result<std::string> Fields::text(std::string_view name) {
    const std::optional<Json> value = take(name);
    if (!value) return std::string{};
    const auto parsed = value->value();
    if (!parsed.is_string()) return invalid(path(name), "must be a text");
    return std::string(parsed.get_string());
}

Result<std::vector<std::string>> Fields::texts(std::string_view name) {
    const std::optional<Json> value = take(name);
    std::vector<std::string> all;
    if (!value) return all;
    const auto parsed = value->value();
    if (parsed.is_string()) {
        all.emplace_back(parsed.get_string());
        return all;
    }
    if (!parsed.is_array()) return invalid(path(name), "must be a text or a list of texts");
    for (const auto& item : parsed.get_array()) {
        if (!item.is_string()) return invalid(path(name), "must be a text or a list of texts");
        all.emplace_back(item.get_string());
    }
    return all;
}

Result<bool> Fields::flag(std::string_view name) {
    const std::optional<Json> value = take(name);
    if (!value) return false;
    const auto parsed = value->value();
    if (!parsed.is_bool()) return invalid(path(name), "must be true or false");
    return parsed.get_bool();
}

Result<std::optional<double>> Fields::number(std::string_view name) {
    const std::optional<Json> value = take(name);
    if (!value) return std::nullopt;
    const auto parsed = value->value();
    if (!parsed.is_number()) return invalid(path(name), "must be a number");
    return parsed.to_number<double>();
}

Result<Time> Fields::time(std::string_view name) {
    TRY(const std::string text, this->text(name));
    if (text.empty()) return kNoTime;
    auto time = parse_time(text);
    if (!time) return invalid(path(name), time.error().detail);
    return *time;
}

Result<Fields> Fields::object(std::string_view name) {
    const std::optional<Json> value = take(name);
    if (!value) return Fields({}, path(name) + '.');
    if (!value->text().starts_with('{')) return invalid(path(name), "must be an object");
    return Fields(value->members(), path(name) + '.');
}

Result<> Fields::nothing_left() const {
    if (members_.empty()) return {};
    return invalid(path(members_.front().name), "is not a field of this request");
}

}  // namespace holdfast::http
