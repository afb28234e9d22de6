// What workers are told, appended to one text: no Json is built on the way.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/json_cursor.h"
#include "nodes/ports/worker_json.h"

namespace holdfast::nodes {
namespace {

void append_number(std::string& out, std::integral auto number) {
    std::array<char, 24> digits{};
    out.append(digits.data(),
               std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void append_time(std::string& out, Time time) {
    if (!is_set(time)) {
        out += "null";
        return;
    }
    out += '"';
    out += format_time(time);
    out += '"';
}

/// From "\nkey=value\nkey=value\n".
void append_labels(std::string& out, std::string_view labels) {
    out += '{';
    bool first = true;
    for (std::size_t end = 0; (end = labels.find('\n', 1)) != std::string_view::npos;) {
        const std::string_view label = labels.substr(1, end - 1);
        const std::size_t equals = label.find('=');
        if (!std::exchange(first, false)) out += ',';
        append_quoted(out, label.substr(0, equals));
        out += ':';
        append_quoted(out, label.substr(equals + 1));
        labels.remove_prefix(end);
    }
    out += '}';
}

struct Body {
    std::string_view payload = "null";
    std::string_view idempotency_key = "null";
    std::string_view traceparent = "null";
    std::string_view user = "null";
};

void read_context(JsonCursor& cursor, Body& body) {
    cursor.enter();
    while (const auto name = cursor.next_member()) {
        if (*name == "idempotency_key") {
            body.idempotency_key = cursor.take_text();
        } else if (*name == "traceparent") {
            body.traceparent = cursor.take_text();
        } else if (*name == "user") {
            body.user = cursor.take_text();
        } else {
            cursor.skip();
        }
    }
}

Body read_body(const Json& stored) {
    Body body;
    JsonCursor cursor(stored);
    if (!cursor.is_object()) return body;
    cursor.enter();
    while (const auto name = cursor.next_member()) {
        if (*name == "payload") {
            body.payload = cursor.take_text();
        } else if (*name == "context" && cursor.is_object()) {
            read_context(cursor, body);
        } else {
            cursor.skip();
        }
    }
    return body;
}

void append_body(std::string& out, const Bytes& bytes) {
    const Json stored = Json::stored(bytes.view());
    const Body body = read_body(stored);
    out.append(R"(,"payload":)").append(body.payload);
    out.append(R"(,"context":{"idempotency_key":)").append(body.idempotency_key);
    out.append(R"(,"traceparent":)").append(body.traceparent);
    out.append(R"(,"user":)").append(body.user).append("}");
}

void append_entry(std::string& out, std::string_view name, const stores::LogEntry& entry) {
    out.append("{\"").append(name).append("\":");
    append_quoted(out, entry.key);
    out.append(R"(,"data":)").append(Json::stored(entry.bytes.view()).text()).append("}");
}

void append_entries(std::string& out, std::string_view name,
                    const std::vector<stores::LogEntry>& entries) {
    out += '[';
    for (const stores::LogEntry& entry : entries) {
        if (&entry != &entries.front()) out += ',';
        append_entry(out, name, entry);
    }
    out += ']';
}

std::string_view word_for(Of of, const engine::Done& done) {
    if (of != Of::checkpoint) return "ok";
    if (done.state == domain::State::paused) return "pause";
    return done.state == domain::State::cancelled ? "cancel" : "ok";
}

void append_refusal(std::string& out, const Error& error) {
    out.append(R"(,"outcome":")").append(to_string(error.code)).append("\"");
    // These two say all there is to say.
    if (error.code == Code::stale_lease || error.code == Code::not_found) return;
    out.append(R"(,"detail":)");
    append_quoted(out, error.detail);
}

}  // namespace

std::string_view to_string(Of of) {
    static constexpr std::array<std::string_view, 6> kNames{"done",       "fail", "yield",
                                                            "checkpoint", "ack",  "started"};
    return kNames[static_cast<std::size_t>(of)];
}

void append_quoted(std::string& out, std::string_view text) {
    const bool plain = std::ranges::all_of(
        text, [](char c) { return c >= ' ' && c != '"' && c != '\\' && c != '\x7f'; });
    if (plain) {
        out.append("\"").append(text).append("\"");
    } else {
        out += Json::quoted(text).text();
    }
}

void append_ref(std::string& out, const Ref& ref) {
    out.append(R"("id":")").append(ref.id.text()).append(R"(","attempt":)");
    append_number(out, ref.fence.attempt);
    out.append(R"(,"epoch":)");
    append_number(out, static_cast<std::int64_t>(ref.fence.epoch));
}

std::string_view TaskWriter::lease_text(Time until) {
    if (until != lease_until_ || lease_text_.empty()) {
        lease_until_ = until;
        lease_text_.clear();
        append_time(lease_text_, until);
    }
    return lease_text_;
}

std::uint16_t TaskWriter::retry_max(std::string_view policy) {
    if (policy != policy_ || policy_.empty()) {
        policy_ = policy;
        retry_max_ = domain::parse_policy(policy).value_or(domain::Policy{}).max;
    }
    return retry_max_;
}

void TaskWriter::append(std::string& out, const engine::ClaimedTask& task) {
    const domain::Header& h = task.record.header;
    out += '{';
    append_ref(out, {h.id, h.fence()});
    out.append(R"(,"type":)");
    append_quoted(out, h.type);
    out.append(R"(,"queue":)");
    append_quoted(out, h.queue);
    out.append(R"(,"tenant":)");
    if (h.tenant.empty()) {
        out += "null";
    } else {
        append_quoted(out, h.tenant);
    }
    append_body(out, task.record.body);
    out.append(R"(,"lease_until":)").append(lease_text(h.lease_until));
    out.append(R"(,"priority":)");
    append_number(out, unsigned{h.priority});
    out.append(R"(,"labels":)");
    append_labels(out, h.labels);
    out.append(R"(,"retry":{"count":)");
    append_number(out, h.retry_count);
    out.append(R"(,"max":)");
    append_number(out, retry_max(h.policy));
    out.append(R"(},"deadline":)");
    append_time(out, h.deadline);
    out.append(R"(,"checkpoint":)");
    if (task.checkpoints.empty()) {
        out += "null";
    } else {
        append_entry(out, "stage", task.checkpoints.back());
    }
    out.append(R"(,"checkpoints":)");
    append_entries(out, "stage", task.checkpoints);
    out.append(R"(,"signals":)");
    append_entries(out, "id", task.signals);
    out += '}';
}

std::string tasks_json(const std::vector<engine::ClaimedTask>& tasks) {
    std::string out = R"({"tasks":[)";
    TaskWriter writer;
    for (const engine::ClaimedTask& task : tasks) {
        if (&task != &tasks.front()) out += ',';
        writer.append(out, task);
    }
    return out += "]}";
}

void append_outcomes(std::string& out, Of of, std::span<const Ref> refs,
                     const engine::Each<engine::Done>& answers) {
    out += '[';
    for (std::size_t i = 0; i < refs.size(); ++i) {
        out += i == 0 ? "{" : ",{";
        append_ref(out, refs[i]);
        if (const auto& answer = answers[i]; answer) {
            out.append(R"(,"outcome":")").append(word_for(of, *answer)).append("\"");
            if (answer->duplicate) out += R"(,"duplicate":true)";
        } else {
            append_refusal(out, answer.error());
        }
        out += '}';
    }
    out += ']';
}

void append_beats(std::string& out, std::span<const Ref> refs,
                  const engine::Each<engine::Beat>& answers) {
    const auto word = [](bool b) { return b ? "true" : "false"; };
    out += '[';
    for (std::size_t i = 0; i < refs.size(); ++i) {
        out += i == 0 ? "{" : ",{";
        append_ref(out, refs[i]);
        if (const auto& answer = answers[i]; answer) {
            out.append(R"(,"lease_until":)");
            append_time(out, answer->lease_until);
            out.append(R"(,"cancel_requested":)").append(word(answer->cancel_requested));
            out.append(R"(,"pause_requested":)").append(word(answer->pause_requested));
        } else {
            append_refusal(out, answer.error());
        }
        out += '}';
    }
    out += ']';
}

std::string outcomes_json(Of of, std::span<const Ref> refs,
                          const engine::Each<engine::Done>& answers) {
    std::string out = R"({"items":)";
    append_outcomes(out, of, refs, answers);
    return out += '}';
}

std::string beats_json(std::span<const Ref> refs, const engine::Each<engine::Beat>& answers) {
    std::string out = R"({"items":)";
    append_beats(out, refs, answers);
    return out += '}';
}

}  // namespace holdfast::nodes
