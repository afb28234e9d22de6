// What the engine is asked and what it answers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domain/audit.h"
#include "domain/command.h"
#include "domain/record.h"
#include "stores/store.h"

namespace holdfast::engine {

using domain::By;
using domain::Fence;
using domain::State;
using domain::TaskId;

inline constexpr std::size_t kLargestBatch = 1000;
inline constexpr Duration kLongestWait = std::chrono::seconds{60};

// ---- producers ----

struct Receipt {
    TaskId id;
    State state = State::none;
    bool duplicate = false;  ///< The idempotency key had this task already.
};

// ---- workers ----

struct ClaimCall {
    std::vector<std::string> queues;
    std::vector<std::string> types;
    std::string worker;
    std::uint32_t max = 1;
    Duration lease{0};  ///< 0: the task's own, else 30 s.
    Duration wait{0};   ///< How long to wait for a task when there is none.
    bool acks = false;  ///< A node that announces acks: its tasks begin as `dispatched`.
};

struct ClaimedTask {
    domain::Record record;
    std::vector<stores::LogEntry> checkpoints;  ///< What earlier attempts finished, in order.
    std::vector<stores::LogEntry> signals;
};

struct Completion {
    TaskId id;
    Fence fence;
    Json result;
};
struct FailureReport {
    TaskId id;
    Fence fence;
    domain::Failure failure;
    std::optional<Duration> retry_after;
};
struct GivingBack {
    TaskId id;
    Fence fence;
    std::optional<Duration> after;
    bool until_signal = false;
};
struct StageDone {
    TaskId id;
    Fence fence;
    std::string stage;
    Json data;
};
struct Ack {
    TaskId id;
    Fence fence;
};
struct Heartbeat {
    TaskId id;
    Fence fence;
    Duration lease{0};
    std::optional<float> progress;
    std::optional<std::string> note;
};
struct Beat {
    Time lease_until;
    bool cancel_requested = false;
    bool pause_requested = false;
};

/// What came of one step. An error is one of not_found, wrong_state, stale_lease, or the store's.
struct Done {
    State state = State::none;
    bool duplicate = false;  ///< It had been done before, under the same fence.
    std::uint64_t version = 0;
    bool pause_requested = false;
    bool cancel_requested = false;
};

// ---- operators ----

struct QueueSettings {
    bool paused = false;            ///< Hands nothing out.
    bool closed = false;            ///< Takes nothing in.
    bool lanes_by_type = false;     ///< Claims may ask for types.
    std::uint32_t concurrency = 0;  ///< At most so many running at once; 0: no limit.
    double rate = 0;  ///< At most so many handed out per second and instance; 0: no limit.
    /// Who paused or closed it, why and since when; for people.
    struct Hold {
        std::string by, reason;
        Time at;
    };
    std::optional<Hold> paused_by = {};
    std::optional<Hold> closed_by = {};

    /// They do the same; whose doing it was does not matter.
    friend bool operator==(const QueueSettings& a, const QueueSettings& b) {
        return a.paused == b.paused && a.closed == b.closed && a.lanes_by_type == b.lanes_by_type &&
               a.concurrency == b.concurrency && a.rate == b.rate;
    }
};

struct QueueOverview {
    std::string name;
    QueueSettings settings;
    std::array<std::uint64_t, domain::kStates> by_state{};
    Time
        oldest_at;  ///< Since when the task waits that has waited longest for a worker; none: no task does.
};

/// Names and labels that no task can have are a mistake rather than an empty answer.
Result<> check_filter(const stores::Filter& filter);

struct AuditFilter {
    std::string who, action, target;  ///< Each as it was written; empty: any.
};
struct AuditPage {
    std::vector<domain::AuditEntry> entries;  ///< Newest first.
    std::string next;                         ///< Empty: that was all.
};
/// Older entries go, and the oldest of more than so many: a program that acts all day must not fill the store.
inline constexpr std::size_t kMostAudit = 100'000;

/// What an operator says is kept with every task it touches: at most 1 KiB each.
Result<> check_by(const By& by);

enum class BulkAction : std::uint8_t { resume, discard, cancel, pause };
std::string_view to_string(BulkAction action);
std::optional<BulkAction> bulk_action_from(std::string_view name);

struct BulkRequest {
    BulkAction action = BulkAction::resume;
    stores::Filter filter;
    std::string q;  ///< And what this filter line says, counted from the time of the request.
    bool dry_run = false;
    std::size_t limit = SIZE_MAX;  ///< At most so many.
    double rate = 0;               ///< Tasks per second; 0: as fast as it goes.
    By by;
};

struct BulkRefusal {
    TaskId id;
    std::string reason;
};

struct BulkReport {
    std::uint64_t matched = 0;  ///< So far, of a job.
    std::optional<std::uint64_t>
        expected;  ///< Of a job: how many there were at the start; none: too many to count.
    std::uint64_t done = 0;
    std::uint64_t refused_count = 0;
    std::vector<BulkRefusal> refused;                 ///< The first hundred.
    std::map<std::string, std::uint64_t> refused_by;  ///< How many for which reason.
    std::optional<Uuid> bulk_id;                      ///< It goes on as a job.
    State state = State::succeeded;  ///< Of the job: running, paused, cancelled, succeeded.
};

/// A job as a list shows it.
struct BulkView {
    BulkRequest request;
    BulkReport report;
    Time created_at, updated_at, finished_at;
};

// ---- readers ----

struct FacetCount {
    std::string value;
    std::uint64_t count = 0;
};
struct Facets {
    std::uint64_t total = 0;
    bool exact = true;  ///< False: there are more than were looked at.
    std::size_t scanned = 0;
    std::vector<FacetCount> state, queue, type, tenant;  ///< Largest first, at most 50 each.
    bool has_tenants = true;                             ///< False: nobody looked at tenants.
};

inline constexpr std::size_t kMostGroups = 200;

/// Tasks whose last failure was the same but for numbers and names in it.
struct FailureGroup {
    std::uint64_t fingerprint = 0;
    std::array<std::uint64_t, domain::kStates> by_state{};
    std::uint64_t open = 0;    ///< Unfinished ones.
    std::uint64_t failed = 0;  ///< Those that ended so.
    std::string message;       ///< Without what differs.
    // Of the newest task that was found, and of those that were looked at:
    TaskId sample_task;
    std::string sample, stack, kind, code, type, queue;
    Time first_seen;  ///< The first failure; only where all that may have been it were looked at.
    Time last_seen;   ///< The last failure.
    std::size_t tenants = 0;
};
struct Failures {
    std::vector<FailureGroup> groups;
    std::uint64_t total = 0;  ///< Groups there are.
    bool exact = true;        ///< False: there are more tasks than were looked at.
    std::size_t scanned = 0;
};

}  // namespace holdfast::engine
