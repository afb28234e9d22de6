// Opening the embedded store, and closing it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "stores/sqlite/data_directory.h"
#include "stores/sqlite/header_codec.h"
#include "stores/sqlite/pipeline.h"
#include "stores/sqlite/reading_thread.h"
#include "stores/sqlite/scribe.h"
#include "stores/sqlite/sqlite_journal.h"
#include "stores/sqlite/sqlite_store.h"

namespace holdfast::stores {

using memory::OnDisk;
using memory::Slot;
using memory::SlotId;
using sqlite::Group;
using sqlite::Tried;
using sqlite::Trouble;

namespace {

void end_process(const Error& error) {
    std::fprintf(stderr,
                 "holdfast: %s\nholdfast: nothing is acknowledged any more; this process ends. "
                 "Look after the disk, then start again: what was acknowledged is kept\n",
                 error.detail.c_str());
    std::_Exit(SqliteStore::kExitBroken);
}

}  // namespace

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
    const std::int64_t now = clock_.now().time_since_epoch().count();
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
    co_return co_await reading([this] { return journal_->archive().check(); }, &doctor_);
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
        &doctor_));
    co_return Result<>{};
}

}  // namespace holdfast::stores
