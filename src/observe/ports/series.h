// What happened when: counts and times per step over the last quarter of an hour, hour and day, for charts.
//
// Memory: three rings of cells, 330 KB, and at most 15 KB for each of at most 500 queues (those that come later are
// counted in the whole only). A step costs some tens of nanoseconds and allocates only for a queue's first cell.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "engine/ports/witness.h"

namespace holdfast::observe {

struct Range {
    std::string_view name;  ///< "15m"
    std::string_view step_name;
    Duration step;
    std::size_t cells;
};
inline constexpr std::array kRanges{
    Range{"15m", "10s", std::chrono::seconds{10}, 90},
    Range{"1h", "30s", std::chrono::seconds{30}, 120},
    Range{"24h", "10m", std::chrono::minutes{10}, 144},
};
const Range* range_from(std::string_view name);

enum class Counted : std::uint8_t {
    submitted,
    started,
    succeeded,
    failed,
    cancelled,
    discarded,
    retried,
    suspended,
};
inline constexpr std::array<std::string_view, 8> kCountedNames{
    "submitted", "started",   "succeeded", "failed",
    "cancelled", "discarded", "retried",   "suspended"};
using Counts = std::array<std::uint32_t, kCountedNames.size()>;

/// How long things took, four buckets to a doubling from 1 ms to 37 h: a quantile is right to about a tenth.
class Spread {
  public:
    static constexpr std::size_t kBuckets = 109;

    void add(Duration took);
    void add(std::size_t bucket, std::uint32_t times) { counts_[bucket] += times; }
    void add(const Spread& other);
    /// In milliseconds; none: nothing was seen.
    std::optional<double> quantile(double part) const;
    const std::array<std::uint32_t, kBuckets>& counts() const { return counts_; }

  private:
    std::array<std::uint32_t, kBuckets> counts_{};
};

/// One instance's. Told of every step; one executor, no locks.
class Series final : public engine::Witness {
  public:
    static constexpr std::size_t kMostQueues = 500;

    explicit Series(Time started_at) : started_at_(started_at) {}

    void saw(const engine::Sighting& step) override;
    void refused(Code) override {}

    /// All of it, as it is kept; of the queues the busiest. Read by Table and RateTable.
    std::string pack(Time now, std::size_t most_queues = kMostQueues) const;
    std::uint64_t steps() const { return steps_; }  ///< Told so far.

  private:
    struct Cell {
        std::int64_t index = -1;  ///< Which step of its range since 1970.
        Counts counts{};
        Spread wait, run;
    };
    struct QueueCell {
        std::int64_t index = -1;
        Counts counts{};
    };
    struct Queue {
        std::uint64_t steps = 0;
        std::array<std::deque<QueueCell>, kRanges.size()> cells;  ///< Oldest first, none empty.
    };
    using Rings = std::array<std::vector<Cell>, kRanges.size()>;

    void open(std::int64_t index);
    static void close(const Cell& cell, Rings& rings);
    Queue* queue_of(std::string_view name);

    Time started_at_;
    std::uint64_t steps_ = 0;
    Cell open_;  ///< The step that runs, of the finest range: added to the rings when it is over.
    Rings rings_;
    std::map<std::string, Queue, std::less<>> queues_;
};

/// A chart: the sum over packed series of any number of instances.
class Table {
  public:
    /// `queue` empty: of all together.
    Table(const Range& range, std::string queue, Time now);
    /// Damaged bytes add what could be read of them.
    void add(std::string_view packed);
    /// {range, step, start, submitted:[…], …, wait_ms:{p50,p95}, run_ms:{p50,p95}}
    Json json() const;

  private:
    const Range& range_;
    std::string queue_;
    std::int64_t first_;  ///< The index of the oldest cell.
    std::vector<Counts> counts_;
    std::vector<Spread> wait_, run_;
};

struct Rates {
    double in = 0;   ///< Submitted, a second.
    double out = 0;  ///< Finished, a second.
};
using RatesByQueue = std::map<std::string, Rates, std::less<>>;
/// Rates over the minute before now, or over the time since the first of the instances started if that is shorter:
/// the sum over packed series of any number of instances, living or gone.
class RateTable {
  public:
    explicit RateTable(Time now);
    /// Damaged bytes add what could be read of them.
    void add(std::string_view packed);
    RatesByQueue rates() const;

  private:
    Time now_;
    std::int64_t first_;  ///< The index of the oldest cell.
    Time since_;          ///< When the first instance started.
    std::map<std::string, Counts, std::less<>> counts_;
};

}  // namespace holdfast::observe
