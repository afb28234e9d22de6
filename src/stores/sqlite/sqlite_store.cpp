#include "stores/sqlite/sqlite_store.h"

#include <algorithm>

#include "stores/sqlite/data_directory.h"
#include "stores/sqlite/pipeline.h"
#include "stores/sqlite/reading_thread.h"
#include "stores/sqlite/scribe.h"

namespace holdfast::stores {

using memory::kNoSlot;
using memory::Slot;
using memory::SlotId;
using sqlite::FinishedRow;
using sqlite::Tried;

namespace {

std::int64_t micros(Time t) {
    return t.time_since_epoch().count();
}

}  // namespace

// ---- memory is bounded ----

void SqliteStore::group_is_durable(std::uint64_t) {
    index_.feed().saved_until(sealed_feed_, kFeedBytes);
    evict_bodies();
    evict_finished();
    low_on_room_ = !has_room();
}

bool SqliteStore::has_room() {
    const auto room = directory_->room();
    return room.free_bytes >= options_.reserve_bytes &&
           static_cast<double>(room.free_bytes) >=
               static_cast<double>(room.total_bytes) * options_.reserve_share;
}

void SqliteStore::evict_bodies() {
    while (cached_bytes_ > options_.body_cache_bytes && !cached_.empty() &&
           cached_.front().group <= pipeline_->durable()) {
        const Cached cached = cached_.front();
        cached_.pop_front();
        cached_bytes_ -= cached.bytes;
        Slot& slot = index_.slot(cached.slot);
        if (slot.made != cached.made || !slot.disk.has_body) continue;  // gone, or has a newer body
        slot.body = {};
        slot.disk.dropped = true;
    }
}

void SqliteStore::evict_finished() {
    while (index_.finished_in_memory() > options_.finished_cache) {
        const Uuid task = index_.next_finished();
        const SlotId id = index_.find({domain::Kind::task, task});
        if (id != kNoSlot && domain::is_final(index_.slot(id).state)) {
            const Slot& slot = index_.slot(id);
            if (slot.disk.staged || slot.disk.group > pipeline_->durable() ||
                pinned_.contains(task))
                return;
            horizon_ = std::max(horizon_, task.minted_at());
            scribe_->forget(id);
        }
        index_.pass_finished();
    }
}

bool SqliteStore::may_be_on_disk(const Uuid& id) const {
    return id.minted_at() <= horizon_ && index_.find({domain::Kind::task, id}) == kNoSlot;
}

std::vector<Uuid> SqliteStore::to_bring_in(const std::vector<Change>& changes) const {
    std::vector<Uuid> ids;
    for (const Change& change : changes) {
        for (const domain::Put& put : change.puts) {
            if (put.header.kind == domain::Kind::task && may_be_on_disk(put.header.id))
                ids.push_back(put.header.id);
        }
        for (const domain::Append& append : change.appends) {
            if (!index_.has_logs(append.owner) && may_be_on_disk(append.owner))
                ids.push_back(append.owner);
        }
        for (const domain::Bind& bind : change.binds) {
            if (may_be_on_disk(bind.id)) ids.push_back(bind.id);
        }
    }
    return ids;
}

/// While they live, the finished tasks that these Changes touch do not leave memory.
class SqliteStore::Pins {
  public:
    Pins(SqliteStore& store, const std::vector<Change>& changes) : pinned_(store.pinned_) {
        for (const Change& change : changes) {
            for (const domain::Put& put : change.puts) add(put.header.id);
            for (const domain::Append& append : change.appends) add(append.owner);
            for (const domain::Bind& bind : change.binds) add(bind.id);
        }
    }
    ~Pins() {
        for (const Uuid& id : ids_) {
            const auto found = pinned_.find(id);
            if (--found->second == 0) pinned_.erase(found);
        }
    }
    Pins(const Pins&) = delete;
    Pins& operator=(const Pins&) = delete;

