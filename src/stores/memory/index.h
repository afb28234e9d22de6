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

    Outcome commit(Change&& change, Time now);
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

    SlotId find(const Key& key) const;
    Header header_of(const Slot& slot) const;
    Record record_of(const Slot& slot) const { return {header_of(slot), slot.body, slot.outcome}; }
    void write(SlotId id, Header& header);
    void set_timer(SlotId id, Time wake_at);
    /// Takes the slot out of catalogue, lane and timers, before it changes …
    void displace(SlotId id);
    /// … and puts it where its header says, after.
    void place(SlotId id);
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
    std::size_t turn_ = 0;  ///< Which of its queues a claim asks first.
};

}  // namespace holdfast::stores::memory
