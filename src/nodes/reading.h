// How the fields of workers' messages are read. Inside `nodes` only.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_cursor.h"
#include "engine/engine.h"

namespace holdfast::nodes {

/// Says where: "id: is missing" within "items[3]." is "items[3].id: is missing".
Error within(std::string_view place, Error error);

// Each reads the value the cursor stands before, or says what `field` must be.
Result<std::string> read_text(JsonCursor& cursor, std::string_view field);
Result<bool> read_bool(JsonCursor& cursor, std::string_view field);
Result<Duration> read_duration(JsonCursor& cursor, std::string_view field);
Result<std::int64_t> read_whole(JsonCursor& cursor, std::string_view field, std::int64_t least,
                                std::int64_t most);
/// Of queues, types or models in one list.
inline constexpr std::size_t kMostNames = 100;
Result<std::vector<std::string>> read_texts(JsonCursor& cursor, std::string_view field,
                                            std::size_t most);

/// The other name of a heartbeat on the stream, where `value` is the progress.
struct Progress : engine::Heartbeat {};

// The fields that one kind of item has beyond id, attempt and epoch. False: it has no such field.
Result<bool> read_field(JsonCursor& cursor, std::string_view name, engine::Completion& item);
Result<bool> read_field(JsonCursor& cursor, std::string_view name, engine::FailureReport& item);
Result<bool> read_field(JsonCursor& cursor, std::string_view name, engine::GivingBack& item);
Result<bool> read_field(JsonCursor& cursor, std::string_view name, engine::StageDone& item);
Result<bool> read_field(JsonCursor& cursor, std::string_view name, engine::Heartbeat& item);
Result<bool> read_field(JsonCursor& cursor, std::string_view name, Progress& item);
inline Result<bool> read_field(JsonCursor&, std::string_view, engine::Ack&) {
    return false;
}

template <class Item>
inline constexpr std::string_view kNeeded;  ///< The field such an item must have, too.
template <>
inline constexpr std::string_view kNeeded<engine::FailureReport> = "error";
template <>
inline constexpr std::string_view kNeeded<engine::StageDone> = "stage";

/// Gathers one item, member by member, in whatever order they come.
template <class Item>
class ItemReader {
  public:
    /// False: such an item has no field of this name, and nothing was read.
    Result<bool> read(JsonCursor& cursor, std::string_view name);
    bool begun() const { return seen_ != 0; }
    /// The item, if all was there that must be.
    Result<> finish(std::vector<Item>& into);

  private:
    enum Seen : std::uint8_t { id = 1, attempt = 2, epoch = 4, needed = 8, other = 16 };
    Item item_;
    std::uint8_t seen_ = 0;
};

Result<bool> read_ref(JsonCursor& cursor, std::string_view name, domain::TaskId& id,
                      domain::Fence& fence);

template <class Item>
Result<bool> ItemReader<Item>::read(JsonCursor& cursor, std::string_view name) {
    const Seen what = name == "id"            ? id
                      : name == "attempt"     ? attempt
                      : name == "epoch"       ? epoch
                      : name == kNeeded<Item> ? needed
                                              : other;
    TRY(const bool known, what <= epoch ? read_ref(cursor, name, item_.id, item_.fence)
                                        : read_field(cursor, name, item_));
    if (known) seen_ |= what;
    return known;
}

template <class Item>
Result<> ItemReader<Item>::finish(std::vector<Item>& into) {
    const auto has = [&](Seen what) { return (seen_ & what) != 0; };
    if (!has(id)) return invalid("id", "is missing");
    if (!has(attempt))
        return invalid("attempt", "is missing: send back the one the task came with");
    if (!has(epoch)) return invalid("epoch", "is missing: send back the one the task came with");
    if (!kNeeded<Item>.empty() && !has(needed)) return invalid(kNeeded<Item>, "is missing");
    into.push_back(std::move(item_));
    return {};
}

template <class Item>
Result<> read_item(JsonCursor& cursor, std::vector<Item>& into) {
    ItemReader<Item> reader;
    cursor.enter();
    while (const auto name = cursor.next_member()) {
        TRY(const bool known, reader.read(cursor, *name));
        if (!known) return invalid(*name, "is not a field of such an item");
    }
    return reader.finish(into);
}

/// A list of items, under the name `field`.
template <class Item>
Result<> read_items(JsonCursor& cursor, std::string_view field, std::size_t most,
                    std::vector<Item>& into) {
    if (!cursor.is_array()) return invalid(field, "must be a list");
    const auto place = [&] { return std::string(field) + '[' + std::to_string(into.size()) + ']'; };
    cursor.enter();
    while (cursor.next_item()) {
        if (into.size() == most)
            return invalid(field, "has more than " + std::to_string(most) + " entries");
        if (!cursor.is_object()) return invalid(place(), "must be an object");
        if (Result<> read = read_item(cursor, into); !read)
            return std::unexpected(within(place() + '.', std::move(read).error()));
    }
    return {};
}

}  // namespace holdfast::nodes
