// The conformance suite against the Redis spike, on a redis-server that this program starts; and what only Redis can
// do wrong.
#include <set>
#include <stdexcept>

#include "stores/conformance/conformance.h"
#include "stores/redis/codec.h"
#include "stores/redis/connection.h"
#include "stores/redis/spike_store.h"
#include "testing/redis_server.h"

namespace holdfast::stores::conformance {
namespace {

template <class T>
T value_of(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().detail);
    return *std::move(result);
}

/// One server for all cases.
holdfast::testing::RedisServer& server() {
    static const auto server =
        value_of(holdfast::testing::RedisServer::start({"--appendonly", "yes"}));
    return *server;
}

class RedisFixture final : public Fixture {
  public:
    RedisFixture() {
        call({"FLUSHALL"});
        store_ = value_of(RedisSpike::open(server().port()));
    }
    Store& store() override { return *store_; }
    void reopen() override {
        store_.reset();
        if (auto restarted = server().restart(); !restarted)
            throw std::runtime_error(restarted.error().detail);
        connection_ = value_of(redis::Connection::open(server().port()));
        store_ = value_of(RedisSpike::open(server().port()));
    }
    redis::Reply call(std::initializer_list<std::string_view> words) {
        return value_of(connection_.call(words));
    }

  private:
    redis::Connection connection_ = value_of(redis::Connection::open(server().port()));
    std::unique_ptr<RedisSpike> store_;
};

Backend redis_spike() {
    return {"redis_spike", all_but({Ability::time_control, Ability::list, Ability::trim}),
            [] { return std::make_unique<RedisFixture>(); }};
}

// ---- what only Redis can do wrong ----

class RedisSpikeKeys : public ::testing::Test {
  protected:
    static constexpr std::string_view kLane = "{p0}:lane:default||5|";

    template <class T>
    Result<T> ask(Async<Result<T>> question) {
        return run(redis_.io(), std::move(question));
    }
    Change submission(domain::Submission task = new_task()) {
        const Time now = *ask(redis_.store().clock());
        return domain::decide_submit(task, mint_.mint(kHome, now), now);
    }
    std::vector<Record> claim(std::uint32_t max = 10, std::vector<std::string> types = {}) {
        ClaimRequest request;
        request.queues.emplace_back().name = "default";
        request.queues[0].types = std::move(types);
        request.worker = "worker-1";
        request.max = max;
        return value_of(ask(redis_.store().claim(std::move(request))));
    }
    void complete(const Record& held) {
        const Time now = *ask(redis_.store().clock());
        const domain::Complete done{held.header.fence(), {}};
        const auto outcomes =
            value_of(ask(redis_.store().commit({*domain::decide(held, done, now)})));
        ASSERT_EQ(outcomes.at(0).verdict, Verdict::committed);
    }
    std::int64_t pending(std::string_view lane = kLane) {
        return redis_.call({"XPENDING", lane, "w"})->element[0]->integer;
    }
    std::int64_t length(std::string_view lane = kLane) {
        return redis_.call({"XLEN", lane})->integer;
    }

