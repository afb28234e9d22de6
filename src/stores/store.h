// The port: what Holdfast asks of a store. This file is the contract; every promise has a number
// (P1…), and stores/conformance holds each backend to each of them.
//
// A store keeps records, places them (lanes, timers), and applies Changes. It decides nothing: the
// rules of a task's life are in domain/decide.h. The one step it takes by itself is the claim, and
// that one is spelled out in domain (stamp_claim), so that a backend in Lua or SQL can be compared
// with it.
//
// Threads: a store is used from one executor and answers on it.
// Failure: `unavailable` means the outcome is unknown: read back (the nonce tells), then decide
// again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/result.h"
#include "domain/change.h"
#include "domain/query.h"
#include "domain/record.h"

namespace holdfast::stores {

using domain::Change;
using domain::Fence;
using domain::Header;
using domain::Key;
using domain::Record;
using domain::State;

// ---- commit ----

enum class Verdict : std::uint8_t {
    committed,
    conflict,   ///< A record is not at the version the Change was decided on. Load, decide again.
    duplicate,  ///< A binding names another record, or an append that may not repeat was there.
    refused,    ///< Beyond a counter's bounds, a permit is not to be had, or no room is left.
};

struct Outcome {
    Verdict verdict = Verdict::committed;
    std::string reason;   ///< duplicate, refused: the binding's, log's, counter's or permit's name.
    Uuid bound_to;        ///< duplicate of a binding: the record that has the key …
    Sha256 bound_hash{};  ///< … and the content it was bound with.
    std::vector<std::size_t>
        skipped;  ///< committed: the appends (by place) that were there already.
};

// ---- claim ----

struct ClaimQueue {
    std::string name;
    std::vector<std::string>
        types;  ///< Only these; empty: all. Only for queues that keep lanes by type.
    std::uint32_t max = UINT32_MAX;  ///< At most so many from this queue (rate limits).
    std::uint32_t concurrency =
        0;  ///< At most so many held at once in the queue's partition; 0: no limit.
};

struct ClaimRequest {
    std::vector<ClaimQueue> queues;
    std::string worker;
    State to = State::running;  ///< or dispatched
    std::uint32_t max = 1;
    Duration lease{0};  ///< 0: the task's own, else the default.
};

// ---- renew ----

struct Renewal {
    Uuid id;
    Fence fence;
    Duration lease{0};  ///< 0: as much as its claim was given.
    std::optional<float> progress;
    std::optional<std::string> note;
};

struct Renewed {
    bool held = false;  ///< False: the fence is stale, and nothing was written.
    Time lease_until;
    bool cancel_requested = false;
    bool pause_requested = false;
};

// ---- reading ----

struct Filter {
    domain::Kind kind = domain::Kind::task;
    std::vector<State> states;  ///< Any of these; empty: all.
    std::string queue, type, tenant;
    std::vector<std::string> labels;  ///< Each "key=value"; all must match.
    std::uint64_t fingerprint = 0;
    Time since, until;  ///< Of creation; until is inclusive.
    /// And what else a header must pass. Those of queue and type may choose where to look.
    std::vector<domain::Clause> clauses;
};

/// Whether records of this queue and type can pass the filter's clauses: tells where to look.
inline bool is_family_of(const Filter& filter, std::string_view queue, std::string_view type) {
    for (const domain::Clause& clause : filter.clauses) {
        if (clause.field == domain::Field::queue && !domain::matches_text(queue, clause))
            return false;
        if (clause.field == domain::Field::type && !domain::matches_text(type, clause))
            return false;
    }
    return true;
}

struct ListRow {
    Header header;
    bool in_lane = false;  ///< Where it really stands, for the doctor: not what its state says.
};

struct Page {
    std::vector<ListRow> rows;  ///< Newest first.
    std::string next;           ///< Empty: that was all.
    std::size_t scanned = 0;
    bool complete = true;  ///< False: the budget ended the search before the page was full.
};

struct QueueCounts {
    std::string queue, type;
    std::array<std::uint64_t, domain::kStates> by_state{};
};
struct FailureCounts {
    std::uint64_t fingerprint = 0;
    std::array<std::uint64_t, domain::kStates> by_state{};
};
/// Since when the task waits in a lane of the queue that came there first.
struct Oldest {
    std::string queue;
    Time since;

    friend bool operator==(const Oldest&, const Oldest&) = default;
};
struct Stats {
    std::vector<QueueCounts> queues;
    std::vector<FailureCounts> failures;
    std::vector<Oldest> oldest = {};  ///< By name; of queues that have something to hand out.
};

struct LogEntry {
    std::string key;
    Bytes bytes;
};

struct FeedPage {
    std::vector<domain::FeedEvent> events;
    std::string next;    ///< Where to go on: opaque, also when there were no events.
    bool reset = false;  ///< The asked-for place was trimmed away: events were missed.
};

/// A number that is kept: of a counter, or of the holders of a permit.
struct Tally {
    enum class Of : std::uint8_t { counter, permit };
    Of of = Of::counter;
    Partition partition{};
    std::string name;
};

struct TrimRequest {
    Time finished_before;  ///< Finished tasks older than this go, with all that is theirs.
    Time feed_before;      ///< Feed entries older than this go …
    std::vector<std::string> feed_keep;  ///< … but nothing that these cursors have not read.
    std::size_t limit = 1000;
};

inline constexpr Duration kDuePush = std::chrono::seconds{5};
inline constexpr std::size_t kListBudget = 20'000;
inline constexpr std::size_t kOldestLanes = 64;

class Store {
  public:
    virtual ~Store() = default;

