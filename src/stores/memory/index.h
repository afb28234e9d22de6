// The executable specification of a store: records, lanes, timers, logs, counters, bindings, permits and the
// feed, in memory, in one thread. MemoryStore is this behind the port; the embedded store runs on it too.
//
// Every call takes the time from outside and uses no chance: the same calls give the same index.
#pragma once

#include <absl/container/btree_set.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/change.h"
#include "domain/command.h"
#include "stores/memory/bindings.h"
#include "stores/memory/catalogue.h"
#include "stores/memory/feed.h"
#include "stores/memory/interner.h"
#include "stores/memory/lanes.h"
#include "stores/memory/permits.h"
#include "stores/memory/slot.h"
#include "stores/store.h"

namespace holdfast::stores::memory {

class Index {
  public:
    /// How a claim mints its epoch. Anything but next_epoch is for tests that prove its worth.
    using EpochRule = domain::Epoch (*)(domain::Epoch last, Time now);
    explicit Index(EpochRule epoch_rule = domain::next_epoch);
    ~Index();
    Index(const Index&) = delete;
    Index& operator=(const Index&) = delete;

    /// Takes texts and bodies of records out of the Change; what else it says stays.
    Outcome commit(Change& change, Time now);
    Outcome commit(Change&& change, Time now) { return commit(change, now); }
    std::vector<Record> claim(const ClaimRequest& request, Time now);
    Renewed renew(const Renewal& renewal, Time now);
    std::optional<Record> load(const Key& key) const;
    std::vector<Record> due(std::size_t limit, Time now);
    Page list(const Filter& filter, std::string_view cursor, std::size_t limit,
              std::size_t budget) const;
    Stats stats() const;
    std::vector<domain::Transition> history(const Key& key) const;
    std::vector<LogEntry> log(std::string_view log, const Uuid& owner, std::size_t skip,
                              std::size_t limit) const;
    FeedPage feed(std::string_view cursor, std::size_t limit) const {
        return feed_.read(cursor, limit);
    }
    std::int64_t count(const Tally& tally, Time now) const;
    std::size_t trim(const TrimRequest& request, Time now);

    // ---- for a store that keeps the records on disk as well (stores/sqlite) ----

    /// A record as it was written; its body stays on disk.
    struct Stored {
        Header header;
        Bytes outcome;
        std::string history;
        std::uint64_t made = 0;
        Time bound_until;
    };
    SlotId restore(Stored&& stored);
    /// As if it had just come to its lane.
    void to_lane_end(SlotId id);
    /// It leaves memory, and nothing else happens to it.
    void forget(SlotId id);
    SlotId find(const Key& key) const;
    Slot& slot(SlotId id) { return slots_[id]; }
    const Slot& slot(SlotId id) const { return slots_[id]; }
    Header header_of(const Slot& slot) const;
    Record record_of(const Slot& slot) const { return {header_of(slot), slot.body, slot.outcome}; }
    Catalogue::Found list_slots(const Filter& filter, std::string_view cursor, std::size_t limit,
                                std::size_t budget) const {
        return catalogue_.list(
            filter, tenants_.find(filter.tenant), cursor, limit, budget,
            [&](const Slot& slot) { return domain::matches(header_of(slot), filter.clauses); });
    }
    /// Tasks in the order in which they ended; some may be gone since.
    std::size_t finished_in_memory() const { return finished_.size(); }
    const Uuid& next_finished() const { return finished_.front().second; }
    void pass_finished() { finished_.pop_front(); }
    Feed& feed() { return feed_; }
    Bindings& bindings() { return bindings_; }
    Permits& permits() { return permits_; }
    Catalogue& catalogue() { return catalogue_; }
    const Catalogue& catalogue() const { return catalogue_; }
    std::int64_t& counter(const std::string& name) { return counters_[name]; }
    /// How many entries a log has; 0 for a log there is not.
    std::size_t log_size(std::string_view log, const Uuid& owner) const;
    bool has_logs(const Uuid& owner) const;
    void restore_log_key(std::string_view log, const Uuid& owner, std::string_view key);
    /// Logs keep their keys in memory, and not their bytes.
    void leave_logs_on_disk() { keeps_log_bytes_ = false; }
    /// No claim is minted an epoch below this one, whatever the clock says.
    void set_epoch_floor(Time floor) { epoch_floor_ = floor; }

  private:
    struct Log {
        std::vector<LogEntry> entries;
        boost::unordered_flat_set<std::string> keys;
    };

    // guards: each may turn the verdict; none writes
    Outcome examine(const Change& change, Time now) const;
    void examine_puts(const Change& change, Outcome& outcome) const;
    void examine_binds(const Change& change, Time now, Outcome& outcome) const;
    void examine_appends(const Change& change, Outcome& outcome) const;
    void examine_adds(const Change& change, Outcome& outcome) const;
    void examine_permits(const Change& change, Time now, Outcome& outcome) const;

    // writes: cannot fail
    void apply(Change& change, const Outcome& outcome, Time now);
    void put(domain::Put& put, std::uint64_t nonce, Time now);
    void keep_renewals(const Slot& slot, Header& header) const;
    void bind(const domain::Bind& bind, Time now);
    void append(const domain::Append& append);
    void erase(SlotId id, Time now);
    bool erase_unless_bound(const Uuid& task, Time now);
    void erase_logs(const Uuid& owner);

    void write(SlotId id, Header& header);
    void set_timer(SlotId id, Time wake_at);
    /// Takes the slot out of catalogue, lane and timers, before it changes …
    void displace(SlotId id);
    /// … and puts it where its header says, after.
    void place(SlotId id);
    void enter_lane(SlotId id);
    Record hand_out(SlotId id, const ClaimRequest& request, const ClaimQueue& queue,
                    Interner::Number worker, Time now);

    SlotArena slots_;
    std::vector<SlotsById> by_id_{domain::kKinds, SlotsById(slots_)};  ///< by kind
    Interner tenants_, policies_, workers_;
    Catalogue catalogue_{slots_};
    Permits permits_;
    Lanes lanes_{slots_, permits_};
    absl::btree_set<std::pair<Time, SlotId>> timers_;
    std::map<std::pair<Uuid, std::string>, Log> logs_;  ///< by owner and name
    boost::unordered_flat_map<std::string, std::int64_t> counters_;
    Bindings bindings_;
    std::deque<std::pair<Time, Uuid>> finished_;  ///< tasks by the time they ended
    std::multimap<Time, Uuid> bound_;  ///< old enough to go, but for a binding that ends then
    Feed feed_;
    EpochRule epoch_rule_;
    Time epoch_floor_;
    bool keeps_log_bytes_ = true;
    std::size_t turn_ = 0;  ///< Which of its queues a claim asks first.
};

}  // namespace holdfast::stores::memory