  private:
    void add(const Uuid& id) {
        ids_.push_back(id);
        ++pinned_[id];
    }
    std::map<Uuid, std::size_t>& pinned_;
    std::vector<Uuid> ids_;
};

Async<Result<>> SqliteStore::moves_are_durable() {
    while (scribe_->moves().group > pipeline_->durable())
        CO_TRY_VOID(co_await pipeline_->wait(scribe_->moves().group));
    co_return Result<>{};
}

/// Finished tasks that somebody writes to come into memory first, so that the index can decide.
Async<Result<>> SqliteStore::bring_in(std::vector<Uuid> ids) {
    struct Found {
        FinishedRow row;
        std::vector<sqlite::LogRow> logs;
    };
    CO_TRY_VOID(co_await moves_are_durable());
    const std::uint64_t gone = scribe_->moves().gone;
    CO_TRY(const std::vector<Found> found,
           co_await reading([this, ids]() -> Tried<std::vector<Found>> {
               std::vector<Found> all;
               auto rows = journal_->archive().finished(ids);
               if (!rows) return std::unexpected(rows.error());
               for (auto& row : *rows) {
                   if (!row) continue;
                   auto logs = journal_->archive().log_keys(row->id);
                   if (!logs) return std::unexpected(logs.error());
                   all.push_back({*std::move(row), *std::move(logs)});
               }
               return all;
           }));
    if (gone != scribe_->moves().gone)
        co_return co_await bring_in(std::move(ids));  // some may be gone since
    for (const Found& f : found) {
        if (index_.find({domain::Kind::task, f.row.id}) != kNoSlot) continue;
        if (!scribe_->restore(f.row, f.logs))
            co_return refuse(Code::unavailable, "the row of " + f.row.id.text() + " is damaged");
    }
    co_return Result<>{};
}

// ---- writing ----

Async<Result<std::vector<Outcome>>> SqliteStore::commit(std::vector<Change> changes) {
    if (pipeline_->is_broken()) co_return std::unexpected(*pipeline_->broken());
    if (scribe_->bytes() > options_.most_gathered_bytes)
        co_return refuse(Code::overloaded,
                         "the disk is slower than the work that comes in; try again");
    if (std::vector<Uuid> ids = to_bring_in(changes); !ids.empty()) {
        const Pins pins(*this, changes);  // what is in memory now must not leave meanwhile
        CO_TRY_VOID(co_await bring_in(std::move(ids)));
    }
    std::vector<Outcome> outcomes;
    outcomes.reserve(changes.size());
    const Time now = clock_.now();
    const std::uint64_t group = pipeline_->gathering();
    for (Change& change : changes) {
        const bool creates = std::ranges::any_of(change.puts, [](const domain::Put& put) {
            return put.expected_version == 0 && put.header.kind == domain::Kind::task;
        });
        if (creates && low_on_room_) low_on_room_ = !has_room();  // nothing else may be going on
        if (creates && low_on_room_) {
            outcomes.emplace_back();
            outcomes.back().verdict = Verdict::refused;
            outcomes.back().reason = "a disk that is nearly full";
            continue;
        }
        const auto erased = scribe_->erasures(change);
        outcomes.push_back(index_.commit(change, now));
        if (outcomes.back().verdict != Verdict::committed) continue;
        scribe_->committed(change, outcomes.back(), erased, now, group);
        shown_ = group;
        for (const domain::Put& put : change.puts) {
            if (!put.body) continue;
            const SlotId id = index_.find(put.header.key());
            if (id == kNoSlot || index_.slot(id).body.empty()) continue;
            const Slot& slot = index_.slot(id);
            cached_.push_back({id, slot.made, group, slot.body.size() + sizeof(Cached)});
            cached_bytes_ += cached_.back().bytes;
        }
    }
    if (shown_ == group) pipeline_->touch();
    CO_TRY_VOID(co_await pipeline_->wait(shown_));
    co_return outcomes;
}

Async<Result<std::vector<Record>>> SqliteStore::claim(ClaimRequest request) {
    if (pipeline_->is_broken()) co_return std::unexpected(*pipeline_->broken());
    const Time now = clock_.now();
    std::uint64_t needed = 0;
    if (micros(now) > epoch_ceiling_ - kEpochsAhead / 2) {
        if (micros(now) >= epoch_ceiling_) needed = pipeline_->gathering();
        epoch_ceiling_ = micros(now) + kEpochsAhead;
        scribe_->raise_epochs(epoch_ceiling_);
        pipeline_->touch_soon();
    }
    std::vector<Record> claimed = index_.claim(request, now);
    Missing missing;
    for (std::size_t i = 0; i < claimed.size(); ++i) {
        const SlotId id = index_.find(claimed[i].header.key());
        const Slot& slot = index_.slot(id);
        needed = std::max(needed, slot.disk.group);
        note_missing(slot, i, missing);
        scribe_->touched(id);
    }
    if (!claimed.empty()) {
        shown_ = pipeline_->gathering();
        pipeline_->touch_soon();
    }
    CO_TRY_VOID(co_await pipeline_->wait(needed));
    CO_TRY_VOID(co_await fill_bodies(&claimed, std::move(missing)));
    co_return claimed;
}

Async<Result<std::vector<Renewed>>> SqliteStore::renew(std::vector<Renewal> renewals) {
    if (pipeline_->is_broken()) co_return std::unexpected(*pipeline_->broken());
    std::vector<Renewed> renewed;
    renewed.reserve(renewals.size());
    const Time now = clock_.now();
    std::uint64_t needed = 0;
    for (const Renewal& renewal : renewals) {
        renewed.push_back(index_.renew(renewal, now));
        if (!renewed.back().held) continue;
        const SlotId id = index_.find({domain::Kind::task, renewal.id});
        scribe_->touched(id);
        // Written when something else is: after a crash as much is given anew as the claim was given. A renewal
        // for longer than that must be on disk.
        if (renewed.back().lease_until > now + index_.slot(id).lease_granted)
            needed = pipeline_->gathering();
    }
    CO_TRY_VOID(co_await pipeline_->wait(needed));
    co_return renewed;
}

Async<Result<std::vector<Record>>> SqliteStore::due(std::size_t limit) {
    if (pipeline_->is_broken()) co_return std::unexpected(*pipeline_->broken());
    std::vector<Record> records = index_.due(limit, clock_.now());
    std::uint64_t needed = 0;
    Missing missing;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const Slot& slot = index_.slot(index_.find(records[i].header.key()));
        needed = std::max(needed, slot.disk.group);
        note_missing(slot, i, missing);
    }
    CO_TRY_VOID(co_await pipeline_->wait(needed));
    CO_TRY_VOID(co_await fill_bodies(&records, std::move(missing)));
    co_return records;
}

