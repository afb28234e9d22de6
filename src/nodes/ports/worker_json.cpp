#include "nodes/ports/worker_json.h"

#include "nodes/reading.h"

namespace holdfast::nodes {
namespace {

std::unexpected<Error> not_an_object() {
    return invalid("body", "must be a JSON object");
}

/// {"items":[…]} and, where `worker` is given, a worker.
template <class Item>
Result<std::vector<Item>> read_list(const Json& body, std::string* worker = nullptr) {
    JsonCursor cursor(body);
    if (!cursor.is_object()) return not_an_object();
    std::vector<Item> items;
    bool listed = false;
    cursor.enter();
    while (const auto name = cursor.next_member()) {
        if (*name == "items") {
            TRY_VOID(read_items(cursor, "items", engine::kLargestBatch, items));
            listed = true;
        } else if (worker != nullptr && *name == "worker") {
            TRY(*worker, read_text(cursor, "worker"));
        } else {
            return invalid(*name, "is not a field of this request");
        }
    }
    if (!listed) return invalid("items", "is missing: send a list, at most 1000 at once");
    return items;
}

Result<bool> read_claim_field(JsonCursor& cursor, std::string_view name, engine::ClaimCall& call) {
    if (name == "queues") {
        TRY(call.queues, read_texts(cursor, "queues", kMostNames));
    } else if (name == "worker") {
        TRY(call.worker, read_text(cursor, "worker"));
    } else if (name == "max") {
        TRY(const std::int64_t max, read_whole(cursor, "max", 1, engine::kLargestBatch));
        call.max = static_cast<std::uint32_t>(max);
    } else if (name == "lease") {
        TRY(call.lease, read_duration(cursor, "lease"));
        TRY_VOID(domain::check_lease("lease", call.lease));
    } else if (name == "wait") {
        TRY(call.wait, read_duration(cursor, "wait"));
    } else if (name == "types") {
        TRY(call.types, read_texts(cursor, "types", kMostNames));
    } else if (name == "acks") {
        TRY(call.acks, read_bool(cursor, "acks"));
    } else {
        return false;
    }
    return true;
}

}  // namespace

Result<engine::ClaimCall> read_claim(const Json& body) {
    JsonCursor cursor(body);
    if (!cursor.is_object()) return not_an_object();
    engine::ClaimCall call;
    cursor.enter();
    while (const auto name = cursor.next_member()) {
        TRY(const bool known, read_claim_field(cursor, *name, call));
        if (!known) return invalid(*name, "is not a field of a claim");
    }
    if (call.queues.empty()) return invalid("queues", "must name 1 to 100 queues");
    TRY_VOID(domain::check_token("worker", call.worker));
    return call;
}

Result<std::vector<engine::Completion>> read_completions(const Json& body) {
    return read_list<engine::Completion>(body);
}

Result<std::vector<engine::FailureReport>> read_failures(const Json& body) {
    return read_list<engine::FailureReport>(body);
}

Result<std::vector<engine::StageDone>> read_stages(const Json& body) {
    return read_list<engine::StageDone>(body);
}

Result<std::vector<engine::GivingBack>> read_yields(const Json& body) {
    return read_list<engine::GivingBack>(body);
}

Result<HeartbeatCall> read_heartbeats(const Json& body) {
    HeartbeatCall call;
    TRY(call.items, read_list<engine::Heartbeat>(body, &call.worker));
    TRY_VOID(domain::check_token("worker", call.worker));
    return call;
}

}  // namespace holdfast::nodes
