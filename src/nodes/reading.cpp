#include "nodes/reading.h"

#include <limits>

namespace holdfast::nodes {
namespace {

Result<domain::Failure> read_failure(JsonCursor& cursor) {
    if (!cursor.is_object())
        return invalid("error", "must be an object with kind, message, stack and code");
    domain::Failure failure;
    cursor.enter();
    while (const auto name = cursor.next_member()) {
        if (*name == "kind") {
            TRY(const std::string text, read_text(cursor, "error.kind"));
            const auto kind = domain::error_kind_from(text);
            if (!kind || *kind == domain::ErrorKind::crash)
                return invalid("error.kind",
                               "must be transient, permanent, dependency_down or timeout");
            failure.kind = *kind;
        } else if (*name == "message") {
            TRY(failure.message, read_text(cursor, "error.message"));
        } else if (*name == "stack") {
            TRY(failure.stack, read_text(cursor, "error.stack"));
        } else if (*name == "code") {
            TRY(failure.code, read_text(cursor, "error.code"));
        } else {
            return invalid("error." + std::string(*name), "is not a field of an error");
        }
    }
    return failure;
}

Result<bool> read_progress(JsonCursor& cursor, std::string_view field, engine::Heartbeat& item) {
    if (!cursor.is_number()) return invalid(field, "must be a number between 0 and 1");
    item.progress = static_cast<float>(cursor.take_number());
    return true;
}

}  // namespace

Error within(std::string_view place, Error error) {
    error.field.insert(0, place);
    error.detail.insert(0, place);
    return error;
}

Result<std::string> read_text(JsonCursor& cursor, std::string_view field) {
    if (!cursor.is_string()) return invalid(field, "must be a text");
    return std::string(cursor.take_string());
}

Result<bool> read_bool(JsonCursor& cursor, std::string_view field) {
    if (!cursor.is_bool()) return invalid(field, "must be true or false");
    return cursor.take_bool();
}

Result<Duration> read_duration(JsonCursor& cursor, std::string_view field) {
    if (!cursor.is_string()) return invalid(field, "must be a duration like \"30s\"");
    const auto duration = parse_duration(cursor.take_string());
    if (!duration) return invalid(field, duration.error().detail);
    return *duration;
}

Result<std::int64_t> read_whole(JsonCursor& cursor, std::string_view field, std::int64_t least,
                                std::int64_t most) {
    const auto number = cursor.is_number() ? cursor.take_integer() : std::nullopt;
    if (!number || *number < least || *number > most)
        return invalid(field, "must be a whole number from " + std::to_string(least) + " to " +
                                  std::to_string(most));
    return *number;
}

Result<std::vector<std::string>> read_texts(JsonCursor& cursor, std::string_view field,
                                            std::size_t most) {
    if (!cursor.is_array()) return invalid(field, "must be a list of texts");
    std::vector<std::string> texts;
    cursor.enter();
    while (cursor.next_item()) {
        if (texts.size() == most)
            return invalid(field, "has more than " + std::to_string(most) + " entries");
        if (!cursor.is_string())
            return invalid(std::string(field) + '[' + std::to_string(texts.size()) + ']',
                           "must be a text");
        texts.emplace_back(cursor.take_string());
    }
    return texts;
}

Result<bool> read_ref(JsonCursor& cursor, std::string_view name, domain::TaskId& id,
                      domain::Fence& fence) {
    if (name == "id") {
        if (!cursor.is_string()) return invalid("id", "must be a text, the id of a task");
        const auto read = Uuid::parse(cursor.take_string());
        if (!read) return invalid("id", read.error().detail);
        id = *read;
    } else if (name == "attempt") {
        TRY(const std::int64_t attempt,
            read_whole(cursor, "attempt", 0, std::numeric_limits<std::uint32_t>::max()));
        fence.attempt = static_cast<std::uint32_t>(attempt);
    } else {
        TRY(const std::int64_t epoch,
            read_whole(cursor, "epoch", 0, std::numeric_limits<std::int64_t>::max()));
        fence.epoch = domain::Epoch{epoch};
    }
    return true;
}

Result<bool> read_field(JsonCursor& cursor, std::string_view name, engine::Completion& item) {
    if (name != "result") return false;
    item.result = cursor.take();
    return true;
}

Result<bool> read_field(JsonCursor& cursor, std::string_view name, engine::FailureReport& item) {
    if (name == "error") {
        TRY(item.failure, read_failure(cursor));
    } else if (name == "retry_after") {
        TRY(item.retry_after, read_duration(cursor, "retry_after"));
    } else {
        return false;
    }
    return true;
}

Result<bool> read_field(JsonCursor& cursor, std::string_view name, engine::GivingBack& item) {
    if (name == "after") {
        TRY(item.after, read_duration(cursor, "after"));
    } else if (name == "until_signal") {
        TRY(item.until_signal, read_bool(cursor, "until_signal"));
    } else {
        return false;
    }
    return true;
}

Result<bool> read_field(JsonCursor& cursor, std::string_view name, engine::StageDone& item) {
    if (name == "stage") {
        TRY(item.stage, read_text(cursor, "stage"));
    } else if (name == "data") {
        item.data = cursor.take();
    } else {
        return false;
    }
    return true;
}

Result<bool> read_field(JsonCursor& cursor, std::string_view name, engine::Heartbeat& item) {
    if (name == "progress") return read_progress(cursor, "progress", item);
    if (name != "note") return false;
    TRY(item.note, read_text(cursor, "note"));
    return true;
}

Result<bool> read_field(JsonCursor& cursor, std::string_view name, Progress& item) {
    if (name == "value") return read_progress(cursor, "value", item);
    return read_field(cursor, name, static_cast<engine::Heartbeat&>(item));
}

}  // namespace holdfast::nodes
