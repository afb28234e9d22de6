// The seam below the embedded store: what it asks of the disk. Groups of rows are written whole; what was
// written is read back when the store opens, and looked up later.
//
// The store decides everything before a group is made: a journal only keeps rows. SqliteJournal is the one
// there is; another one may take its place.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/sha256.h"
#include "base/time.h"
#include "base/uuid.h"
#include "domain/record.h"
#include "stores/sqlite/database.h"
#include "stores/sqlite/names.h"
#include "stores/store.h"

namespace holdfast::stores::sqlite {

/// An unfinished task, or a record of another kind.
struct LiveRow {
    bool fresh = false;  ///< There is no row of it yet.
    std::uint64_t made = 0;
    Uuid id;
    std::uint32_t family = 0;
    State state{};
    std::uint32_t attempt = 0;
    Time wake_at, bound_until;
    std::string header, history;
    Bytes outcome;
};

struct FinishedRow {
    std::uint64_t number = 0;  ///< The order in which tasks ended.
    std::uint64_t made = 0;
    Uuid id;
    std::uint32_t family = 0;
    State state{};
    std::uint32_t attempt = 0;
    Names::Number tenant = 0;
    std::uint64_t fingerprint = 0;
    Time finished_at, bound_until;
    std::string header, history;
    Bytes outcome;
    bool has_logs = false;  ///< They go with it.
};

struct BodyRow {
    std::uint64_t made = 0;
    Bytes body;
};
struct LogRow {
    Uuid owner;
    std::string log;
    std::uint64_t place = 0;
    std::string key;
    Bytes bytes;
};
struct FeedRow {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    Time at;
    std::string events;
};
struct BindingRow {
    std::string scope, key;
    Uuid id;
    Sha256 hash{};
    Time expires_at;
};
struct PermitRow {
    std::string key;
    Uuid holder;
    domain::Epoch epoch{};
    Time expires_at;
    bool release = false;
};
/// How many finished tasks there are of one sort: `what` is a family or a fingerprint.
struct CountRow {
    std::uint64_t what = 0;
    State state{};
    std::int64_t count = 0;
};

/// Everything that several commits do, on its way to the disk.
struct Group {
    std::uint64_t number = 0;
    std::vector<Names::Named> names;
    std::vector<FamilyRow> families;
    std::vector<LiveRow> live;
    std::vector<std::uint64_t> gone_live;      ///< by `made`
    std::vector<std::uint64_t> gone_finished;  ///< by number
    std::vector<FinishedRow>
        finished;  ///< After what is gone: a row may take the place of another.
    std::vector<BodyRow> bodies;
    std::vector<std::uint64_t> gone_bodies;  ///< by `made`
    std::vector<LogRow> logs;
    std::vector<Uuid> gone_logs;     ///< by owner
    std::vector<Uuid> revived_logs;  ///< Of finished tasks that are live again.
    std::vector<FeedRow> feed;
    std::vector<BindingRow> bindings;
    std::vector<Uuid> unbound;  ///< Erased records: nothing names them any more.
    std::vector<PermitRow> permits;
    std::vector<std::pair<std::string, std::int64_t>> counters;
    std::vector<CountRow> counts, failures;  ///< How finished tasks count now.
    std::optional<std::int64_t> epoch_ceiling;
    std::optional<std::uint64_t> drift;  ///< See Recovery::Last.
    Time ended_before;                   ///< Set: bindings and permits that ended by then go.
    Time feed_before;                    ///< Set: feed rows older than this go …
    std::uint64_t feed_needed = 0;       ///< … but none from this event on.
    std::uint64_t feed_next =
        0;  ///< With feed_before: where its numbers go on, should no row be left.

    bool empty = true;
};

/// What a journal gives back when it is opened, in this order: names and families first.
class Recovery {
  public:
    virtual ~Recovery() = default;
    /// False, here and below: no store wrote this row.
    virtual bool name(Names::Number number, std::string_view text) = 0;
    virtual bool family(const FamilyRow& row) = 0;
    virtual bool live(LiveRow row) = 0;
    virtual void log_key(const Uuid& owner, std::string_view log, std::uint64_t place,
                         std::string_view key) = 0;
    virtual void binding(const BindingRow& row) = 0;
    virtual void permit(const PermitRow& row) = 0;
    virtual void counter(std::string_view name, std::int64_t value) = 0;
    virtual bool count(const CountRow& row) = 0;
    virtual bool failure(const CountRow& row) = 0;
    /// The last numbers that were given.
    struct Last {
        std::uint64_t finished = 0, feed = 0, made = 0;
        Uuid finished_id;  ///< No finished task has an id minted later than this one.
        std::int64_t epoch_ceiling = 0;
        std::uint64_t drift =
            0;  ///< The most that any `made` of a finished task is past its creation.
    };
    virtual void last(const Last& last) = 0;
};

/// Which finished tasks to look at: newest first, below `top`.
struct FinishedQuery {
    enum class By : std::uint8_t { state, family, tenant, fingerprint };
    By by = By::state;
    std::vector<std::uint64_t>
        values;  ///< Families, a tenant's number, or a fingerprint; none by state.
    std::vector<State> states;
    std::uint64_t top = 0;
};

/// Reading what is on disk. On the reader's thread.
class Archive {
  public:
    virtual ~Archive() = default;
    virtual Tried<std::vector<std::optional<FinishedRow>>> finished(
        const std::vector<Uuid>& ids) = 0;
    /// Gives rows until `visit` says false, without their histories and outcomes.
    virtual Tried<> walk(const FinishedQuery& query,
                         const std::function<bool(const FinishedRow&)>& visit) = 0;
    struct Old {
        std::vector<FinishedRow> rows;  ///< As much of them as removing them takes.
        std::uint64_t next = 0;         ///< Where to go on; 0: what follows is too young.
    };
    /// In the order of their numbers from `from` on: those that ended before `before` and are not bound any more
    /// at `now`. Looks at some ten thousand rows at most.
    virtual Tried<Old> old(std::uint64_t from, Time before, Time now, std::size_t limit) = 0;
    virtual Tried<std::vector<Bytes>> bodies(const std::vector<std::uint64_t>& made) = 0;
    virtual Tried<std::vector<LogEntry>> log(std::string_view log, const Uuid& owner,
                                             std::size_t skip, std::size_t limit) = 0;
    /// Keys of a finished task's logs, in order: (log, place, key).
    virtual Tried<std::vector<LogRow>> log_keys(const Uuid& owner) = 0;
    /// Feed rows from the one that holds `from` on; the oldest there is for 0.
    virtual Tried<std::vector<FeedRow>> feed(std::uint64_t from, std::size_t events) = 0;
    /// These two read everything: on any thread, beside the others.
    virtual Tried<> check() = 0;
    virtual Tried<> backup(const std::string& to) = 0;
};

class Journal {
  public:
    virtual ~Journal() = default;
    /// Durable when it returns. On the writer's thread.
    virtual Tried<> append(const Group& group) = 0;
    /// What need not be done before the group's callers are told. After each append, on the same thread.
    virtual Tried<> tidy() = 0;
    virtual Result<> recover(Recovery& recovery) = 0;
    virtual Archive& archive() = 0;
};

}  // namespace holdfast::stores::sqlite
