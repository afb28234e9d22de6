// What the clients of the simulated world were told, and whether the store agrees.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "simulated_store.h"

namespace holdfast::simulation {

/// Somebody was told something that is not, or is not any more, true. Names the invariant (TRAPS.md).
struct Violation {
    std::string invariant;
    std::string detail;
};

class Oracle {
  public:
    explicit Oracle(SimulatedStore& store) : store_(store) {}

    // ---- what clients saw ----
    void accepted(const engine::Receipt& receipt, const std::string& idempotency_key);
    void claimed(const domain::Header& header);
    /// A worker's or operator's call was answered "ok".
    void answered(const Uuid& id, domain::Event event, std::optional<domain::Fence> fence,
                  const engine::Done& done);
    void stage_written(const Uuid& id, const std::string& stage);
    void renewed(const Uuid& id, domain::Fence fence, Time lease_until);
    /// Somebody read it.
    void read(const domain::Header& header);
    /// It was asked for after it had been accepted, and is said not to exist.
    void missed(const Uuid& id) { fail("I1", "the accepted task " + id.text() + " was not found"); }
    /// All tasks, page by page; these had been accepted before the first was asked for.
    void listed(const std::vector<stores::ListRow>& rows, const std::set<Uuid>& accepted);
    /// The next events of the feed, which is followed from its beginning.
    void followed(const std::string& asked_from, const stores::FeedPage& page);
    const std::string& feed_place() const { return feed_place_; }
    void counted(const stores::Stats& stats, std::size_t accepted);
    /// One unit was taken from the shared account, under this key.
    void spent(const std::string& key) { spent_.insert(key); }

    // ---- what must be true ----
    /// After every step: where tasks stand, permits, history of what moved.
    void check_now(Time now);
    /// Also looks at everything that was ever promised. Slower.
    void check_everything();
    /// All is quiet: nobody is left behind.
    void check_finished();
    /// At the end: the feed has every version of every task, in order, and one final event.
    void check_feed();
    void check_account(const Uuid& account, std::int64_t opening);

    const std::optional<Violation>& violation() const { return violation_; }
    std::set<Uuid> tasks() const;

  private:
    struct Promise {
        std::uint64_t version;
        domain::Event event;
        std::optional<domain::Fence> fence;
    };
    struct Sighting {
        std::uint64_t version;
        domain::State state;
        bool operator<(const Sighting& other) const { return version < other.version; }
    };
    struct Ending {
        domain::State state;
        std::uint64_t version;
    };
    void seen(const domain::Header& header);
    void ended(const Uuid& id, domain::State state, std::uint64_t version);
    void fail(std::string invariant, const std::string& detail);
    void check_place(const stores::ListRow& row);
    void check_history(const domain::Header& header);
    void check_followed();
    void check_permits(const std::vector<SimulatedStore::Sight>& tasks, Time now);

    SimulatedStore& store_;
    std::map<Uuid, std::string> accepted_;  ///< with its idempotency key
    std::map<std::string, Uuid> keys_;
    std::map<Uuid, std::map<domain::Epoch, std::uint64_t>>
        claims_;  ///< epoch → the version it made
    std::map<Uuid, std::vector<Promise>> promises_;
    std::map<Uuid, std::set<Sighting>> sightings_;
    std::map<Uuid, domain::Fence> completed_;
    std::map<Uuid, std::set<std::string>> stages_;
    std::map<std::pair<Uuid, domain::Epoch>, Time> leases_;
    std::map<Uuid, Ending> final_;
    struct Checked {
        std::uint64_t version = 0;
        bool durable = false;
        bool operator==(const Checked&) const = default;
    };
    std::map<Uuid, Checked> checked_;
    std::set<std::string> spent_;
    std::vector<domain::FeedEvent> followed_;
    std::string feed_place_;
    std::uint64_t crashes_seen_ = 0;
    std::optional<Violation> violation_;
};

}  // namespace holdfast::simulation
