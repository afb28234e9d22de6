#include "bodies.h"

#include "problem.h"
#include "text.h"
#include "url.h"

namespace holdfast::client {
namespace {

void put(json::object& out, std::string_view name, const std::string& text) {
    if (!text.empty()) out[name] = text;
}
void put(json::object& out, std::string_view name, const json::value& value) {
    if (!value.is_null()) out[name] = value;
}
void put(json::object& out, std::string_view name, const std::optional<Milliseconds>& duration) {
    if (duration) out[name] = duration_text(*duration);
}

template <class Strings>
json::array array_of(const Strings& strings) {
    json::array out;
    for (const auto& text : strings) out.emplace_back(text);
    return out;
}

}  // namespace

json::object body_of(const Submission& submission) {
    json::object out{{"type", submission.type}};
    put(out, "payload", submission.payload);
    put(out, "queue", submission.queue);
    put(out, "tenant", submission.tenant);
    put(out, "idempotency_key", submission.idempotency_key);
    if (submission.priority) out["priority"] = *submission.priority;
    if (!submission.labels.empty()) {
        auto& labels = out["labels"].emplace_object();
        for (const auto& [name, value] : submission.labels) labels[name] = value;
    }
    put(out, "delay", submission.delay);
    put(out, "run_at", submission.run_at);
    put(out, "timeout", submission.timeout);
    put(out, "lease", submission.lease);
    put(out, "retry", submission.retry);
    put(out, "on_exhausted", submission.on_exhausted);
    put(out, "on_timeout", submission.on_timeout);
    put(out, "on_outage", submission.on_outage);
    put(out, "traceparent", submission.traceparent);
    put(out, "user", submission.user);
    return out;
}

json::object body_of(const Filter& filter) {
    json::object out;
    put(out, "q", filter.q);
    if (filter.states.size() == 1) out["state"] = filter.states.front();
    if (filter.states.size() > 1) out["state"] = array_of(filter.states);
    put(out, "queue", filter.queue);
    put(out, "type", filter.type);
    put(out, "tenant", filter.tenant);
    if (!filter.labels.empty()) out["label"] = array_of(filter.labels);
    put(out, "since", filter.since);
    put(out, "until", filter.until);
    return out;
}

json::object body_of(const Held& held) {
    return {{"id", held.id}, {"attempt", held.attempt}, {"epoch", held.epoch}};
}

json::object body_of(const Client::Claim& claim) {
    json::object out{
        {"queues", array_of(claim.queues)}, {"worker", claim.worker}, {"max", claim.max}};
    put(out, "lease", claim.lease);
    if (claim.wait.count() > 0) out["wait"] = duration_text(claim.wait);
    if (!claim.types.empty()) out["types"] = array_of(claim.types);
    return out;
}

std::string text_member(const json::value& value, std::string_view name) {
    const auto* object = value.if_object();
    const auto* member = object != nullptr ? object->if_contains(name) : nullptr;
    const auto* text = member != nullptr ? member->if_string() : nullptr;
    return text != nullptr ? std::string(text->c_str(), text->size()) : std::string();
}

Receipt receipt_of(const json::value& value) {
    Receipt out{.id = text_member(value, "id"),
                .state = text_member(value, "state"),
                .duplicate = false,
                .error = std::nullopt};
    const auto* object = value.if_object();
    if (const auto* flag = object != nullptr ? object->if_contains("duplicate") : nullptr)
        out.duplicate = flag->is_bool() && flag->get_bool();
    if (!out.id.empty()) return out;
    int status = 0;
    if (const auto* number = object != nullptr ? object->if_contains("status") : nullptr)
        status = number->is_int64() ? static_cast<int>(number->get_int64()) : 0;
    out.error = problem(status, value);
    return out;
}

std::string query_of(const Filter& filter, std::size_t limit, std::string_view cursor) {
    std::vector<std::pair<std::string_view, std::string>> parameters;
    parameters.reserve(filter.states.size() + filter.labels.size() + 8);
    parameters.emplace_back("q", filter.q);
    for (const auto& state : filter.states) parameters.emplace_back("state", state);
    parameters.emplace_back("queue", filter.queue);
    parameters.emplace_back("type", filter.type);
    parameters.emplace_back("tenant", filter.tenant);
    for (const auto& label : filter.labels) parameters.emplace_back("label", label);
    parameters.emplace_back("since", filter.since);
    parameters.emplace_back("until", filter.until);
    parameters.emplace_back("limit", std::to_string(limit));
    parameters.emplace_back("cursor", cursor);
    return query(parameters);
}

Page page_of(json::value body) {
    Page page;
    page.next_cursor = text_member(body, "next_cursor");
    auto* object = body.if_object();
    auto* tasks = object != nullptr ? object->if_contains("tasks") : nullptr;
    if (tasks != nullptr && tasks->is_array()) page.tasks = std::move(tasks->get_array());
    return page;
}

}  // namespace holdfast::client
