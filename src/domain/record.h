// A record: a header whose fields a store may read and index, and bodies that are opaque to it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/time.h"
#include "base/uuid.h"
#include "domain/lifecycle.h"

namespace holdfast::domain {

enum class Kind : std::uint8_t {
    task,
    plan,
    schedule,
    account,
    delivery,
    cursor,
    queue,
    bulk,
    series,  ///< What an instance counted, for charts: observe/ports/series.h.
    audit,   ///< What an operator did: domain/audit.h.
};
inline constexpr std::size_t kKinds = 10;
inline constexpr std::array<std::string_view, kKinds> kKindNames{
    "task",   "plan",  "schedule", "account", "delivery",
    "cursor", "queue", "bulk",     "series",  "audit"};
constexpr std::string_view to_string(Kind k) {
    return kKindNames[static_cast<std::size_t>(k)];
}

struct Key {
    Kind kind = Kind::task;
    Uuid id;
    friend constexpr auto operator<=>(const Key&, const Key&) = default;
};

using TaskId = Uuid;

/// Grows at every claim of a record and is never used twice, even when writes were lost: see
/// next_epoch().
enum class Epoch : std::int64_t {};

/// Who may speak for a claimed task: the attempt it is, and the claim that made it.
struct Fence {
    std::uint32_t attempt = 0;
    Epoch epoch{};
    friend constexpr bool operator==(const Fence&, const Fence&) = default;
};

/// One fixed set of named fields for every kind. A kind that has no use for a field leaves it
/// empty.
struct Header {
    Uuid id;
    Kind kind = Kind::task;
    State state = State::none;
    std::uint8_t priority = 5;  ///< 0 to 9; 9 goes first.
    Event ended_by =
        Event::none;  ///< What ended the last attempt: tells a repeated call from a late one.
    bool pause_requested = false;
    bool cancel_requested = false;
    bool until_signal = false;        ///< waiting: a signal wakes it.
    bool signal_pending = false;      ///< held: a signal came that this attempt may not have seen.
    bool lane_by_type = false;        ///< Its lane is its type's own: claims may choose by type.
    bool holds_gate = false;          ///< This claim took a permit of `gate`.
    bool holds_queue_permit = false;  ///< This claim took a permit of the queue's concurrency.
    std::uint16_t retry_count = 0;    ///< Failures since the submission or the last resume.
    std::uint16_t crashes = 0;        ///< Leases lost by workers since then.
    std::uint16_t revision = 0;       ///< How often resume brought a new payload.
    std::uint16_t checkpoints = 0;    ///< Stages written to the checkpoint log.
    std::uint16_t signals = 0;        ///< Entries in the signal log.
    std::uint32_t attempt = 0;        ///< Claims so far; never reset.
    std::uint32_t gate_limit = 0;     ///< At most so many holders of `gate` at once; 0: no limit.
    float progress = -1;              ///< 0 to 1; below 0: not reported.
    std::uint64_t version = 0;        ///< +1 at every commit and claim.
    std::uint64_t nonce =
        0;  ///< Of the commit that wrote it: tells our own lost write from another's.
    std::uint64_t fingerprint = 0;  ///< Of the last failure.
    Epoch epoch{};                  ///< Of the last claim.
    Duration lease{0};              ///< What a claim that names no lease gives it; 0: the default.
    Duration lease_granted{0};  ///< held: what its claim was given; a renewal gives as much again.
    Time created_at, updated_at, started_at, finished_at;
    Time run_at;       ///< As asked for by the submission.
    Time due_at;       ///< waiting, retrying, paused: when it may run.
    Time deadline;     ///< Of the whole task.
    Time lease_until;  ///< held: when the holder loses it.
    Time wake_at;      ///< The one timer of the record; set by settle(), never by hand.
    std::string queue, type, tenant;
    Text policy;  ///< format_policy()
    std::string
        gate;  ///< A permit key ("tenant/key"); tasks of one gate share a lane and its limit.
    std::string worker;  ///< held: by whom.
    std::string labels;  ///< "\nkey=value\nkey=value\n", sorted; empty without labels.
    std::string note;    ///< The last progress note.

    Key key() const { return {kind, id}; }
    Fence fence() const { return {attempt, epoch}; }
    bool is_held() const { return domain::is_held(state); }

    friend bool operator==(const Header&, const Header&) = default;
};

struct Record {
    Header header;
    Bytes body;  ///< What it is to do: written when it is made, and by a resume with a new payload.
    Bytes outcome;  ///< What came of it: the result, or the last error.

    friend bool operator==(const Record&, const Record&) = default;
};

/// `epoch = max(last + 1, the store's clock in µs)`: a claim whose stamp was lost in a crash is
/// never minted again, because the clock has moved on.
constexpr Epoch next_epoch(Epoch last, Time store_now) {
    const std::int64_t by_clock = store_now.time_since_epoch().count();
    const std::int64_t by_count = static_cast<std::int64_t>(last) + 1;
    return Epoch{by_clock > by_count ? by_clock : by_count};
}

/// The moment at which somebody must look at a record again: the earliest of due, lease end and
/// deadline.
Time wake_for(const Header& header);

/// The place of a claimable task. Being in a lane and being `queued` are the same thing.
struct Lane {
    std::string_view queue;
    std::string_view type;  ///< Empty unless the queue keeps lanes by type.
    std::uint8_t priority = 5;
    std::string_view gate;
};
inline Lane lane_of(const Header& h) {
    return {h.queue, h.lane_by_type ? std::string_view(h.type) : std::string_view{}, h.priority,
            h.gate};
}

}  // namespace holdfast::domain
