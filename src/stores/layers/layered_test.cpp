// Forwarding is written once: every call goes through, named, with its arguments and its answer.
#include "stores/layers/layered.h"

#include <gtest/gtest.h>

#include <map>

#include "domain/decide.h"
#include "stores/memory/memory_store.h"
#include "testing/calls_under_way.h"
#include "testing/manual_clock.h"
#include "testing/watched_store.h"

namespace holdfast::stores {
namespace {

using namespace std::chrono_literals;
using testing::Executor;
using testing::ManualClock;
using testing::WatchedStore;

class LayeredTest : public ::testing::Test {
  protected:
    ManualClock clock;
    Executor world{clock};
    MemoryStore memory{clock};
    WatchedStore store{memory};

    static domain::Submission work() {
        domain::Submission s;
        s.type = "work";
        s.tenant = "acme";
        return s;
    }
    Uuid id = Uuid::named(Partition{1}, "task");

    std::vector<Change> submitted(std::size_t copies = 1) {
        std::vector<Change> changes(copies, domain::decide_submit(work(), id, clock.now()));
        changes[0].appends.push_back({"log", id, "a", Bytes(std::string_view("1")), {}});
        changes[0].appends.push_back({"log", id, "b", Bytes(std::string_view("2")), {}});
        changes[0].adds.push_back({"counter", 5, {}, {}});
        return changes;
    }
    ClaimRequest claim() {
        ClaimRequest r;
        r.queues.push_back({"default", {}});
        r.worker = "w";
        return r;
    }
};

TEST_F(LayeredTest, every_call_reaches_the_store_with_its_arguments_and_brings_its_answer) {
    EXPECT_EQ(world.run(store.commit(submitted(2)))->at(1).verdict, Verdict::conflict);
    EXPECT_EQ(world.run(store.load({{domain::Kind::task, id}})).value(),
              world.run(memory.load({{domain::Kind::task, id}})).value());
    const Record task = world.run(store.claim(claim()))->at(0);
    EXPECT_EQ(task.header.id, id);
    EXPECT_TRUE(world.run(store.renew({{id, task.header.fence(), 1min, {}, {}}}))->at(0).held);
    Filter other;
    other.tenant = "nobody";
    EXPECT_EQ(world.run(store.list({}, {}, 10, 10))->rows.size(), 1U);
    EXPECT_TRUE(world.run(store.list(other, {}, 10, 10))->rows.empty());
    EXPECT_EQ(world.run(store.stats())->queues.size(), 1U);
    EXPECT_EQ(world.run(store.history({domain::Kind::task, id}))->size(), 2U);
    EXPECT_EQ(world.run(store.log("log", id, 1, 10))->at(0).key, "b");
    EXPECT_EQ(world.run(store.feed({}, 1))->events.size(), 1U);
    EXPECT_EQ(world.run(store.count({{Tally::Of::counter, Partition{1}, "counter"}})).value(),
              std::vector<std::int64_t>{5});
    clock.advance(1min);
    EXPECT_EQ(world.run(store.due(10))->size(), 1U);
    EXPECT_EQ(world.run(store.trim({clock.now(), clock.now(), {}, 10})).value(), 0U);
    EXPECT_EQ(world.run(store.clock()).value(), clock.now());
    EXPECT_EQ(store.durability(), "none");

    const std::map<Op, std::size_t> twice{{Op::list, 2}};
    for (std::size_t i = 0; i < kOpNames.size(); ++i) {
        const auto op = static_cast<Op>(i);
        EXPECT_EQ(store.calls(op), twice.contains(op) ? 2U : 1U) << to_string(op);
    }
    EXPECT_EQ(store.items(Op::commit), 2U) << "batches tell how many they are";
}

TEST_F(LayeredTest, a_call_begins_when_it_is_awaited_and_one_that_is_dropped_never_does) {
    {
        [[maybe_unused]] const auto dropped = store.commit(submitted());
    }
    EXPECT_EQ(world.run(memory.list({}, {}, 10, 10))->rows.size(), 0U);
}

TEST_F(LayeredTest, layers_lie_on_each_other) {
    Store& lower = store;
    WatchedStore upper(lower);
    world.run(upper.commit(submitted()));
    EXPECT_EQ(upper.calls(Op::commit), 1U);
    EXPECT_EQ(store.calls(Op::commit), 1U);
    EXPECT_EQ(upper.durability(), "none");
}

}  // namespace
}  // namespace holdfast::stores
