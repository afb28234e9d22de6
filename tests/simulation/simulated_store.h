// What the simulated world and its oracle need of a store, beyond the port: it can lose power, and one can look
// into it without asking.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stores/store.h"

namespace holdfast::simulation {

inline const Error kDown{Code::unavailable, "the store is down", {}};
/// How long a sync takes.
inline constexpr std::int64_t kShortestSyncUs = 200;
inline constexpr std::uint64_t kSyncSpreadUs = 3000;

class SimulatedStore : public stores::Store {
  public:
    /// Power is lost now and comes back after `outage`.
    virtual void crash(Duration outage) = 0;
    virtual std::uint64_t crashes() const = 0;
    /// A group is on its way to the disk.
    virtual bool is_syncing() const = 0;
    virtual Async<void> stop() = 0;

    // ---- what the checker looks at ----

    /// Set: the store itself says that something went wrong that must not.
    virtual std::optional<std::string> complaint() const { return std::nullopt; }
    /// False: it is down, and there is nothing to look at.
    virtual bool is_open() const { return true; }
    struct Sight {
        stores::ListRow row;
        bool durable = true;  ///< No crash takes this back, but for the stamp of a claim.
    };
    /// All there are, finished or not.
    virtual std::vector<Sight> tasks() = 0;
    virtual std::optional<domain::Header> header(const domain::Key& key) = 0;
    virtual std::vector<domain::Transition> rows(const domain::Key& key) = 0;
    virtual std::vector<stores::LogEntry> entries(std::string_view log, const Uuid& owner) = 0;
    virtual std::vector<domain::FeedEvent> events() = 0;
    virtual std::int64_t tally(const stores::Tally& tally, Time now) = 0;
};

}  // namespace holdfast::simulation