    RedisFixture redis_;
    UuidMint mint_{Rng(1)};
};

TEST_F(RedisSpikeKeys, an_entry_is_pending_while_its_task_is_held_and_gone_when_it_leaves) {
    ASSERT_TRUE(ask(redis_.store().commit({submission(), submission()})));
    EXPECT_EQ(length(), 2);
    EXPECT_EQ(pending(), 0);
    const std::vector<Record> held = claim();
    ASSERT_EQ(held.size(), 2U);
    EXPECT_EQ(pending(), 2);
    complete(held[0]);
    EXPECT_EQ(length(), 1);
    EXPECT_EQ(pending(), 1);
    complete(held[1]);
    EXPECT_EQ(length(), 0);
    EXPECT_EQ(pending(), 0);
}

TEST_F(RedisSpikeKeys, a_lane_with_a_gate_vanishes_with_its_last_task) {
    domain::Submission gated = new_task();
    gated.gate = "somebody";
    gated.gate_limit = 1;
    ASSERT_TRUE(ask(redis_.store().commit({submission(gated), submission(gated)})));
    EXPECT_EQ(redis_.call({"EXISTS", "{p0}:lane:default||5|somebody"})->integer, 1);
    for (int i = 0; i < 2; ++i) {
        const std::vector<Record> held = claim();
        ASSERT_EQ(held.size(), 1U);
        complete(held[0]);
    }
    EXPECT_TRUE(claim().empty());
    for (const std::string_view key : {"{p0}:lane:default||5|somebody", "{p0}:lanes:default",
                                       "{p0}:shut:somebody", "{p0}:permit:somebody"})
        EXPECT_EQ(redis_.call({"EXISTS", key})->integer, 0) << key;
}

TEST_F(RedisSpikeKeys, more_lanes_than_a_claim_looks_at_together_are_served_in_turn) {
    constexpr std::size_t kGates = 150;
    std::vector<Change> changes;
    for (std::size_t i = 0; i < 2 * kGates; ++i) {
        domain::Submission task = new_task();
        task.gate = "gate-" + std::to_string(i % kGates);
        changes.push_back(submission(task));
    }
    ASSERT_TRUE(ask(redis_.store().commit(std::move(changes))));
    for (int round = 0; round < 2; ++round) {
        std::set<std::string> gates;
        for (const Record& held : claim(kGates)) gates.insert(held.header.gate);
        EXPECT_EQ(gates.size(), kGates);
    }
    EXPECT_TRUE(claim().empty());
}

TEST_F(RedisSpikeKeys, lanes_of_other_types_hide_nobody) {
    std::vector<Change> changes;
    for (int i = 0; i < 150; ++i) {
        domain::Submission task = new_task("default", "other-" + std::to_string(i));
        task.lane_by_type = true;
        task.priority = 9;
        changes.push_back(submission(task));
    }
    domain::Submission task = new_task("default", "wanted");
    task.lane_by_type = true;
    task.priority = 1;
    changes.push_back(submission(task));
    ASSERT_TRUE(ask(redis_.store().commit(std::move(changes))));
    EXPECT_EQ(claim(10, {"wanted"}).size(), 1U);
    EXPECT_TRUE(claim(10, {"wanted"}).empty());
    EXPECT_EQ(claim(200).size(), 150U);
}

TEST_F(RedisSpikeKeys, the_entry_of_a_missing_record_is_never_dropped) {
    const Change lost = submission();
    ASSERT_TRUE(ask(redis_.store().commit({lost, submission()})));
    redis_.call({"DEL", "{p0}:h" + redis::ref_of(lost.puts[0].header.key())});
    EXPECT_EQ(claim().size(), 1U);
    EXPECT_EQ(pending(), 2) << "for a sweeper to find";
}

TEST_F(RedisSpikeKeys, an_entry_that_is_not_its_tasks_own_is_dropped) {
    const Change task = submission();
    redis_.call({"XGROUP", "CREATE", kLane, "w", "0", "MKSTREAM"});
    redis_.call({"XADD", kLane, "*", "i", redis::ref_of(task.puts[0].header.key())});
    ASSERT_TRUE(ask(redis_.store().commit({task})));
    EXPECT_EQ(length(), 2);
    EXPECT_EQ(claim().size(), 1U);
    EXPECT_EQ(length(), 1);
    EXPECT_EQ(pending(), 1);
}

TEST_F(RedisSpikeKeys, a_commit_that_stops_half_way_is_mended_by_running_it_again) {
    const Change first = submission();
    Change second = submission(new_task("broken"));
    second.appends.push_back({"ledger", second.puts[0].header.id, "row", Bytes("x"), {}});
    second.adds.push_back({"credits", 1, std::nullopt, std::nullopt});
    const Change third = submission();
    redis_.call({"SET", "{p0}:lane:broken||5|", "in the way"});
    EXPECT_EQ(ask(redis_.store().commit({first, second, third})).error().code, Code::unavailable);
    const auto loaded = value_of(ask(redis_.store().load(
        {first.puts[0].header.key(), second.puts[0].header.key(), third.puts[0].header.key()})));
    EXPECT_TRUE(loaded[0]) << "what came before is whole";
    EXPECT_FALSE(loaded[1]);
    EXPECT_FALSE(loaded[2]) << "what comes after was not tried";
    EXPECT_EQ(value_of(ask(redis_.store().feed("", 10))).events.size(), 1U);
    EXPECT_EQ(claim().size(), 1U);

    redis_.call({"DEL", "{p0}:lane:broken||5|"});
    const auto again = value_of(ask(redis_.store().commit({first, second, third})));
    EXPECT_EQ(again[0].verdict, Verdict::conflict) << "it is there: its nonce tells whose it is";
    EXPECT_EQ(again[1].verdict, Verdict::committed);
    EXPECT_TRUE(again[1].skipped.empty());
    EXPECT_EQ(again[2].verdict, Verdict::committed);
    EXPECT_EQ(value_of(ask(redis_.store().feed("", 10))).events.size(), 4U);  // and the claim
    EXPECT_EQ(value_of(ask(redis_.store().count({{Tally::Of::counter, kHome, "credits"}}))).at(0),
              1);
}

}  // namespace
}  // namespace holdfast::stores::conformance

HOLDFAST_CONFORMANCE(redis_spike, redis_spike());
