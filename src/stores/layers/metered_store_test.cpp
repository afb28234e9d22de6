// Metrics wrap the port: names that dashboards are written against, and numbers that move.
#include "stores/layers/metered_store.h"

#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include <optional>

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
using Labels = std::map<std::string, std::string>;

class Metered : public ::testing::Test {
  protected:
    ManualClock clock;
    Executor world{clock};
    MemoryStore memory{clock};
    WatchedStore line{memory};  // for calls that take time, or fail
    prometheus::Registry registry;
    MeteredStore store{line, clock, registry};
    UuidMint mint{Rng(7)};

    std::vector<Change> tasks(std::size_t count) {
        std::vector<Change> changes;
        domain::Submission s;
        s.type = "work";
        for (std::size_t i = 0; i < count; ++i)
            changes.push_back(
                domain::decide_submit(s, mint.mint(Partition{1}, clock.now()), clock.now()));
        return changes;
    }
    std::optional<prometheus::ClientMetric> metric(const std::string& name,
                                                   const Labels& labels = {}) {
        for (const auto& family : registry.Collect()) {
            if (family.name != name) continue;
            for (const auto& m : family.metric) {
                Labels own;
                for (const auto& label : m.label) own[label.name] = label.value;
                if (own == labels) return m;
            }
        }
        return std::nullopt;
    }
    prometheus::ClientMetric::Histogram histogram(const std::string& name,
                                                  const Labels& labels = {}) {
        return metric(name, labels).value().histogram;
    }
    double counter(const std::string& name, const Labels& labels) {
        const auto found = metric(name, labels);
        return found ? found->counter.value : -1;
    }
};

TEST_F(Metered, every_family_is_there_before_the_first_call_with_its_help) {
    std::set<std::string> names;
    for (const auto& family : registry.Collect()) {
        names.insert(family.name);
        EXPECT_FALSE(family.help.empty()) << family.name;
    }
    EXPECT_TRUE(names.contains("holdfast_commit_seconds"));
    EXPECT_TRUE(names.contains("holdfast_commit_batch"));
    EXPECT_TRUE(names.contains("holdfast_store_call_seconds"));
    EXPECT_TRUE(names.contains("holdfast_changes_total"));
    EXPECT_EQ(histogram("holdfast_commit_seconds").sample_count, 0U);
}

TEST_F(Metered, a_commit_is_measured_with_its_time_and_its_size) {
    line.before_next(Op::commit, [this] {
        clock.advance(40ms);
        return testing::ignoring(memory.clock());
    });
    ASSERT_TRUE(world.run(store.commit(tasks(3))));
    const auto seconds = histogram("holdfast_commit_seconds");
    EXPECT_EQ(seconds.sample_count, 1U);
    EXPECT_DOUBLE_EQ(seconds.sample_sum, 0.04) << "in seconds";
    const auto batch = histogram("holdfast_commit_batch");
    EXPECT_EQ(batch.sample_count, 1U);
    EXPECT_DOUBLE_EQ(batch.sample_sum, 3);
    EXPECT_EQ(histogram("holdfast_store_call_seconds", {{"op", "commit"}}).sample_count, 1U);
}

TEST_F(Metered, every_operation_has_its_own_time) {
    world.run(store.clock());
    world.run(store.stats());
    world.run(store.stats());
    for (const auto& [op, calls] : std::map<std::string, std::uint64_t>{
             {"clock", 1}, {"stats", 2}, {"claim", 0}, {"commit", 0}, {"renew", 0}, {"due", 0}})
        EXPECT_EQ(histogram("holdfast_store_call_seconds", {{"op", op}}).sample_count, calls) << op;
    EXPECT_EQ(histogram("holdfast_commit_seconds").sample_count, 0U) << "only commits count there";
}

TEST_F(Metered, what_became_of_the_changes_is_counted) {
    auto changes = tasks(2);
    changes.push_back(changes[0]);
    world.run(store.commit(changes));
    EXPECT_EQ(counter("holdfast_changes_total", {{"verdict", "committed"}}), 2);
    EXPECT_EQ(counter("holdfast_changes_total", {{"verdict", "conflict"}}), 1);
    EXPECT_EQ(counter("holdfast_changes_total", {{"verdict", "duplicate"}}), 0);
    EXPECT_EQ(counter("holdfast_changes_total", {{"verdict", "refused"}}), 0);
}

TEST_F(Metered, a_call_that_fails_is_counted_by_its_code_and_passed_on) {
    line.fail_next(Op::commit, WatchedStore::Fault::never_arrives, 2);
    for (int i = 0; i < 2; ++i) {
        const auto answer = world.run(store.commit(tasks(1)));
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, Code::unavailable);
    }
    EXPECT_EQ(counter("holdfast_store_errors_total", {{"op", "commit"}, {"code", "unavailable"}}),
              2);
    EXPECT_EQ(histogram("holdfast_commit_seconds").sample_count, 2U) << "a failure takes time, too";
    EXPECT_EQ(counter("holdfast_changes_total", {{"verdict", "committed"}}), 0);
}

TEST_F(Metered, buckets_hold_what_they_say) {
    world.run(store.commit(tasks(256)));
    for (const auto& bucket : histogram("holdfast_commit_batch").bucket)
        EXPECT_EQ(bucket.cumulative_count, bucket.upper_bound >= 256 ? 1U : 0U)
            << bucket.upper_bound;
}

}  // namespace
}  // namespace holdfast::stores
