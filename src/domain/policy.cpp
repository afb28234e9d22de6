#include "domain/policy.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>
#include <span>

#include "base/hash.h"
#include "domain/submission.h"

namespace holdfast::domain {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

// A stored policy beyond these limits cannot be read back: they may grow, never shrink.
constexpr std::size_t kLongestSchedule = 32;
constexpr std::uint16_t kMostAttempts = 1000;
constexpr Duration kLongestDelay = std::chrono::days{30};
constexpr Duration kLongestTimeout = std::chrono::days{3650};
constexpr double kLargestFactor = 100;
constexpr std::size_t kMostOwnPresets = 100;
constexpr std::string_view kEitherOr = "must have either schedule, or base, factor and max";

bool is_delay(Duration d) {
    return d >= Duration{0} && d <= kLongestDelay;
}

std::string format_number(double value) {
    return Json::number(value).text();
}

template <class Number>
bool parse_number(std::string_view text, Number& value) {
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    return ec == std::errc{} && end == text.data() + text.size();
}

/// Splits "a,b,c"; an empty text has one empty part.
std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::string_view to_string(Ending e) {
    return e == Ending::fail ? "fail" : "suspend";
}

bool parse_ending(std::string_view text, Ending& ending) {
    ending = text == "fail" ? Ending::fail : Ending::suspend;
    return text == to_string(ending);
}

bool parse_setting(std::string_view name, std::string_view value, Policy& p) {
    const auto duration = [&](Duration& d) {
        const auto parsed = parse_duration(value);
        if (parsed) d = *parsed;
        return parsed.has_value();
    };
    if (name == "max") return parse_number(value, p.max);
    if (name == "poison") return parse_number(value, p.poison);
    if (name == "factor") return parse_number(value, p.backoff.factor);
    if (name == "jitter") return parse_number(value, p.backoff.jitter);
    if (name == "exhausted") return parse_ending(value, p.on_exhausted);
    if (name == "timeout") return parse_ending(value, p.on_timeout);
    if (name == "base") return duration(p.backoff.base);
    if (name == "cap") return duration(p.backoff.max);
    if (name == "within") return duration(p.timeout);
    if (name == "outage") {
        p.on_outage = value == "hold" ? OnOutage::hold : OnOutage::count;
        return value == "hold" || value == "count";
    }
    if (name != "schedule") return false;
    p.backoff.schedule.clear();
    return std::ranges::all_of(split(value, ','), [&](std::string_view part) {
        const auto delay = parse_duration(part);
        if (delay) p.backoff.schedule.push_back(*delay);
        return delay.has_value();
    });
}

Result<Duration> read_delay(const json::value& value, std::string_view field) {
    if (!value.is_string()) return invalid(field, "must be a duration as text, like \"30s\"");
    const auto delay = parse_duration(value.get_string());
    if (!delay) return invalid(field, delay.error().detail);
    return *delay;
}

Result<double> read_number(const json::value& value, std::string_view field) {
    if (!value.is_number()) return invalid(field, "must be a number");
    return value.to_number<double>();
}

Result<std::vector<Duration>> read_schedule(const json::value& value) {
    const std::string_view field = "retry.policy.schedule";
    const auto* items = value.if_array();
    if (items == nullptr || items->empty()) return invalid(field, "must be a list of durations");
    std::vector<Duration> schedule;
    for (const json::value& item : *items) {
        TRY(schedule.emplace_back(), read_delay(item, field));
    }
    return schedule;
}

Result<Backoff> read_backoff(const json::object& object) {
    Backoff b;
    for (const auto& [name, value] : object) {
        if (name == "schedule") {
            TRY(b.schedule, read_schedule(value));
        } else if (name == "base") {
            TRY(b.base, read_delay(value, "retry.policy.base"));
        } else if (name == "max") {
            TRY(b.max, read_delay(value, "retry.policy.max"));
        } else if (name == "factor") {
            TRY(b.factor, read_number(value, "retry.policy.factor"));
        } else if (name == "jitter") {
            TRY(b.jitter, read_number(value, "retry.policy.jitter"));
        } else {
            return invalid("retry.policy." + std::string(name), "is not a field of a retry policy");
        }
    }
    const bool exponential =
        object.contains("base") || object.contains("max") || object.contains("factor");
    if (exponential == object.contains("schedule")) return invalid("retry.policy", kEitherOr);
    return b;
}

Result<> read_preset(std::string_view name, std::string_view field, Policy& policy) {
    auto named = preset(name);
    if (!named) return invalid(field, named.error().detail);
    if (named->timeout == Duration{0}) named->timeout = policy.timeout;
    policy = *std::move(named);
    return {};
}

const std::vector<Preset>& built_in_presets() {
    static const std::vector<Preset> all{
        {"workflow", {.on_outage = OnOutage::hold}},
        {"ingest", {.backoff = {}, .max = 10}},
        {"outbox", {.backoff = {}, .max = 10}},
        {"external",
         {.backoff = {.schedule = {30s, 60s, 120s}, .jitter = 0.2},
          .max = 0,
          .on_timeout = Ending::fail,
          .on_outage = OnOutage::hold}},
    };
    return all;
}

bool has_name(std::span<const Preset> some, std::string_view name) {
    return std::ranges::find(some, name, &Preset::name) != some.end();
}

std::vector<Preset>& all_presets() {
    static std::vector<Preset> all = built_in_presets();
    return all;
}

}  // namespace

