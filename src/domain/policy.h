// What happens when a task fails: how often it is tried, when again, and where it ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/uuid.h"

namespace holdfast::domain {

enum class Ending : std::uint8_t { suspend, fail };
enum class OnOutage : std::uint8_t {
    count,  ///< A dependency that is down uses up attempts like anything else.
    hold,   ///< It does not: the task is tried again until the dependency is back.
};

/// The time between a failure and the next attempt.
struct Backoff {
    /// The n-th failure waits schedule[n-1]; the last value repeats. Empty: exponential.
    std::vector<Duration> schedule;
    /// Exponential: min(base × factor^(n−1), max).
    Duration base = std::chrono::seconds{1};
    double factor = 2;
    Duration max = std::chrono::minutes{10};
    /// Part of the delay, 0 to 1, that chance may take away, so that what failed together is not
    /// retried together.
    double jitter = 0;

    friend bool operator==(const Backoff&, const Backoff&) = default;
};

/// Copied into each task when it is submitted: changing a preset never changes a task that exists.
struct Policy {
    Backoff backoff{
        .schedule = {std::chrono::minutes{1}, std::chrono::minutes{5}, std::chrono::minutes{15}},
        .jitter = 0.2};
    std::uint16_t max =
        3;  ///< The max-th failure parks the task; 0: never, only a deadline ends it.
    std::uint16_t poison = 3;  ///< So many leases lost by workers park it.
    Ending on_exhausted = Ending::suspend;
    Ending on_timeout = Ending::suspend;
    OnOutage on_outage = OnOutage::count;
    Duration timeout{0};  ///< For the whole task, from when it may first run; 0: none.

    friend bool operator==(const Policy&, const Policy&) = default;
};

/// The limits of every number in it, also for a policy made in C++; the field is named as
/// read_retry does.
Result<> check_policy(const Policy& policy);

/// The delay after the `failures`-th failure (1 for the first). Pure: chance is a hash of id and
/// count.
Duration backoff(const Backoff& b, std::uint32_t failures, const Uuid& id);

struct Preset {
    std::string name;
    Policy policy;

    friend bool operator==(const Preset&, const Preset&) = default;
};
/// workflow, ingest, outbox, external; then the own ones.
const std::vector<Preset>& presets();
Result<Policy> preset(std::string_view name);
/// Whether these may stand beside the built-in ones: names, no name twice, each policy in itself.
/// The field of an error is the preset's name, or name and field of it ("slow.retry.max").
Result<> check_own_presets(const std::vector<Preset>& own);
/// From here on preset() finds these too, and no other own ones. Checked as above. For the start of
/// a process, before any other thread asks.
Result<> use_own_presets(std::vector<Preset> own);

/// One line of text, the form in which a task carries its policy:
/// "max=3;poison=3;schedule=1m,5m,15m;jitter=0.2;exhausted=suspend;timeout=suspend;outage=count".
std::string format_policy(const Policy& policy);
Result<Policy> parse_policy(std::string_view text);

/// The `retry` of a submission: a preset's name, or {max?, policy?: name | {schedule, jitter?} |
/// {base?, factor?, max?, jitter?}}. Fields not given keep the value they have in `policy`.
Result<> read_retry(const Json& retry, Policy& policy);
/// How a task shows its `retry.policy`.
Json backoff_json(const Backoff& b);

}  // namespace holdfast::domain
