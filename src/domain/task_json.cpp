#include "domain/task_json.h"

#include <array>
#include <charconv>

#include "domain/draft.h"

namespace holdfast::domain {
namespace {

Json time_json(Time t) {
    return is_set(t) ? Json::quoted(format_time(t)) : Json{};
}

Json text_or_null(std::string_view text) {
    return text.empty() ? Json{} : Json::quoted(text);
}

/// Hexadecimal: no JSON number holds 64 bits for sure.
Json fingerprint_json(std::uint64_t fingerprint) {
    if (fingerprint == 0) return {};
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), fingerprint, 16);
    return Json::quoted({digits.data(), end.ptr});
}

/// From "\nkey=value\nkey=value\n".
Json labels_json(std::string_view labels) {
    JsonObject object;
    for (std::size_t end = 0; (end = labels.find('\n', 1)) != std::string_view::npos;) {
        const std::string_view label = labels.substr(1, end - 1);
        const std::size_t equals = label.find('=');
        object.add(label.substr(0, equals), label.substr(equals + 1));
        labels.remove_prefix(end);
    }
    return object.done();
}

Json context_json(const Json& context) {
    return JsonObject{}
        .add("idempotency_key", context.member("idempotency_key"))
        .add("traceparent", context.member("traceparent"))
        .add("user", context.member("user"))
        .done();
}

Json retry_json(const Header& h) {
    const Policy policy = policy_of(h);
    return JsonObject{}
        .add("count", std::int64_t{h.retry_count})
        .add("max", std::int64_t{policy.max})
        .add("next_attempt_at", h.state == State::retrying ? time_json(h.due_at) : Json{})
        .add("policy", backoff_json(policy.backoff))
        .done();
}

}  // namespace

Json task_json(const Record& record) {
    const Header& h = record.header;
    const Json body = Json::stored(record.body.view());
    const Json outcome = Json::stored(record.outcome.view());
    JsonObject task;
    task.add("schema", kTaskSchema)
        .add("id", h.id.text())
        .add("type", h.type)
        .add("queue", h.queue)
        .add("tenant", text_or_null(h.tenant))
        .add("state", to_string(h.state))
        .add("payload", body.member("payload"))
        .add("result", outcome.member("result"))
        .add("error", outcome.member("error"))
        .add("priority", std::int64_t{h.priority})
        .add("labels", labels_json(h.labels))
        .add("context", context_json(body.member("context")))
        .add("retry", retry_json(h))
        .add("attempt", std::int64_t{h.attempt})
        .add("progress", h.progress < 0 ? Json{} : Json::number(h.progress))
        .add("note", text_or_null(h.note))
        .add("worker", text_or_null(h.worker))
        .add("lease_until", time_json(h.lease_until))
        .add("fingerprint", fingerprint_json(h.fingerprint))
        .add("revision", std::int64_t{h.revision})
        .add("pause_requested", Json::of(h.pause_requested))
        .add("cancel_requested", Json::of(h.cancel_requested))
        .add("run_at", time_json(h.run_at))
        .add("deadline", time_json(h.deadline))
        .add("version", static_cast<std::int64_t>(h.version))
        .add("created_at", time_json(h.created_at))
        .add("updated_at", time_json(h.updated_at))
        .add("started_at", time_json(h.started_at))
        .add("finished_at", time_json(h.finished_at));
    const Json placeholder = body.member("placeholder");
    if (!placeholder.is_null()) task.add("placeholder", placeholder);
    return task.done();
}

Json transition_json(const Transition& t) {
    return JsonObject{}
        .add("event", to_string(t.event))
        .add("from", t.from == State::none ? Json{} : Json::quoted(to_string(t.from)))
        .add("to", to_string(t.to))
        .add("attempt", std::int64_t{t.attempt})
        .add("message", t.message)
        .add("actor", text_or_null(t.actor))
        .add("at", time_json(t.at))
        .add("error", Json::stored(t.error.view()))
        .done();
}

}  // namespace holdfast::domain