Async<Result<std::size_t>> SqliteStore::trim(TrimRequest request) {
    if (pipeline_->is_broken()) co_return std::unexpected(*pipeline_->broken());
    const Time now = clock_.now();
    sqlite::Archive::Old old;
    for (int tries = 0; tries < 3; ++tries) {
        CO_TRY_VOID(co_await moves_are_durable());
        const std::uint64_t before = scribe_->moves().rewritten;
        CO_TRY(old, co_await reading([this, request, now, from = trim_from_] {
                   return journal_->archive().old(from, request.finished_before, now,
                                                  request.limit);
               }));
        if (before == scribe_->moves().rewritten) break;
        old = {};  // it is out of date
    }
    trim_from_ = old.next;
    std::size_t gone = 0;
    for (const FinishedRow& row : old.rows) {
        const SlotId id = index_.find({domain::Kind::task, row.id});
        if (id != kNoSlot) {
            const Slot& slot = index_.slot(id);
            const bool bound = slot.extras && slot.extras->bound_until > now;
            if (!domain::is_final(slot.state) || slot.disk.staged || bound) continue;
            scribe_->forget(id);
        }
        scribe_->trimmed(row, pipeline_->gathering());
        ++gone;
    }
    index_.bindings().drop_old(now);
    scribe_->trim_ended(now);
    std::uint64_t needed = index_.feed().next();
    for (const std::string& cursor : request.feed_keep)
        needed = std::min(needed, memory::Feed::number_of(cursor));
    index_.feed().trim(request.feed_before, request.feed_keep);
    if (is_set(request.feed_before)) scribe_->trim_feed(request.feed_before, needed);
    shown_ = pipeline_->gathering();
    CO_TRY_VOID(co_await pipeline_->wait(shown_));
    co_return gone;
}

}  // namespace holdfast::stores
