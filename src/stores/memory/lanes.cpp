#include "stores/memory/lanes.h"

#include <algorithm>
#include <ranges>

namespace holdfast::stores::memory {

Lane& Lanes::lane_at(const domain::Lane& place) {
    LaneSet& set = queues_[std::string(place.queue)];
    const bool plain = place.type.empty() && place.gate.empty();
    Lane& lane =
        plain ? set.plain[place.priority]
              : set.special[place.priority][{std::string(place.type), std::string(place.gate)}];
    if (lane.set == nullptr) {
        lane.set = &set;
        lane.priority = place.priority;
        lane.type = place.type;
        lane.gate = place.gate;
    }
    return lane;
}

void Lanes::push(SlotId id, const domain::Lane& place) {
    Lane& lane = lane_at(place);
    Slot& slot = slots_[id];
    slot.lane = &lane;
    slot.lane_prev = lane.tail;
    slot.lane_next = kNoSlot;
    if (lane.tail == kNoSlot) {
        lane.head = id;
    } else {
        slots_[lane.tail].lane_next = id;
    }
    lane.tail = id;
    enter_ring(lane);
}

void Lanes::enter_ring(Lane& lane) {
    if (lane.in_ring || lane.waits_for_permit) return;
    lane.in_ring = true;
    lane.set->rings[lane.priority].push_back(&lane);
}

void Lanes::unlink(Lane& lane, SlotId id) {
    Slot& slot = slots_[id];
    (slot.lane_prev == kNoSlot ? lane.head : slots_[slot.lane_prev].lane_next) = slot.lane_next;
    (slot.lane_next == kNoSlot ? lane.tail : slots_[slot.lane_next].lane_prev) = slot.lane_prev;
    slot.lane = nullptr;
    slot.lane_prev = kNoSlot;
    slot.lane_next = kNoSlot;
}

void Lanes::remove(SlotId id) {
    Lane& lane = *slots_[id].lane;
    const bool was_first = lane.head == id;
    unlink(lane, id);
    if (lane.head != kNoSlot) {
        if (was_first && lane.waits_for_permit) {  // the next one's limit may be another
            permits_.forget(lane.gate, &lane);
            wake({&lane});
        }
        return;
    }
    if (lane.in_ring) {
        std::erase(lane.set->rings[lane.priority], &lane);
        lane.in_ring = false;
    }
    tidy(lane);
}

void Lanes::tidy(Lane& lane) {
    if (lane.waits_for_permit) permits_.forget(lane.gate, &lane);
    lane.waits_for_permit = false;
    if (!lane.type.empty() || !lane.gate.empty())
        lane.set->special[lane.priority].erase({lane.type, lane.gate});
}

bool Lanes::is_open(const Lane& lane, Time now) const {
    if (lane.gate.empty()) return true;
    const std::uint32_t limit = slots_[lane.head].extras->gate_limit;
    return limit == 0 || permits_.held(lane.gate, now) < limit;
}

SlotId Lanes::next(std::string_view queue, const std::vector<std::string>& types, Time now) {
    const auto found = queues_.find(std::string(queue));
    if (found == queues_.end()) return kNoSlot;
    for (std::size_t priority = kPriorities; priority-- > 0;) {
        const SlotId slot = next_of(found->second.rings[priority], types, now);
        if (slot != kNoSlot) return slot;
    }
    return kNoSlot;
}

SlotId Lanes::next_of(LaneSet::Ring& ring, const std::vector<std::string>& types, Time now) {
    for (std::size_t turns = ring.size(); turns > 0; --turns) {
        Lane& lane = *ring.front();
        ring.pop_front();
        if (!types.empty() && std::ranges::find(types, lane.type) == types.end()) {
            ring.push_back(&lane);
            continue;
        }
        if (!is_open(lane, now)) {
            lane.in_ring = false;
            lane.waits_for_permit = true;
            permits_.wait(lane.gate, &lane, now);
            continue;
        }
        const SlotId slot = lane.head;
        unlink(lane, slot);
        if (lane.head != kNoSlot) {
            slots_.prefetch(
                lane.head);  // it is probably next, and with a long backlog not in the cache
            ring.push_back(&lane);
        } else {
            lane.in_ring = false;
            tidy(lane);
        }
        return slot;
    }
    return kNoSlot;
}

std::vector<std::pair<std::string, Time>> Lanes::oldest(std::size_t most) const {
    std::vector<std::pair<std::string, Time>> all;
    for (const auto& [queue, set] : queues_) {
        Time first;
        for (const LaneSet::Ring& ring : set.rings) {
            for (const Lane* lane : ring | std::views::take(most))
                first = earlier(first, slots_[lane->head].updated_at);
        }
        if (is_set(first)) all.emplace_back(queue, first);
    }
    return all;
}

void Lanes::wake(const std::vector<Lane*>& lanes) {
    for (Lane* lane : lanes) {
        lane->waits_for_permit = false;
        enter_ring(*lane);
    }
}

}  // namespace holdfast::stores::memory
