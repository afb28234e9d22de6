#include "nodes/frames.h"

#include <algorithm>
#include <array>

#include "nodes/ports/worker_json.h"
#include "nodes/reading.h"

namespace holdfast::nodes {
namespace {

constexpr std::size_t kLongestModel = 128;

Result<> read_labels(JsonCursor& cursor, Hello& hello) {
    if (!cursor.is_object()) return invalid("labels", "must be an object of texts");
    cursor.enter();
    while (const auto name = cursor.next_member()) {
        std::string key(*name);
        const std::string field = "labels." + key;
        TRY_VOID(domain::check_name(field, key));
        TRY(std::string value, read_text(cursor, field));
        if (value.size() > domain::kLongestLabelValue)
            return invalid(field, "is longer than 256 bytes");
        if (hello.labels.size() == domain::kMostLabels)
            return invalid("labels", "has more than 16 entries");
        hello.labels.emplace_back(std::move(key), std::move(value));
    }
    return {};
}

Result<bool> read_hello_field(JsonCursor& cursor, std::string_view name, Hello& hello) {
    if (name == "worker") {
        TRY(hello.worker, read_text(cursor, "worker"));
    } else if (name == "queues") {
        TRY(hello.queues, read_texts(cursor, "queues", kMostNames));
    } else if (name == "types") {
        TRY(hello.types, read_texts(cursor, "types", kMostNames));
    } else if (name == "models") {
        TRY(hello.models, read_texts(cursor, "models", kMostNames));
    } else if (name == "labels") {
        TRY_VOID(read_labels(cursor, hello));
    } else if (name == "slots") {
        TRY(const std::int64_t slots, read_whole(cursor, "slots", 1, kMostSlots));
        hello.slots = static_cast<std::uint32_t>(slots);
    } else if (name == "lease") {
        TRY(hello.lease, read_duration(cursor, "lease"));
        TRY_VOID(domain::check_lease("lease", hello.lease));
    } else if (name == "acks") {
        TRY(hello.acks, read_bool(cursor, "acks"));
    } else if (name == "running") {
        TRY_VOID(read_items(cursor, "running", kMostSlots, hello.running));
    } else {
        return name == "op";
    }
    return true;
}

Result<> check(const Hello& hello) {
    TRY_VOID(domain::check_token("worker", hello.worker));
    if (hello.queues.empty()) return invalid("queues", "must name 1 to 100 queues");
    for (const std::string& queue : hello.queues) TRY_VOID(domain::check_name("queues", queue));
    for (const std::string& type : hello.types) TRY_VOID(domain::check_name("types", type));
    for (const std::string& model : hello.models) {
        if (model.empty() || model.size() > kLongestModel)
            return invalid("models", "must be names of 1 to 128 bytes");
    }
    return {};
}

Result<Frame> read_hello(JsonCursor& cursor) {
    Hello hello;
    cursor.enter();
    while (const auto name = cursor.next_member()) {
        const bool is_op = *name == "op";
        TRY(const bool known, read_hello_field(cursor, *name, hello));
        if (!known) return invalid(*name, "is not a field of hello");
        if (is_op) cursor.skip();
    }
    TRY_VOID(check(hello));
    return hello;
}

/// {"op", "items":[…]}, or one item that stands in the frame itself.
template <class Item>
Result<std::vector<Item>> read_list(JsonCursor& cursor, bool may_be_missing = false) {
    std::vector<Item> items;
    ItemReader<Item> direct;
    bool listed = false;
    cursor.enter();
    while (const auto name = cursor.next_member()) {
        if (*name == "op") {
            cursor.skip();
        } else if (*name == "items") {
            TRY_VOID(read_items(cursor, "items", engine::kLargestBatch, items));
            listed = true;
        } else {
            TRY(const bool known, direct.read(cursor, *name));
            if (!known) return invalid(*name, "is not a field of this op");
        }
    }
    if (direct.begun()) {
        if (listed) return invalid("items", "cannot be given together with the fields of one item");
        TRY_VOID(direct.finish(items));
    } else if (!listed && !may_be_missing) {
        return invalid("items", "is missing: send a list, at most 1000 at once");
    }
    return items;
}

template <class Request, class Item>
Result<Frame> read_request(JsonCursor& cursor) {
    TRY(std::vector<Item> items, read_list<Item>(cursor));
    return Request{std::move(items)};
}

template <class Item>
Result<Frame> read_renew(JsonCursor& cursor) {
    TRY(std::vector<Item> items, read_list<Item>(cursor, true));
    if constexpr (std::same_as<Item, engine::Heartbeat>) {
        return Renew{std::move(items)};
    } else {
        return Renew{
            {std::make_move_iterator(items.begin()), std::make_move_iterator(items.end())}};
    }
}

Result<Frame> read_drain(JsonCursor& cursor) {
    Drain drain;
    cursor.enter();
    while (const auto name = cursor.next_member()) {
        if (*name == "op") {
            cursor.skip();
        } else if (*name == "now") {
            TRY(drain.now, read_bool(cursor, "now"));
        } else {
            return invalid(*name, "is not a field of drain");
        }
    }
    return drain;
}

Result<Frame> read_partial(JsonCursor&) {
    return Partial{};
}

struct Op {
    std::string_view name;
    Result<Frame> (*read)(JsonCursor& cursor);
};

constexpr std::array kOps{
    Op{"done", read_request<Complete, engine::Completion>},
    Op{"heartbeat", read_renew<engine::Heartbeat>},
    Op{"progress", read_renew<Progress>},
    Op{"checkpoint", read_request<Checkpoint, engine::StageDone>},
    Op{"fail", read_request<Fail, engine::FailureReport>},
    Op{"yield", read_request<Yield, engine::GivingBack>},
    Op{"ack", read_request<Accept, engine::Ack>},
    Op{"started", read_request<Start, engine::Ack>},
    Op{"partial", read_partial},
    Op{"hello", read_hello},
    Op{"drain", read_drain},
};

/// Usually the first member: then nothing is read twice.
Result<const Op*> find_op(JsonCursor cursor) {
    cursor.enter();
    while (const auto name = cursor.next_member()) {
        if (*name != "op") {
            cursor.skip();
            continue;
        }
        TRY(const std::string op, read_text(cursor, "op"));
        const auto* const found = std::ranges::find(kOps, op, &Op::name);
        if (found == kOps.end())
            return invalid("op",
                           "'" + op.substr(0, 40) +
                               "' is not known; a worker says hello, done, fail, yield, "
                               "checkpoint, heartbeat, progress, ack, started, partial or drain");
        return found;
    }
    return invalid("op", "is missing");
}

}  // namespace

Result<Frame> read_frame(std::string_view text) {
    TRY(const Json json, Json::parse(text, kWorkerLimits));
    JsonCursor cursor(json);
    if (!cursor.is_object()) return invalid("frame", "must be a JSON object with an op");
    TRY(const Op* op, find_op(cursor));
    return op->read(cursor);
}

}  // namespace holdfast::nodes
