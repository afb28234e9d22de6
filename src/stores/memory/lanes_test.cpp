// Lanes take turns; a lane whose gate is full is put aside and costs nothing until a permit comes back.
#include "stores/memory/lanes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>

namespace holdfast::stores::memory {
namespace {

class LanesTest : public ::testing::Test {
  protected:
    SlotArena slots;
    Permits permits;
    Lanes lanes{slots, permits};
    Time now{std::chrono::sys_days{std::chrono::January / 5 / 2026}};
    std::uint64_t made = 0;

    SlotId push(const std::string& gate = {}, std::uint32_t limit = 0, std::uint8_t priority = 5,
                const std::string& type = {}) {
        const SlotId id = slots.take();
        slots[id].id = Uuid{1, ++made};
        slots[id].version = 1;
        slots[id].extras = std::make_unique<Extras>();
        slots[id].extras->gate = gate;
        slots[id].extras->gate_limit = limit;
        lanes.push(id, {"q", type, priority, gate});
        return id;
    }
    SlotId next(const std::vector<std::string>& types = {}) { return lanes.next("q", types, now); }
    /// Takes the next one, with its permit.
    SlotId take() {
        const SlotId id = next();
        if (id != kNoSlot && slots[id].extras->gate_limit > 0)
            permits.acquire(slots[id].extras->gate, {slots[id].id, {}, kNoTime}, now);
        return id;
    }
    void finish(SlotId id) {
        lanes.wake(permits.release(slots[id].extras->gate, slots[id].id, {}));
        slots.give_back(id);
    }
    std::string gate(SlotId id) { return slots[id].extras->gate; }
};

TEST_F(LanesTest, a_lane_is_first_in_first_out_and_one_may_leave_from_its_middle) {
    const SlotId a = push(), b = push(), c = push(), d = push();
    lanes.remove(b);
    EXPECT_EQ(slots[b].lane, nullptr);
    EXPECT_EQ(next(), a);
    lanes.remove(d);
    EXPECT_EQ(next(), c);
    EXPECT_EQ(next(), kNoSlot);
    const SlotId e = push();
    EXPECT_EQ(next(), e) << "an emptied lane is used again";
}

TEST_F(LanesTest, a_queue_nobody_used_is_empty) {
    EXPECT_EQ(lanes.next("nowhere", {}, now), kNoSlot);
}

TEST_F(LanesTest, thousands_of_gates_take_turns_whatever_their_backlog) {
    constexpr int kGates = 3000;
    for (int i = 0; i < 1000; ++i) push("greedy", 1'000'000);  // came first, and has the most
    for (int g = 0; g < kGates; ++g) {
        for (int i = 0; i < 2; ++i) push("g" + std::to_string(g), 1'000'000);
    }
    for (int round = 0; round < 2; ++round) {
        std::map<std::string, int> served;
        for (int i = 0; i < kGates + 1; ++i) ++served[gate(take())];
        EXPECT_EQ(served.size(), kGates + 1U) << "in each round everybody once";
    }
    EXPECT_EQ(gate(take()), "greedy");
}

TEST_F(LanesTest, tasks_without_a_gate_have_a_turn_like_any_gate) {
    for (int i = 0; i < 10; ++i) push("g", 100);
    for (int i = 0; i < 10; ++i) push();
    std::map<std::string, int> served;
    for (int i = 0; i < 10; ++i) ++served[gate(take())];
    EXPECT_EQ(served["g"], 5);
    EXPECT_EQ(served[""], 5);
}

TEST_F(LanesTest, a_full_gate_holds_back_its_own_tasks_only) {
    push("full", 1);
    push("full", 1);
    push("full", 1, 9);
    const SlotId open = push("open", 1);
    const SlotId first = take();
    EXPECT_EQ(gate(first), "full");
    EXPECT_EQ(take(), open);
    EXPECT_EQ(take(), kNoSlot);
    finish(first);
    EXPECT_EQ(gate(take()), "full") << "a permit that comes back lets the next one go";
    EXPECT_EQ(take(), kNoSlot);
}

TEST_F(LanesTest, one_that_is_pushed_behind_a_full_gate_waits_with_the_others) {
    push("g", 1);
    const SlotId first = take(), second = push("g", 1);
    EXPECT_EQ(take(), kNoSlot);
    const SlotId third = push("g", 1);
    EXPECT_EQ(take(), kNoSlot);
    finish(first);
    EXPECT_EQ(take(), second);
    finish(second);
    EXPECT_EQ(take(), third);
}

TEST_F(LanesTest, a_waiting_lane_whose_last_task_leaves_is_forgotten) {
    push("g", 1);
    const SlotId first = take(), second = push("g", 1);
    EXPECT_EQ(take(), kNoSlot);
    lanes.remove(second);
    finish(first);  // must not wake a lane that is gone
    EXPECT_EQ(take(), kNoSlot);
    const SlotId third = push("g", 1);
    EXPECT_EQ(take(), third);
}

TEST_F(LanesTest, when_the_first_of_a_waiting_lane_leaves_the_next_is_judged_by_its_own_limit) {
    push("g", 1);
    const SlotId holder = take(), strict = push("g", 1), lenient = push("g", 5);
    EXPECT_EQ(take(), kNoSlot) << "first in, first out, also where a later one might pass";
    lanes.remove(strict);
    EXPECT_EQ(take(), lenient) << "one of five is held";
    finish(holder);
}

TEST_F(LanesTest, types_choose_among_lanes_and_leave_the_turns_of_the_others_alone) {
    const SlotId a = push({}, 0, 5, "a"), b = push({}, 0, 5, "b"), c = push({}, 0, 5, "c");
    EXPECT_EQ(next({"b", "x"}), b);
    EXPECT_EQ(next({"x"}), kNoSlot);
    EXPECT_EQ(next(), c) << "after b it is c's turn";
    EXPECT_EQ(next(), a);
}

TEST_F(LanesTest, lanes_that_wait_for_a_permit_are_not_looked_at_again_and_again) {
    const auto time_of_claims = [this] {
        for (int i = 0; i < 2000; ++i) push();
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < 2000; ++i) EXPECT_NE(take(), kNoSlot);
        EXPECT_EQ(take(), kNoSlot);
        return std::chrono::steady_clock::now() - start;
    };
    const auto alone = time_of_claims();
    for (int g = 0; g < 5000; ++g) {
        push("g" + std::to_string(g), 1);
        push("g" + std::to_string(g), 1);
    }
    for (int g = 0; g < 5000; ++g) ASSERT_NE(take(), kNoSlot);
    EXPECT_EQ(take(), kNoSlot) << "all are full, and now put aside";
    const auto beside = time_of_claims();
    // Looking at 5000 full gates before each claim would cost thousands of times as much.
    EXPECT_LT(beside, 100 * alone + std::chrono::milliseconds{20});
}

}  // namespace
}  // namespace holdfast::stores::memory
