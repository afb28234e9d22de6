// A slot moves to another server while work goes on.
#include <gtest/gtest.h>

#include "domain/decide.h"
#include "stores/redis/redis_store.h"
#include "testing/redis_cluster.h"
#include "testing/redis_store_fixture.h"

namespace holdfast::stores {
namespace {

using namespace std::chrono_literals;
using holdfast::testing::RedisCluster;
using holdfast::testing::RedisStoreFixture;
using holdfast::testing::run_until_done;
using holdfast::testing::value_of;

class RedisMigration : public ::testing::Test {
  protected:
    RedisMigration() : store_(io_, [this] { return cluster_->url(); }) {}

    template <class T>
    Result<T> ask(Async<Result<T>> question) {
        return run_until_done(io_, std::move(question));
    }
    Change submission() {
        domain::Submission what;
        what.type = "work";
        what.queue = "default";
        what.payload = Json::quoted("payload");
        const Time now = value_of(ask(store_.store().clock()));
        Change change = domain::decide_submit(what, mint_.mint(Partition{0}, now), now);
        change.nonce = ++nonce_;
        return change;
    }
    Result<std::vector<Record>> claim(std::uint32_t max) {
        ClaimRequest request;
        request.queues.emplace_back().name = "default";
        request.worker = "worker-1";
        request.max = max;
        return ask(store_.store().claim(std::move(request)));
    }
    Result<std::vector<Outcome>> complete(const Record& held) {
        const Time now = held.header.updated_at + 1ms;
        Change change =
            domain::decide(held, domain::Complete{held.header.fence(), {}}, now).value();
        change.nonce = ++nonce_;
        return ask(store_.store().commit({std::move(change)}));
    }

    std::unique_ptr<RedisCluster> cluster_ =
        value_of(RedisCluster::start(3, 0, {"--appendonly", "yes"}));
    asio::io_context io_{1};
    RedisStoreFixture store_;
    UuidMint mint_{Rng(1)};
    std::uint64_t nonce_ = 0;
};

TEST_F(RedisMigration, a_script_stops_before_its_first_write_until_the_slot_has_arrived) {
    constexpr std::size_t kTasks = 40;
    for (std::size_t i = 0; i < kTasks; ++i)
        ASSERT_TRUE(ask(store_.store().commit({submission()})));
    const std::vector<Record> held = value_of(claim(10));
    ASSERT_EQ(held.size(), 10U);

    const std::uint16_t slot = holdfast::redis::slot_of("{hf:0}:");
    const int from = cluster_->master_of(slot);
    const int to = (from + 1) % 3;
    ASSERT_TRUE(cluster_->begin_migration(slot, to));
    for (int some = 0; some < 3; ++some) {
        // Some of its keys are here and some there: nothing may be done by halves.
        const Change late = submission();
        const auto refused = ask(store_.store().commit({late}));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::unavailable) << refused.error().detail;
        EXPECT_FALSE(complete(held[0]));
        EXPECT_FALSE(claim(1));
        ASSERT_TRUE(cluster_->move_keys(slot, to, 7));
    }
    ASSERT_TRUE(cluster_->move_keys(slot, to, 100'000));
    ASSERT_TRUE(cluster_->end_migration(slot, to));
    ASSERT_EQ(cluster_->master_of(slot), to);

    for (const Record& record : held) {
        const auto outcomes = value_of(complete(record));
        EXPECT_EQ(outcomes.at(0).verdict, Verdict::committed);
    }
    EXPECT_EQ(value_of(claim(100)).size(), kTasks - held.size()) << "none lost, none twice";
    EXPECT_EQ(value_of(ask(store_.store().reconcile())), 0U) << "and nothing to mend";
    const Stats stats = value_of(ask(store_.store().stats()));
    ASSERT_EQ(stats.queues.size(), 1U);
    EXPECT_EQ(stats.queues[0].by_state.at(static_cast<std::size_t>(State::succeeded)), held.size());
    EXPECT_EQ(stats.queues[0].by_state.at(static_cast<std::size_t>(State::running)),
              kTasks - held.size());
}

}  // namespace
}  // namespace holdfast::stores
