#include "stores/memory/slot.h"

#include <gtest/gtest.h>

#include <set>

namespace holdfast::stores::memory {
namespace {

TEST(SlotArena, no_slot_has_the_number_that_means_none) {
    SlotArena slots;
    std::set<SlotId> taken;
    for (int i = 0; i < 5000; ++i) taken.insert(slots.take());
    EXPECT_EQ(taken.size(), 5000U);
    EXPECT_FALSE(taken.contains(kNoSlot));
}

TEST(SlotArena, slots_never_move) {
    SlotArena slots;
    const SlotId first = slots.take();
    const Slot* place = &slots[first];
    for (int i = 0; i < 100'000; ++i) slots.take();
    EXPECT_EQ(&slots[first], place);
}

TEST(SlotArena, a_slot_given_back_is_used_again_and_has_forgotten_everything) {
    SlotArena slots;
    const SlotId id = slots.take(), other = slots.take();
    Slot& slot = slots[id];
    slot.version = 7;
    slot.body = Bytes(std::string_view("body"));
    slot.history = "history";
    slot.extras = std::make_unique<Extras>();
    slot.lane_next = other;
    slot.pause_requested = true;
    EXPECT_TRUE(slot.in_use());
    slots.give_back(id);
    EXPECT_EQ(slots.take(), id);
    EXPECT_FALSE(slots[id].in_use());
    EXPECT_TRUE(slots[id].body.empty());
    EXPECT_TRUE(slots[id].history.empty());
    EXPECT_EQ(slots[id].extras, nullptr);
    EXPECT_EQ(slots[id].lane_next, kNoSlot);
    EXPECT_FALSE(slots[id].pause_requested);
}

TEST(SlotArena, as_many_slots_as_are_in_use_at_once_are_ever_made) {
    SlotArena slots;
    std::set<SlotId> ever;
    for (int round = 0; round < 1000; ++round) {
        std::vector<SlotId> mine;
        for (int i = 0; i < 10; ++i) mine.push_back(slots.take());
        ever.insert(mine.begin(), mine.end());
        for (const SlotId id : mine) slots.give_back(id);
    }
    EXPECT_EQ(ever.size(), 10U);
}

}  // namespace
}  // namespace holdfast::stores::memory
