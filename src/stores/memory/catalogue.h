// Records by queue, type, tenant and state, newest first: what lists and counts are made of.
#pragma once

#include <absl/container/btree_set.h>

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "domain/record.h"
#include "stores/memory/slot.h"
#include "stores/store.h"

namespace holdfast::stores::memory {

/// A place in the order of creation.
struct Place {
    std::uint64_t made = 0;
    SlotId slot = kNoSlot;
    friend bool operator==(const Place& a, const Place& b) { return a.made == b.made; }
    friend auto operator<=>(const Place& a, const Place& b) { return a.made <=> b.made; }
};
using Places = std::array<absl::btree_set<Place>, domain::kStates>;

/// All records of one kind, queue and type.
struct Family {
    domain::Kind kind{};
    std::string queue, type;
    std::size_t records = 0;
    std::uint32_t number = 0;  ///< In a journal, if there is one.
    Places places;
};

/// Only what has failed: there is an index of that, unless there are very many groups of failures.
bool asks_for_failed(const Filter& filter);

class Catalogue {
  public:
    explicit Catalogue(const SlotArena& slots) : slots_(slots) {}

    /// The family stays in its place until retire() finds it empty.
    Family& family(domain::Kind kind, std::string_view queue, std::string_view type);
    void enter(SlotId id);
    void leave(SlotId id);
    /// The number for a record made now: numbers go up, and are µs of creation or a little more.
    std::uint64_t next_made(Time created_at);
    /// A record that has its number already.
    void saw_made(std::uint64_t made, Time created_at);
    /// No record made later than this was created at `time` or before.
    std::uint64_t made_until(Time time) const;
    void retire(const Family& family);

    /// The slots that match, newest first. `rows` of the page stay empty: the caller knows how to fill them.
    struct Found {
        std::vector<SlotId> slots;
        Page page;
    };
    /// Whether a slot passes the clauses of a filter: its names are the caller's to know.
    using Passes = std::function<bool(const Slot&)>;
    Found list(const Filter& filter, Interner::Number tenant, std::string_view cursor,
               std::size_t limit, std::size_t budget, const Passes& passes) const;
    std::vector<QueueCounts> counts() const;
    std::vector<FailureCounts> failures() const;

  private:
    using Ordered = absl::btree_set<Place>;
    static Place place_of(const Slot& slot, SlotId id) { return {slot.made, id}; }
    /// In and out of what is kept by `Key`; empty ones are forgotten.
    template <class Map, class Key>
    static void put_in(Map& map, const Key& key, std::size_t state, const Place& place);
    template <class Map, class Key>
    static void take_out(Map& map, const Key& key, std::size_t state, const Place& place);
    bool matches(const Slot& slot, const Filter& filter, Interner::Number tenant) const;
    std::vector<const Ordered*> chosen(const Filter& filter, Interner::Number tenant) const;

    const SlotArena& slots_;
    std::uint64_t last_made_ = 0;
    std::uint64_t drift_ = 0;  ///< The most that any `made` is past its created_at.
    boost::unordered_flat_map<std::string, std::unique_ptr<Family>> families_;
    boost::unordered_flat_map<Interner::Number, std::unique_ptr<Places>> tenants_;
    boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Places>>
        failures_;  ///< by fingerprint
};

}  // namespace holdfast::stores::memory
