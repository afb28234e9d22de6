// Where a reader of the feed is: a place in every shard's stream.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::stores::redis {

/// The id of a stream's entry.
struct EntryId {
    std::uint64_t ms = 0;
    std::uint64_t number = 0;
    std::string text() const;
    static EntryId parse(std::string_view text);
    EntryId next() const { return {ms, number + 1}; }
    friend auto operator<=>(const EntryId&, const EntryId&) = default;
};

/// All before `entry` was read, and of it `read` events; none: all of it.
struct FeedPlace {
    EntryId entry;
    std::optional<std::size_t> read;

    /// The first entry with something to read.
    EntryId first() const { return read ? entry : entry.next(); }
    friend bool operator==(const FeedPlace&, const FeedPlace&) = default;
};

/// "<entry>,<entry>+<read>,…", one of each shard in order.
std::string format_cursor(const std::vector<FeedPlace>& places);
/// None: not a cursor of so many shards.
std::optional<std::vector<FeedPlace>> parse_cursor(std::string_view cursor, std::size_t shards);

}  // namespace holdfast::stores::redis
