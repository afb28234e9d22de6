#include "stores/redis/feed.h"

#include <algorithm>
#include <charconv>

#include "stores/redis/inside.h"

namespace holdfast::stores {
namespace redis {
namespace {

/// Reads a number off the front of `text`.
bool take_number(std::string_view& text, std::uint64_t& number) {
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
    return true;
}

bool take(std::string_view& text, char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

std::string EntryId::text() const {
    return std::to_string(ms) + '-' + std::to_string(number);
}

EntryId EntryId::parse(std::string_view text) {
    EntryId id;
    if (take_number(text, id.ms) && take(text, '-')) take_number(text, id.number);
    return id;
}

std::string format_cursor(const std::vector<FeedPlace>& places) {
    std::string cursor;
    for (const FeedPlace& place : places) {
        if (!cursor.empty()) cursor += ',';
        cursor += place.entry.text();
        if (place.read) cursor += '+' + std::to_string(*place.read);
    }
    return cursor;
}

std::optional<std::vector<FeedPlace>> parse_cursor(std::string_view cursor, std::size_t shards) {
    std::vector<FeedPlace> places(shards);
    for (FeedPlace& place : places) {
        if (&place != &places.front() && !take(cursor, ',')) return std::nullopt;
        if (!take_number(cursor, place.entry.ms) || !take(cursor, '-') ||
            !take_number(cursor, place.entry.number))
            return std::nullopt;
        std::uint64_t read = 0;
        if (!take(cursor, '+')) continue;
        if (!take_number(cursor, read)) return std::nullopt;
        place.read = read;
    }
    return cursor.empty() ? std::optional(std::move(places)) : std::nullopt;
}

}  // namespace redis

namespace {

using holdfast::redis::Reply;
using holdfast::redis::Value;
using redis::EntryId;
using redis::FeedPlace;
using redis::Shard;

struct Entry {
    EntryId id;
    std::size_t shard = 0;
    std::string events;
};

struct ShardFeed {
    EntryId trimmed;  ///< The last that is no more.
    std::vector<Entry> entries;
};

Async<Result<ShardFeed>> read_entries(Shard* shard, const redis::Scripts* scripts, std::string from,
                                      std::size_t most) {
    CO_TRY(const Reply reply,
           co_await shard->run(scripts->feed, {std::move(from), std::to_string(most)}));
    ShardFeed feed;
    for (std::size_t i = 0; const Value item : reply.root()) {
        if (i == 1) feed.trimmed = EntryId::parse(item.text());
        if (i++ >= 2)
            feed.entries.push_back(
                {EntryId::parse(item[0].text()), 0, std::string(item[1].text())});
    }
    co_return feed;
}

/// Puts what is new into the page, in the order of time; a place moves behind what was read of it.
void read_on(std::vector<ShardFeed>& feeds, std::vector<FeedPlace>& places, FeedPage& page,
             std::size_t limit) {
    std::vector<Entry> entries;
    for (std::size_t s = 0; s < feeds.size(); ++s) {
        for (Entry& entry : feeds[s].entries) {
            entry.shard = s;
            entries.push_back(std::move(entry));
        }
    }
    std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.id, e.shard); });
    for (const Entry& entry : entries) {
        if (page.events.size() >= limit) return;
        FeedPlace& place = places[entry.shard];
        std::size_t read = place.entry == entry.id ? place.read.value_or(0) : 0;
        auto events = redis::decode_events(entry.events);
        for (; read < events.size() && page.events.size() < limit; ++read)
            page.events.push_back(std::move(events[read]));
        place = {entry.id, read < events.size() ? std::optional(read) : std::nullopt};
    }
}

}  // namespace

Async<Result<FeedPage>> RedisStore::feed(std::string cursor, std::size_t limit) {
    Inside& in = *inside_;
    FeedPage page;
    std::vector<FeedPlace> places(in.shards.size());
    if (cursor == "now") {
        CO_TRY(const auto feeds, co_await in.of_each<ShardFeed>([&](Shard& shard) {
            return read_entries(&shard, &in.scripts, "+", 1);
        }));
        for (std::size_t s = 0; s < feeds.size(); ++s)
            places[s].entry = feeds[s].entries.empty() ? feeds[s].trimmed : feeds[s].entries[0].id;
        page.next = redis::format_cursor(places);
        co_return page;
    }
    const bool from_the_oldest = cursor.empty();
    if (!from_the_oldest) {
        auto parsed = redis::parse_cursor(cursor, in.shards.size());
        page.reset = !parsed;  // of another number of partitions: it begins anew
        if (parsed) places = *std::move(parsed);
    }
    const std::size_t most = std::clamp<std::size_t>(limit / 16, 4, 64);
    for (bool more = true, first = true; more && page.events.size() < limit; first = false) {
        std::size_t next = 0;
        CO_TRY(auto feeds, co_await in.of_each<ShardFeed>([&](Shard& shard) {
            return read_entries(&shard, &in.scripts, places[next++].first().text(), most);
        }));
        more = false;
        for (std::size_t s = 0; s < feeds.size(); ++s) {
            more |= feeds[s].entries.size() == most;
            page.reset |= first && !from_the_oldest && feeds[s].trimmed >= places[s].first();
        }
        read_on(feeds, places, page, limit);
    }
    page.next = redis::format_cursor(places);
    co_return page;
}

}  // namespace holdfast::stores
