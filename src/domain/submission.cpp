#include "domain/submission.h"

#include <algorithm>
#include <array>
#include <boost/json/value.hpp>

namespace holdfast::domain {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestToken = 128;
constexpr std::size_t kTraceparentSize = 55;  // 00-<32 hex>-<16 hex>-<2 hex>
constexpr Duration kFarthestRun = std::chrono::days{3650};

bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

bool is_printable(char c) {
    return c > ' ' && c < '\x7f';
}

bool has_control(std::string_view text) {
    return std::ranges::any_of(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; });
}

bool is_traceparent(std::string_view text) {
    if (text.size() != kTraceparentSize) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool dash = i == 2 || i == 35 || i == 52;
        const bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
        if (dash ? text[i] != '-' : !hex) return false;
    }
    return true;
}

// ---- one reader per field of a submission; the table below names them ----

Result<std::string> text_of(std::string_view field, const Json& value) {
    const auto parsed = value.value();
    if (!parsed.is_string()) return invalid(field, "must be a text");
    return std::string(parsed.get_string());
}

Result<Duration> duration_of(std::string_view field, const Json& value) {
    TRY(const std::string text, text_of(field, value));
    auto duration = parse_duration(text);
    if (!duration) return invalid(field, duration.error().detail);
    return *duration;
}

Result<std::int64_t> integer_of(std::string_view field, const Json& value) {
    const auto parsed = value.value();
    if (!parsed.is_int64()) return invalid(field, "must be a whole number");
    return parsed.get_int64();
}

template <std::string Submission::* member>
Result<> read_text(std::string_view field, const Json& value, Submission& s) {
    TRY(s.*member, text_of(field, value));
    return {};
}

template <Json Submission::* member>
Result<> read_json(std::string_view, const Json& value, Submission& s) {
    s.*member = value;
    return {};
}

Result<> read_priority(std::string_view field, const Json& value, Submission& s) {
    TRY(const std::int64_t priority, integer_of(field, value));
    if (priority < 0 || priority > 9) return invalid(field, "must be between 0 and 9");
    s.priority = static_cast<std::uint8_t>(priority);
    return {};
}

Result<> read_labels(std::string_view field, const Json& value, Submission& s) {
    const auto parsed = value.value();
    if (!parsed.is_object()) return invalid(field, "must be an object of texts");
    for (const auto& [name, text] : parsed.get_object()) {
        if (!text.is_string()) return invalid("labels." + std::string(name), "must be a text");
        s.labels.emplace_back(name, text.get_string());
    }
    return {};
}

Result<> read_run_at(std::string_view field, const Json& value, Submission& s) {
    TRY(const std::string text, text_of(field, value));
    const auto at = parse_time(text);
    if (!at) return invalid(field, at.error().detail);
    s.run_at = *at;
    return {};
}

Result<> read_delay(std::string_view field, const Json& value, Submission& s) {
    TRY(s.delay, duration_of(field, value));
    return {};
}

Result<> read_lease(std::string_view field, const Json& value, Submission& s) {
    TRY(s.lease, duration_of(field, value));
    return check_lease(field, s.lease);
}

Result<> read_timeout(std::string_view field, const Json& value, Submission& s) {
    TRY(s.policy.timeout, duration_of(field, value));
    if (s.policy.timeout <= Duration{0}) return invalid(field, "must be longer than 0s");
    return {};
}

Result<> read_retry_field(std::string_view, const Json& value, Submission& s) {
    return read_retry(value, s.policy);
}

template <Ending Policy::* member>
Result<> read_ending(std::string_view field, const Json& value, Submission& s) {
    TRY(const std::string text, text_of(field, value));
    if (text != "suspend" && text != "fail")
        return invalid(field, "must be \"suspend\" or \"fail\"");
    s.policy.*member = text == "fail" ? Ending::fail : Ending::suspend;
    return {};
}

Result<> read_on_outage(std::string_view field, const Json& value, Submission& s) {
    TRY(const std::string text, text_of(field, value));
    if (text != "hold" && text != "count") return invalid(field, "must be \"hold\" or \"count\"");
    s.policy.on_outage = text == "hold" ? OnOutage::hold : OnOutage::count;
    return {};
}

Result<> read_concurrency(std::string_view field, const Json& value, Submission& s) {
    s.gate_limit = 1;
    for (const auto& [name, part] : value.members()) {
        if (name == "key") {
            TRY(s.gate, text_of("concurrency.key", part));
        } else if (name == "limit") {
            TRY(const std::int64_t limit, integer_of("concurrency.limit", part));
            if (limit < 1 || limit > kLargestGate)
                return invalid("concurrency.limit", "must be between 1 and 100000");
            s.gate_limit = static_cast<std::uint32_t>(limit);
        } else {
            return invalid("concurrency." + name, "is not a field of concurrency");
        }
    }
    if (s.gate.empty()) return invalid(field, "must be an object with a key and a limit");
    return {};
}

struct Member {
    std::string_view name;
    Result<> (*read)(std::string_view field, const Json& value, Submission& s);
};

