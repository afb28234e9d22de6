#include "stores/sqlite/sqlite_store.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>
#include <cstdlib>

#include "stores/sqlite/data_directory.h"
#include "stores/sqlite/header_codec.h"
#include "stores/sqlite/pipeline.h"
#include "stores/sqlite/reading_thread.h"
#include "stores/sqlite/scribe.h"
#include "stores/sqlite/sqlite_journal.h"

namespace holdfast::stores {

using memory::kNoSlot;
using memory::OnDisk;
using memory::Slot;
using memory::SlotId;
using sqlite::FinishedRow;
using sqlite::Group;
using sqlite::Tried;
using sqlite::Trouble;

namespace {

/// Epochs of claims whose stamp may be lost are below this much of the future.
constexpr std::int64_t kEpochsAhead = std::chrono::microseconds(std::chrono::hours{24}).count();
constexpr std::size_t kFeedBytes = std::size_t{8} << 20;

std::int64_t micros(Time t) {
    return t.time_since_epoch().count();
}

void end_process(const Error& error) {
    std::fprintf(stderr,
                 "holdfast: %s\nholdfast: nothing is acknowledged any more; this process ends. "
                 "Look after the disk, then start again: what was acknowledged is kept\n",
                 error.detail.c_str());
    std::_Exit(SqliteStore::kExitBroken);
}

}  // namespace

// ---- opening and closing ----

/// Builds the index from what was written.
class SqliteStore::Recall final : public sqlite::Recovery {
  public:
    explicit Recall(SqliteStore& store) : store_(store), now_(store.clock_.now()) {}

    bool name(sqlite::Names::Number number, std::string_view text) override {
        return store_.scribe_->names().add(number, text);
    }
    bool family(const sqlite::FamilyRow& row) override {
        return store_.scribe_->families().add(row);
    }
    bool live(sqlite::LiveRow row) override {
        const sqlite::FamilyRow& family = store_.scribe_->families().row(row.family);
        Header h;
        h.id = row.id;
        h.kind = family.kind;
        h.queue = family.queue;
        h.type = family.type;
        h.state = row.state;
        if (family.number == 0 || !is_state(row.state) ||
            !sqlite::unpack_header(row.header, store_.scribe_->names(), h))
            return false;
        if (h.kind == domain::Kind::task && h.is_held()) {
            // Nobody was late while there was nobody to talk to.
            h.lease_until = std::max(h.lease_until, now_ + h.lease_granted);
            h.wake_at = domain::wake_for(h);
        }
        const SlotId id =
            store_.index_.restore({std::move(h), std::move(row.outcome), std::move(row.history),
                                   row.made, row.bound_until});
        Slot& slot = store_.index_.slot(id);
        slot.disk = {.group = 0,
                     .row = OnDisk::Row::live,
                     .staged = false,
                     .has_body = true,
                     .dropped = true};
        slot.family->number = row.family;
        if (slot.lane != nullptr) queued_.emplace_back(slot.updated_at, id);
        return true;
    }
    void log_key(const Uuid& owner, std::string_view log, std::uint64_t,
                 std::string_view key) override {
        store_.index_.restore_log_key(log, owner, key);
    }
    void binding(const sqlite::BindingRow& row) override {
        store_.index_.bindings().bind(row.scope, row.key, {row.id, row.hash, row.expires_at});
    }
    void permit(const sqlite::PermitRow& row) override {
        if (is_set(row.expires_at) && row.expires_at <= now_) return;
        store_.index_.permits().acquire(row.key, {row.holder, row.epoch, row.expires_at}, now_);
    }
    void counter(std::string_view name, std::int64_t value) override {
        store_.index_.counter(std::string(name)) = value;
    }
    bool count(const sqlite::CountRow& row) override {
        if (is_state(row.state)) store_.scribe_->recovered_count(row);
        return is_state(row.state);
    }
    bool failure(const sqlite::CountRow& row) override {
        if (is_state(row.state)) store_.scribe_->recovered_failure(row);
        return is_state(row.state);
    }
    void last(const Last& last) override {
        put_lanes_in_order();
        store_.scribe_->last(last);
        store_.index_.feed().begin_at(last.feed + 1);
        store_.index_.catalogue().saw_made(last.made,
                                           Time{Duration{static_cast<std::int64_t>(last.made)}});
        store_.horizon_ = last.finished_id.minted_at();
        store_.epoch_ceiling_ = last.epoch_ceiling;
    }

  private:
    /// Rows come in the order of creation; in a lane it is who came first, and every step of a queued task leads
    /// to its end.
    void put_lanes_in_order() {
        if (std::ranges::is_sorted(queued_)) return;
        std::ranges::sort(queued_);  // slots were taken in the order of creation
        for (const auto& [since, id] : queued_) store_.index_.to_lane_end(id);
    }
    static bool is_state(State state) { return static_cast<std::size_t>(state) < domain::kStates; }

