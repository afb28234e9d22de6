// Where claimable tasks stand: per queue, by priority, in lanes that take turns.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "domain/record.h"
#include "stores/memory/permits.h"
#include "stores/memory/slot.h"

namespace holdfast::stores::memory {

inline constexpr std::size_t kPriorities = 10;

struct LaneSet;

/// First in, first out. A lane with tasks is in its ring, or waits for a permit of its gate.
struct Lane {
    LaneSet* set = nullptr;
    std::uint8_t priority = 0;
    std::string type;
    std::string gate;
    SlotId head = kNoSlot;
    SlotId tail = kNoSlot;
    bool in_ring = false;
    bool waits_for_permit = false;
};

/// The lanes of one queue.
struct LaneSet {
    using Ring = std::deque<Lane*>;  ///< The front lane is next; it then goes to the back.
    std::array<Ring, kPriorities> rings;
    std::array<Lane, kPriorities>
        plain;  ///< For tasks without a gate, in queues without lanes by type.
    std::array<std::map<std::pair<std::string, std::string>, Lane>, kPriorities>
        special;  ///< by type and gate
};

class Lanes {
  public:
    Lanes(SlotArena& slots, Permits& permits) : slots_(slots), permits_(permits) {}

    void push(SlotId id, const domain::Lane& place);
    void remove(SlotId id);

    /// Takes the next task of a queue out of its lane: the highest priority, the lanes of one priority in
    /// turn. A lane whose gate is full is put aside until a permit comes back. kNoSlot: nothing to be had.
    SlotId next(std::string_view queue, const std::vector<std::string>& types, Time now);
    /// Since when the first waits, by queue; looks at `most` lanes of each priority.
    std::vector<std::pair<std::string, Time>> oldest(std::size_t most) const;
    /// The permits that these lanes wait for may be had again.
    void wake(const std::vector<Lane*>& lanes);

  private:
    Lane& lane_at(const domain::Lane& place);
    SlotId next_of(LaneSet::Ring& ring, const std::vector<std::string>& types, Time now);
    bool is_open(const Lane& lane, Time now) const;
    void unlink(Lane& lane, SlotId id);
    void enter_ring(Lane& lane);
    /// Forgets a lane that nobody stands in.
    void tidy(Lane& lane);

    SlotArena& slots_;
    Permits& permits_;
    std::unordered_map<std::string, LaneSet> queues_;
};

}  // namespace holdfast::stores::memory