Result<> check_policy(const Policy& p) {
    const Backoff& b = p.backoff;
    if (b.schedule.size() > kLongestSchedule)
        return invalid("retry.policy.schedule", "has more than 32 durations");
    if (!std::ranges::all_of(b.schedule, is_delay))
        return invalid("retry.policy.schedule", "has a delay that is longer than 30d");
    if (!is_delay(b.base)) return invalid("retry.policy.base", "is longer than 30d");
    if (!is_delay(b.max)) return invalid("retry.policy.max", "is longer than 30d");
    if (!(b.factor >= 1 && b.factor <= kLargestFactor))
        return invalid("retry.policy.factor", "must be between 1 and 100");
    if (!(b.jitter >= 0 && b.jitter <= 1))
        return invalid("retry.policy.jitter", "must be between 0 and 1");
    if (p.max > kMostAttempts) return invalid("retry.max", "must be between 0 and 1000");
    if (p.timeout < Duration{0} || p.timeout > kLongestTimeout)
        return invalid("timeout", "must be between 0s and 3650d");
    if (!b.schedule.empty() && b != Backoff{.schedule = b.schedule, .jitter = b.jitter})
        return invalid("retry.policy", kEitherOr);
    return {};
}

Duration backoff(const Backoff& b, std::uint32_t failures, const Uuid& id) {
    const std::uint32_t n = std::max(failures, 1U);
    Duration delay = b.max;
    if (!b.schedule.empty()) {
        delay = b.schedule[std::min<std::size_t>(n, b.schedule.size()) - 1];
    } else {
        const double exact = static_cast<double>(b.base.count()) * std::pow(b.factor, n - 1);
        if (exact < static_cast<double>(b.max.count())) delay = Duration{std::llround(exact)};
    }
    const double chance = Rng(mix(id.high) ^ id.low ^ n).unit();
    return Duration{std::llround(static_cast<double>(delay.count()) * (1 - b.jitter * chance))};
}

const std::vector<Preset>& presets() {
    return all_presets();
}

Result<Policy> preset(std::string_view name) {
    std::string known;
    for (const Preset& p : presets()) {
        if (p.name == name) return p.policy;
        known.append(known.empty() ? "" : ", ").append(p.name);
    }
    return refuse(Code::invalid_argument, "'" + std::string(name.substr(0, 64)) +
                                              "' is not a retry preset; there are " + known);
}