    SqliteStore& store_;
    Time now_;
    std::vector<std::pair<Time, SlotId>> queued_;
};

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(SqliteOptions options, Clock& clock,
                                                       asio::any_io_executor executor) {
    std::unique_ptr<SqliteStore> store(
        new SqliteStore(std::move(options), clock, std::move(executor)));
    TRY_VOID(store->start());
    return store;
}

SqliteStore::SqliteStore(SqliteOptions options, Clock& clock, asio::any_io_executor executor)
    : options_(std::move(options)), clock_(clock), executor_(std::move(executor)) {
    if (!options_.on_broken) options_.on_broken = end_process;
    if (!options_.disk) {
        reader_.emplace(1);
        doctor_.emplace(1);
    }
    scribe_ = std::make_unique<sqlite::Scribe>(index_);
    index_.leave_logs_on_disk();
}

SqliteStore::~SqliteStore() {
    pipeline_.reset();
    if (reader_) reader_->join();
    if (doctor_) doctor_->join();
}

Result<> SqliteStore::start() {
    TRY(sqlite::DataDirectory directory, sqlite::DataDirectory::open(options_.directory));
    directory_ = std::make_unique<sqlite::DataDirectory>(std::move(directory));
    TRY(journal_, sqlite::SqliteJournal::open(
                      {.path = directory_->database(),
                       .vfs = options_.vfs,
                       .relaxed = options_.durability == SqliteOptions::Durability::relaxed,
                       .failpoint = options_.failpoint}));
    Recall recall(*this);
    TRY_VOID(journal_->recover(recall));
    directory_->lay_ballast(options_.ballast_bytes);
    low_on_room_ = !has_room();

    // No epoch of an earlier life comes again, though its claim may not have reached the disk, and though the
    // clock may have been set back since.
    const std::int64_t now = micros(clock_.now());
    index_.set_epoch_floor(Time{Duration{epoch_ceiling_}});
    epoch_ceiling_ = std::max(now, epoch_ceiling_) + kEpochsAhead;
    Group first;
    first.epoch_ceiling = epoch_ceiling_;
    const auto with_ballast = [this](const std::function<Tried<>()>& write) {
        Tried<> written = write();
        if (!written && written.error().kind == Trouble::Kind::full && directory_->drop_ballast())
            written = write();
        return written;
    };
    if (auto written = with_ballast([&] { return journal_->append(first); }); !written)
        return refuse(Code::unavailable,
                      "cannot write to " + directory_->database() + ": " + written.error().text);
    index_.feed().saved_until(index_.feed().next(), kFeedBytes);

    pipeline_ = std::make_unique<sqlite::Pipeline>(
        executor_, clock_,
        sqlite::Pipeline::Parts{
            .run = options_.disk,
            .seal =
                [this] {
                    sealed_feed_ = index_.feed().next();
                    return scribe_->seal();
                },
            .write =
                [this, with_ballast](const Group& group) {
                    return with_ballast([&] { return journal_->append(group); });
                },
            .tidy = [this,
                     with_ballast] { return with_ballast([this] { return journal_->tidy(); }); },
            .durable = [this](std::uint64_t group) { group_is_durable(group); },
            .broken = [this](const Error& error) { options_.on_broken(error); }});
    return {};
}

Async<Result<>> SqliteStore::close() {
    const std::uint64_t last = pipeline_->gathering();  // renewals ride along
    co_return co_await pipeline_->wait(last);
}

std::string_view SqliteStore::durability() const {
    return options_.durability == SqliteOptions::Durability::full ? "fsync" : "relaxed";
}

Async<Result<Time>> SqliteStore::clock() {
    if (pipeline_->is_broken()) co_return std::unexpected(*pipeline_->broken());
    co_return clock_.now();
}

Async<Result<>> SqliteStore::check() {
    co_return co_await reading([this] { return journal_->archive().check(); }, doctor_);
}

Async<Result<>> SqliteStore::backup(std::filesystem::path to) {
    CO_TRY_VOID(co_await pipeline_->wait(shown_));
    if (std::filesystem::exists(to))
        co_return refuse(Code::invalid_argument, to.string() + " exists already; name a new file");
    CO_TRY_VOID(co_await reading(
        [this, to]() -> Tried<> {
            auto made = journal_->archive().backup(to.string());
            if (made) return made;
            std::error_code ignored;
            std::filesystem::remove(to, ignored);  // half a copy is none
            return std::unexpected(
                Trouble{made.error().kind,
                        "cannot make the backup " + to.string() + ": " + made.error().text});
        },
        doctor_));
    co_return Result<>{};
}

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
        outcomes.push_back(index_.commit(std::move(change), now));
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
    CO_TRY_VOID(co_await fill_bodies(claimed, std::move(missing)));
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
    CO_TRY_VOID(co_await fill_bodies(records, std::move(missing)));
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
