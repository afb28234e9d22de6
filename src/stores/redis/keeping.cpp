// trim and sweep: what is old goes, what is wrong is mended.
#include <algorithm>

#include "stores/redis/codec.h"
#include "stores/redis/feed.h"
#include "stores/redis/inside.h"

namespace holdfast::stores {
namespace {

using holdfast::redis::Command;
using holdfast::redis::Reply;
using holdfast::redis::Value;
using redis::EntryId;
using redis::FeedPlace;
using redis::Shard;
using namespace std::chrono_literals;

/// The record of an entry that nobody knows may still be on its way for so long.
constexpr Duration kMissingFor = 1min;
/// Whose tasks the sweep looks at; the others have neither lane nor timer.
constexpr std::array<std::string_view, 6> kSweptStates{"queued",   "running", "dispatched",
                                                       "accepted", "waiting", "retrying"};

/// The first entry of a shard's feed that stays.
EntryId first_to_stay(const TrimRequest& request,
                      const std::vector<std::vector<FeedPlace>>& readers, std::size_t shard) {
    EntryId first{static_cast<std::uint64_t>(redis::micros(request.feed_before) / 1000), 0};
    for (const auto& reader : readers) first = std::min(first, reader[shard].first());
    return first;
}

}  // namespace

Async<Result<std::size_t>> RedisStore::trim(TrimRequest request) {
    Inside& in = *inside_;
    std::size_t gone = 0;
    if (is_set(request.finished_before)) {
        const std::string before = std::to_string(redis::micros(request.finished_before));
        const std::size_t share = (request.limit + in.shards.size() - 1) / in.shards.size();
        std::vector<Shard*> left;  // in turn, so that none gives up younger tasks than the others
        left.reserve(in.shards.size());
        for (const auto& shard : in.shards) left.push_back(shard.get());
        while (!left.empty() && gone < request.limit) {
            std::vector<Shard*> with_more;
            for (Shard* shard : left) {
                const std::size_t asked =
                    std::min({redis::kScriptTasks, share, request.limit - gone});
                if (asked == 0) break;
                CO_TRY(const Reply reply,
                       co_await shard->run(in.scripts.trim,
                                           {before, std::to_string(asked), shard->dlq()}));
                gone += static_cast<std::size_t>(reply.root()[1].integer());
                if (reply.root()[2].integer() != 0) with_more.push_back(shard);
            }
            left = std::move(with_more);
        }
    }
    if (!is_set(request.feed_before)) co_return gone;
    std::vector<std::vector<FeedPlace>> readers;
    readers.reserve(request.feed_keep.size());
    for (const std::string& cursor : request.feed_keep) {
        // One that cannot be read has read nothing.
        readers.push_back(redis::parse_cursor(cursor, in.shards.size())
                              .value_or(std::vector<FeedPlace>(in.shards.size())));
    }
    for (std::size_t s = 0; s < in.shards.size(); ++s) {
        CO_TRY_VOID(co_await in.shards[s]->run(in.scripts.trim_feed,
                                               {first_to_stay(request, readers, s).text()}));
    }
    co_return gone;
}

// ---- sweep ----

Async<Result<std::size_t>> RedisStore::Inside::sweep_some(Broom* at, std::size_t most,
                                                          bool* ended) {
    Shard& shard = *shards[at->shard];
    const std::string count = std::to_string(std::min(most, redis::kScriptTasks));
    if (at->phase < kSweptStates.size()) {
        CO_TRY(const Reply reply,
               co_await shard.run(scripts.sweep,
                                  {std::string(kSweptStates.at(at->phase)), at->cursor, count,
                                   std::to_string(around.manner.reclaim_idle.count())}));
        at->cursor = reply.root()[1].text();
        if (at->cursor == "0") ++at->phase;
        co_return static_cast<std::size_t>(reply.root()[2].integer());
    }
    if (at->phase == kSweptStates.size()) {
        CO_TRY(const Reply lanes,
               co_await shard.call("streams", Command("SMEMBERS", shard.key("streams"))));
        at->lanes.clear();
        for (const Value lane : lanes.root()) at->lanes.emplace_back(lane.text());
        at->cursor = "-";
        ++at->phase;
    }
    std::size_t mended = 0;
    if (!at->lanes.empty()) {
        CO_TRY(const Reply reply,
               co_await shard.run(scripts.sweep_lanes, {at->lanes.back(), at->cursor, count,
                                                        std::to_string(kMissingFor.count())}));
        at->cursor = reply.root()[1].text();
        mended = static_cast<std::size_t>(reply.root()[2].integer());
    }
    if (at->cursor.empty() && !at->lanes.empty()) {
        at->lanes.pop_back();
        at->cursor = "-";
    }
    if (at->lanes.empty()) {
        *at = {.shard = (at->shard + 1) % shards.size()};
        *ended = at->shard == 0;
    }
    co_return mended;
}

Async<Result<std::size_t>> RedisStore::sweep(std::size_t limit) {
    std::size_t mended = 0;
    bool ended = false;
    for (std::size_t looked = 0; looked < limit && !ended; looked += redis::kScriptTasks) {
        CO_TRY(const std::size_t some,
               co_await inside_->sweep_some(&inside_->broom, limit - looked, &ended));
        mended += some;
    }
    co_return mended;
}

Async<Result<std::size_t>> RedisStore::reconcile() {
    Inside::Broom round;
    std::size_t mended = 0;
    for (bool ended = false; !ended;) {
        CO_TRY(const std::size_t some,
               co_await inside_->sweep_some(&round, redis::kScriptTasks, &ended));
        mended += some;
    }
    co_return mended;
}

}  // namespace holdfast::stores