    /// Applies each Change whole or not at all, in order, independently of the others.
    ///   P1  Every put's record is still the one it was decided on (expected_version, expected_epoch,
    ///       and expected_nonce unless 0), or the Change is a `conflict`; version 0 means that it must
    ///       not exist. A renewal moves no version: a lease past unless_renewed_past is a conflict too.
    ///   P2  A Change that is not `committed` leaves no trace: record, lane, timer, log, counter,
    ///       binding, permit, feed.
    ///   P3  A `queued` task is in the lane that lane_of(header) names, at its end; a task in any
    ///       other state is in no lane.
    ///   P4  header.wake_at is the record's one timer; none: no timer.
    ///   P5  body and outcome stay as they are unless given.
    ///   P6  An append whose (log, owner, unique_key) exists writes nothing: reported in `skipped`,
    ///       or the Change is a `duplicate`.
    ///   P7  An add that would leave [min, max] makes the Change `refused`.
    ///   P8  A live binding names another record: `duplicate`, with that record and its hash. One past
    ///       its ttl, or of an erased record, is free again.
    ///   P9  An acquired permit is counted against its capacity until released by the same (holder,
    ///       epoch) or past its ttl; full: `refused`. Within one Change releases come first. Acquiring
    ///       what one holds and releasing what one does not hold change nothing.
    ///   P10 Every put writes its transition to the record's history (if `audit`) and to the feed, in
    ///       the same step; every note to the feed.
    ///   P11 Counts by (queue, type, state) and (fingerprint, state) always agree with the tasks.
    ///   P12 Durable when it returns, as far as durability() says; nothing of it is visible before.
    ///   P13 change.nonce is in the stored header of every record it put.
    ///   P14 All puts of a Change are in change.partition, or it is `refused`.
    ///   P34 Renewals move no version, so a put decided before one must not undo it: where the same
    ///       fence holds the task before and after, the later lease_until stays, and the stored
    ///       progress and note.
    virtual Async<Result<std::vector<Outcome>>> commit(std::vector<Change> changes) = 0;

    /// Hands out up to `max` tasks.
    ///   P15 Only from lanes of the queues (and types) asked for, and no queue starves behind another;
    ///       in a queue a higher priority first; over the lanes of one priority in turn; in a lane,
    ///       first in, first out.
    ///   P16 Each is stamped exactly as domain::stamp_claim does, with epoch = next_epoch(last, clock):
    ///       strictly growing per task, also over lost writes.
    ///   P17 A gate with a limit never has more holders than that; nor a queue more than its
    ///       concurrency. The permits are taken in the same step, without ttl: the task's own steps
    ///       give them back.
    ///   P18 It writes the transition to history and feed, and moves the counts, in the same step.
    virtual Async<Result<std::vector<Record>>> claim(ClaimRequest request) = 0;

    /// Extends leases, one answer per item.
    ///   P19 Guarded by the fence only; held by another or not held: held=false, nothing is written.
    ///   P20 lease_until = max(old, clock + lease), and the timer follows; no version, no history, no
    ///       feed.
    ///   P21 Never makes a lease shorter.
    virtual Async<Result<std::vector<Renewed>>> renew(std::vector<Renewal> renewals) = 0;

    /// P22 One answer per key, in order, none for what does not exist.
    virtual Async<Result<std::vector<std::optional<Record>>>> load(std::vector<Key> keys) = 0;

    /// Records of any kind whose timer has rung, earliest first, at most `limit`.
    ///   P23 Each is pushed kDuePush ahead in the same step, and shows it: wake_at − kDuePush is the
    ///       store's time of this call. Another caller does not see it until then.
    ///   P24 A timer in the future is never returned.
    virtual Async<Result<std::vector<Record>>> due(std::size_t limit) = 0;

    /// P25 Newest first by creation; following `next` visits every record that matched all the while
    ///     exactly once.
    /// P26 Looks at no more than `budget` records, and says so.
    /// P35 What is listed passes every clause, as domain::matches says.
    virtual Async<Result<Page>> list(Filter filter, std::string cursor, std::size_t limit,
                                     std::size_t budget) = 0;

    /// P36 `oldest` names every queue that has tasks in lanes, and since when the first of them is
    ///     there, to the millisecond. Of more than kOldestLanes lanes it looks at those next in
    ///     turn; lanes that were found shut by their gate may be left out.
    virtual Async<Result<Stats>> stats() = 0;

    /// P27 Every audited transition since the record was made, in order.
    virtual Async<Result<std::vector<domain::Transition>>> history(Key key) = 0;

    /// P28 The entries of (log, owner) in the order they were appended, from the `skip`-th on.
    virtual Async<Result<std::vector<LogEntry>>> log(std::string log, Uuid owner, std::size_t skip,
                                                     std::size_t limit) = 0;

    /// P29 Every event of every commit and claim, at least once; the events of one record in the order
    ///     of their versions.
    /// P30 An empty cursor begins at the oldest there is; `now` at the newest.
    virtual Async<Result<FeedPage>> feed(std::string cursor, std::size_t limit) = 0;

    /// P31 0 for what was never touched.
    virtual Async<Result<std::vector<std::int64_t>>> count(std::vector<Tally> tallies) = 0;

    /// P32 Removes what is old, in small steps, of a partition the oldest first and of all partitions
    ///     alike; returns how many records went. Unfinished ones never go. A finished task that a live
    ///     binding names stays until the binding is over.
    virtual Async<Result<std::size_t>> trim(TrimRequest request) = 0;

    /// P33 The clock that leases, due times and epochs go by. Never runs backwards.
    virtual Async<Result<Time>> clock() = 0;

    /// What "accepted" means here: "none", "fsync", "everysec" …
    virtual std::string_view durability() const = 0;
};

}  // namespace holdfast::stores