// In this order whatever order they were sent in: a preset must not undo a more particular field.
constexpr std::array kMembers{
    Member{"type", read_text<&Submission::type>},
    Member{"queue", read_text<&Submission::queue>},
    Member{"tenant", read_text<&Submission::tenant>},
    Member{"payload", read_json<&Submission::payload>},
    Member{"priority", read_priority},
    Member{"labels", read_labels},
    Member{"idempotency_key", read_text<&Submission::idempotency_key>},
    Member{"traceparent", read_text<&Submission::traceparent>},
    Member{"user", read_json<&Submission::user>},
    Member{"placeholder", read_json<&Submission::placeholder>},
    Member{"run_at", read_run_at},
    Member{"delay", read_delay},
    Member{"lease", read_lease},
    Member{"retry", read_retry_field},
    Member{"timeout", read_timeout},
    Member{"on_exhausted", read_ending<&Policy::on_exhausted>},
    Member{"on_timeout", read_ending<&Policy::on_timeout>},
    Member{"on_outage", read_on_outage},
    Member{"concurrency", read_concurrency},
};

}  // namespace

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, is_name_char);
}

Result<> check_name(std::string_view field, std::string_view text) {
    if (!is_name(text))
        return invalid(field, "must be 1 to 64 of the characters A-Z a-z 0-9 _ . -");
    return {};
}

Result<> check_token(std::string_view field, std::string_view text) {
    if (text.empty() || text.size() > kLongestToken || !std::ranges::all_of(text, is_printable))
        return invalid(field, "must be 1 to 128 printable characters without blanks");
    return {};
}

Result<> check_size(std::string_view field, const Json& json) {
    if (json.text().size() > JsonLimits{}.bytes) return invalid(field, "is larger than 1 MiB");
    return {};
}

Result<> check_lease(std::string_view field, Duration lease) {
    if (lease < kShortestLease || lease > kLongestLease)
        return invalid(field, "must be between 1s and 24h");
    return {};
}

Result<Submission> read_submission(const Json& json) {
    if (!json.text().starts_with('{'))
        return invalid("body", "must be a JSON object describing a task");
    const auto members = json.members();
    for (const auto& member : members) {
        if (std::ranges::find(kMembers, member.name, &Member::name) == kMembers.end())
            return invalid(member.name, "is not a field of a submission");
    }
    Submission s;
    for (const Member& field : kMembers) {
        const auto member = std::ranges::find(members, field.name, &Json::Member::name);
        if (member == members.end()) continue;
        TRY_VOID(field.read(field.name, member->value, s));
    }
    return s;
}

Result<> validate(const Submission& s, Time now) {
    TRY_VOID(check_name("type", s.type));
    TRY_VOID(check_name("queue", s.queue));
    if (!s.tenant.empty()) TRY_VOID(check_name("tenant", s.tenant));
    TRY_VOID(check_size("payload", s.payload));
    TRY_VOID(check_size("user", s.user));
    TRY_VOID(check_size("placeholder", s.placeholder));
    if (s.priority > 9) return invalid("priority", "must be between 0 and 9");
    if (s.labels.size() > kMostLabels) return invalid("labels", "has more than 16 entries");
    for (const auto& [name, value] : s.labels) {
        TRY_VOID(check_name("labels." + name.substr(0, kLongestName), name));
        if (value.size() > kLongestLabelValue || has_control(value))
            return invalid("labels." + name,
                           "must be at most 256 bytes without control characters");
    }
    if (s.idempotency_key.size() > kLongestIdempotencyKey || has_control(s.idempotency_key))
        return invalid("idempotency_key", "must be at most 255 bytes without control characters");
    if (!s.traceparent.empty() && !is_traceparent(s.traceparent))
        return invalid("traceparent", "must be a W3C traceparent");
    if (s.run_at && s.delay) return invalid("delay", "cannot be given together with run_at");
    if (s.run_at && *s.run_at > now + kFarthestRun)
        return invalid("run_at", "is more than 3650d away");
    if (s.delay && (*s.delay < Duration{0} || *s.delay > kFarthestRun))
        return invalid("delay", "must be between 0s and 3650d");
    if (s.lease != Duration{0}) TRY_VOID(check_lease("lease", s.lease));
    TRY_VOID(check_policy(s.policy));
    if (!s.gate.empty()) TRY_VOID(check_name("concurrency.key", s.gate));
    if (s.gate_limit > kLargestGate)
        return invalid("concurrency.limit", "must be between 1 and 100000");
    return {};
}

Sha256 content_hash(const Submission& s) {
    std::string text = R"({"payload":)" + canonical(s.payload) + R"(,"queue":)" +
                       Json::quoted(s.queue).text() + R"(,"run_at":)";
    text += s.run_at ? Json::quoted(format_time(*s.run_at)).text() : "null";
    text += R"(,"type":)" + Json::quoted(s.type).text() + '}';
    return sha256(text);
}

std::optional<Partition> home_partition(const Submission& s) {
    if (!s.tenant.empty()) return partition_of(s.tenant);
    if (!s.idempotency_key.empty()) return partition_of(s.idempotency_key);
    if (!s.gate.empty()) return partition_of(s.gate);
    return std::nullopt;
}

Bytes make_body(const Submission& s) {
    JsonObject context;
    context.add_some("idempotency_key", s.idempotency_key).add_some("traceparent", s.traceparent);
    if (!s.user.is_null()) context.add("user", s.user);
    JsonObject body;
    body.add("payload", s.payload).add("context", context.done());
    if (!s.placeholder.is_null()) body.add("placeholder", s.placeholder);
    return Bytes(body.done().text());
}

Bytes with_payload(const Bytes& body, const Json& payload) {
    JsonObject changed;
    changed.add("payload", payload);
    for (const auto& [name, value] : Json::stored(body.view()).members()) {
        if (name != "payload") changed.add(name, value);
    }
    return Bytes(changed.done().text());
}

Json payload_of(const Bytes& body) {
    return Json::stored(body.view()).member("payload");
}

}  // namespace holdfast::domain