Result<> check_own_presets(const std::vector<Preset>& own) {
    if (own.size() > kMostOwnPresets) return invalid("presets", "are more than 100");
    for (auto p = own.begin(); p != own.end(); ++p) {
        TRY_VOID(check_name(p->name, p->name));
        if (has_name(built_in_presets(), p->name))
            return invalid(p->name, "is a built-in preset; choose another name");
        if (has_name({own.begin(), p}, p->name))
            return invalid(p->name, "is the name of two presets");
        if (auto checked = check_policy(p->policy); !checked)
            return std::unexpected(Error{checked.error().code, checked.error().detail,
                                         p->name + '.' + checked.error().field});
    }
    return {};
}

Result<> use_own_presets(std::vector<Preset> own) {
    TRY_VOID(check_own_presets(own));
    all_presets() = built_in_presets();
    all_presets().insert(all_presets().end(), std::move_iterator(own.begin()),
                         std::move_iterator(own.end()));
    return {};
}

std::string format_policy(const Policy& p) {
    std::string text = "max=" + std::to_string(p.max) + ";poison=" + std::to_string(p.poison);
    if (p.backoff.schedule.empty()) {
        text += ";base=" + format_duration(p.backoff.base) +
                ";factor=" + format_number(p.backoff.factor) +
                ";cap=" + format_duration(p.backoff.max);
    } else {
        text += ";schedule=";
        for (const Duration delay : p.backoff.schedule) text += format_duration(delay) + ',';
        text.pop_back();
    }
    text += ";jitter=" + format_number(p.backoff.jitter);
    text.append(";exhausted=").append(to_string(p.on_exhausted));
    text.append(";timeout=").append(to_string(p.on_timeout));
    text.append(";outage=").append(p.on_outage == OnOutage::hold ? "hold" : "count");
    if (p.timeout > Duration{0}) text += ";within=" + format_duration(p.timeout);
    return text;
}

Result<Policy> parse_policy(std::string_view text) {
    Policy p;
    p.backoff = {};
    for (const std::string_view part : split(text, ';')) {
        const std::size_t equals = part.find('=');
        if (equals == std::string_view::npos ||
            !parse_setting(part.substr(0, equals), part.substr(equals + 1), p))
            return refuse(Code::invalid_argument,
                          "'" + std::string(part) + "' is no part of a retry policy");
    }
    TRY_VOID(check_policy(p));
    return p;
}

Result<> read_retry(const Json& retry, Policy& policy) {
    const json::value value = retry.value();
    if (const auto* name = value.if_string()) return read_preset(*name, "retry", policy);
    const auto* object = value.if_object();
    if (object == nullptr) return invalid("retry", "must be a preset's name or an object");
    if (const auto* spec = object->if_contains("policy")) {
        if (const auto* name = spec->if_string()) {
            TRY_VOID(read_preset(*name, "retry.policy", policy));
        } else if (const auto* fields = spec->if_object()) {
            TRY(policy.backoff, read_backoff(*fields));
        } else {
            return invalid("retry.policy", "must be a preset's name or an object");
        }
    }
    for (const auto& [name, given] : *object) {
        if (name == "max") {
            TRY(const double max, read_number(given, "retry.max"));
            if (!(max >= 0 && max <= kMostAttempts && max == std::floor(max)))
                return invalid("retry.max", "must be a whole number between 0 and 1000");
            policy.max = static_cast<std::uint16_t>(max);
        } else if (name != "policy") {
            return invalid("retry." + std::string(name), "is not a field of retry");
        }
    }
    return check_policy(policy);
}

Json backoff_json(const Backoff& b) {
    JsonObject object;
    if (b.schedule.empty()) {
        object.add("base", format_duration(b.base))
            .add("factor", Json::number(b.factor))
            .add("max", format_duration(b.max));
    } else {
        json::array schedule;
        for (const Duration delay : b.schedule) schedule.emplace_back(format_duration(delay));
        object.add("schedule", Json::of(schedule));
    }
    return object.add("jitter", Json::number(b.jitter)).done();
}

}  // namespace holdfast::domain
