// A bad line: what never arrives has no effect, what is answered to nobody has.
#include "stores/layers/faulty_store.h"

#include <gtest/gtest.h>

#include "domain/decide.h"
#include "stores/memory/memory_store.h"
#include "testing/calls_under_way.h"
#include "testing/manual_clock.h"

namespace holdfast::stores {
namespace {

using namespace std::chrono_literals;
using testing::Executor;
using testing::ManualClock;

class Faulty : public ::testing::Test {
  protected:
    ManualClock clock;
    Executor world{clock};
    MemoryStore memory{clock};
    FaultyStore store = faulty({}, 1);
    UuidMint mint{Rng(7)};

    FaultyStore faulty(Faults faults, std::uint64_t seed) {
        return FaultyStore(memory, clock, world.executor(), Rng(seed), faults);
    }
    std::vector<Change> one_task() {
        domain::Submission s;
        s.type = "work";
        std::vector<Change> changes;
        changes.push_back(
            domain::decide_submit(s, mint.mint(Partition{1}, clock.now()), clock.now()));
        return changes;
    }
    std::size_t stored() { return world.run(memory.list({}, {}, 1000, 1000))->rows.size(); }
};

TEST_F(Faulty, without_faults_it_is_the_store_itself) {
    EXPECT_EQ(world.run(store.commit(one_task()))->at(0).verdict, Verdict::committed);
    EXPECT_EQ(stored(), 1U);
    EXPECT_EQ(store.durability(), memory.durability());
}

TEST_F(Faulty, what_never_arrives_is_unavailable_and_has_no_effect) {
    store.set_faults({.never_arrives = 1});
    const auto answer = world.run(store.commit(one_task()));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::unavailable);
    EXPECT_EQ(stored(), 0U);
}

TEST_F(Faulty, what_is_answered_to_nobody_is_unavailable_and_has_its_effect) {
    store.set_faults({.reply_lost = 1});
    const auto answer = world.run(store.commit(one_task()));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::unavailable);
    EXPECT_EQ(stored(), 1U);
}

TEST_F(Faulty, faults_come_as_often_as_they_are_asked_for_and_the_same_seed_brings_the_same) {
    const auto failures = [this](std::uint64_t seed) {
        FaultyStore s = faulty({.never_arrives = 0.3}, seed);
        std::vector<bool> lost;
        for (int i = 0; i < 1000; ++i) lost.push_back(!world.run(s.clock()));
        return lost;
    };
    const auto first = failures(1);
    EXPECT_EQ(first, failures(1));
    EXPECT_NE(first, failures(2));
    const auto count = std::ranges::count(first, true);
    EXPECT_GT(count, 250);
    EXPECT_LT(count, 350);
}

TEST_F(Faulty, a_slow_line_delays_the_call_and_its_answer) {
    store.set_faults({.longest_delay = 100ms});
    const auto call = world.begin(store.commit(one_task()));
    EXPECT_EQ(stored(), 0U) << "on its way";
    while (stored() == 0) {
        ASSERT_LE(*clock.next_alarm(), ManualClock::kStart + 100ms);
        clock.advance_to(*clock.next_alarm());
        world.poll();
    }
    EXPECT_FALSE(call.answered()) << "done, and the answer is on its way";
    world.advance(100ms);
    EXPECT_TRUE(call.answered());
    EXPECT_LE(clock.now(), ManualClock::kStart + 200ms);
}

TEST_F(Faulty, after_a_cut_nothing_arrives) {
    store.cut();
    EXPECT_TRUE(store.is_cut());
    EXPECT_FALSE(world.run(store.commit(one_task())));
    EXPECT_FALSE(world.run(store.clock()));
    EXPECT_EQ(stored(), 0U);
}

TEST_F(Faulty, a_cut_reaches_calls_that_are_on_their_way_there) {
    store.set_faults({.longest_delay = 1h});
    const auto call = world.begin(store.commit(one_task()));
    store.cut();
    world.advance(2h);
    ASSERT_TRUE(call.answered());
    EXPECT_FALSE(call.answer());
    EXPECT_EQ(stored(), 0U);
}

TEST_F(Faulty, a_cut_reaches_answers_that_are_on_their_way_back) {
    store.set_faults({.longest_delay = 1h});
    const auto call = world.begin(store.commit(one_task()));
    while (stored() == 0) {
        clock.advance_to(*clock.next_alarm());
        world.poll();
    }
    ASSERT_FALSE(call.answered());
    store.cut();
    world.advance(1h);
    ASSERT_TRUE(call.answered());
    EXPECT_FALSE(call.answer()) << "what was done stays done";
    EXPECT_EQ(stored(), 1U);
}

}  // namespace
}  // namespace holdfast::stores
