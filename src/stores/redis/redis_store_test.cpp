// What only Redis can do wrong, and what an operator sees with redis-cli.
#include "stores/redis/redis_store.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include "domain/decide.h"
#include "stores/redis/codec.h"
#include "testing/redis_server.h"
#include "testing/redis_store_fixture.h"

namespace holdfast::stores {
namespace {

using namespace std::chrono_literals;
using holdfast::redis::Command;
using holdfast::redis::Reply;
using holdfast::testing::ask_redis;
using holdfast::testing::RedisServer;
using holdfast::testing::RedisStoreFixture;
using holdfast::testing::value_of;

constexpr Partition kHome{7};

/// One for all cases; another one for a case that spoils it.
RedisServer& shared_server() {
    static const auto server = value_of(RedisServer::start({"--appendonly", "yes"}));
    return *server;
}

class Redis : public ::testing::Test {
  protected:
    static constexpr std::string_view kLane = "{hf:0}:lane:default||5|";

    void open(RedisOptions options = {}, RedisServer& server = shared_server()) {
        store_.reset();
        server_ = &server;
        call("FLUSHALL");
        store_.emplace(io_, [this] { return url(); }, std::move(options));
    }
    std::string url() const { return "redis://127.0.0.1:" + std::to_string(server_->port()); }
    RedisStore& store() {
        if (!store_) open();
        return store_->store();
    }
    template <class T>
    Result<T> ask(Async<Result<T>> question) {
        return holdfast::testing::run_until_done(io_, std::move(question));
    }
    template <class... Words>
    Reply call(const Words&... words) {
        return value_of(ask_redis(server_->port(), Command(words...)));
    }

    static domain::Submission task(std::string queue = "default", std::string type = "work") {
        domain::Submission s;
        s.queue = std::move(queue);
        s.type = std::move(type);
        s.payload = Json::quoted("payload");
        return s;
    }
    Time now() { return value_of(ask(store().clock())); }
    Change submission(const domain::Submission& what = task()) {
        const Time at = now();
        Change change = domain::decide_submit(what, mint_.mint(kHome, at), at);
        change.nonce = ++nonce_;
        return change;
    }
    Verdict commit(Change change) {
        return value_of(ask(store().commit({std::move(change)}))).at(0).verdict;
    }
    Uuid submit(const domain::Submission& what = task()) {
        const Change change = submission(what);
        EXPECT_EQ(commit(change), Verdict::committed);
        return change.puts[0].header.id;
    }
    std::vector<Record> claim(std::uint32_t max = 10, std::vector<std::string> types = {}) {
        ClaimRequest request;
        request.queues.emplace_back().name = "default";
        request.queues[0].types = std::move(types);
        request.worker = "worker-1";
        request.max = max;
        return value_of(ask(store().claim(std::move(request))));
    }
    Record load(const Uuid& id) {
        return *value_of(ask(store().load({{domain::Kind::task, id}}))).at(0);
    }
    void step(const Record& record, const domain::Command& command) {
        Change change = domain::decide(record, command, now()).value();
        change.nonce = ++nonce_;
        ASSERT_EQ(commit(std::move(change)), Verdict::committed);
    }
    void complete(const Record& held) { step(held, domain::Complete{held.header.fence(), {}}); }
    void fail(const Record& held, Duration again_after = 1ms) {
        step(held, domain::Fail{held.header.fence(),
                                {domain::ErrorKind::transient, "no connection", {}, {}},
                                again_after});
    }
    /// Until its timer has rung; then what the engine's ticker does.
    void tick(const Uuid& id) {
        std::vector<Record> rung;
        while (rung.empty()) rung = value_of(ask(store().due(10)));
        ASSERT_EQ(rung.at(0).header.id, id);
        step(rung[0], domain::Tick{});
    }

    std::int64_t pending(std::string_view lane = kLane) {
        return call("XPENDING", lane, "workers").root()[0].integer();
    }
    std::int64_t length(std::string_view stream = kLane) {
        return call("XLEN", stream).root().integer();
    }
    bool exists(std::string_view key) { return call("EXISTS", key).root().integer() == 1; }
    std::string field(const Uuid& id, std::string_view name) {
        return std::string(call("HGET", "{hf:0}:task:" + id.text(), name).root().text());
    }

    asio::io_context io_{1};
    RedisServer* server_ = &shared_server();
    std::optional<RedisStoreFixture> store_;
    UuidMint mint_{Rng(1)};
    std::uint64_t nonce_ = 0;
};

// ---- what XLEN, XPENDING and HGETALL show ----

TEST_F(Redis, an_entry_is_pending_while_its_task_is_held_and_gone_when_it_leaves) {
    submit();
    submit();
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

TEST_F(Redis, a_record_says_its_state_and_attempt_in_plain_words) {
    const Uuid id = submit();
    EXPECT_EQ(field(id, "s"), "queued");
    EXPECT_EQ(field(id, "a"), "0");
    const Record held = claim().at(0);
    EXPECT_EQ(field(id, "s"), "running");
    EXPECT_EQ(field(id, "a"), "1");
    complete(held);
    EXPECT_EQ(field(id, "s"), "succeeded");
    EXPECT_EQ(call("ZCARD", "{hf:0}:tasks:succeeded").root().integer(), 1);
}

// Seed 001: fails once and waits, is tried again, fails for good.
TEST_F(Redis, a_new_task_is_written_alike_alone_and_with_something_beside_it) {
    domain::Submission later = task(), gated = task(), large = task();
    later.delay = 1h;
    gated.gate = "user-7";
    gated.gate_limit = 2;
    large.payload = Json::quoted(std::string(2000, 'x'));
    for (const domain::Submission& what : {task(), later, gated, large}) {
        open();
        Change change = submission(what);
        const Uuid id = change.puts[0].header.id;
        const auto committed = [&] {
            EXPECT_EQ(commit(change), Verdict::committed);
            std::map<std::string, std::string> seen;
            const std::string key = "{hf:0}:task:" + id.text();
            const Reply hash = call("HGETALL", key);
            for (std::size_t i = 0; i < hash.root().size(); i += 2)
                seen[std::string(hash.root()[i].text())] = hash.root()[i + 1].text();
            if (seen.contains("x")) seen["x"] = "an entry";
            seen["body"] = call("GET", key + ":body").root().text();
            for (const std::string set : {"tasks:queued", "tasks:waiting", "wake"})
                seen[set] = call("ZSCORE", "{hf:0}:" + set, id.text()).root().text();
            seen["lane"] =
                std::to_string(length("{hf:0}:" + std::string("lane:default||5|") + what.gate));
            const Reply counts = call("HGETALL", "{hf:0}:counts");
            for (std::size_t i = 0; i < counts.root().size(); i += 2)
                seen[std::string(counts.root()[i].text())] = counts.root()[i + 1].text();
            return seen;
        };
        const auto alone = committed();
        call("FLUSHALL");
        change.notes.push_back({change.puts[0].header.key(), "noticed", {}});
        EXPECT_EQ(alone, committed()) << what.gate;
    }
}

TEST_F(Redis, due_set_a_failed_task_leaves_its_stream_until_it_is_due) {
    domain::Submission what = task();
    what.policy.max = 2;
    open();
    const Uuid id = submit(what);
    fail(claim().at(0));
    EXPECT_EQ(field(id, "s"), "retrying");
    EXPECT_EQ(length(), 0);
    EXPECT_EQ(pending(), 0);
    tick(id);
    EXPECT_EQ(length(), 1);
    fail(claim().at(0));
    EXPECT_EQ(field(id, "s"), "suspended");
    EXPECT_EQ(field(id, "a"), "2");
    EXPECT_EQ(length(), 0);
    EXPECT_EQ(pending(), 0);
    EXPECT_EQ(length("hf:dlq"), 1);
}

TEST_F(Redis, pel_a_failed_task_stays_pending_and_is_handed_out_again_by_reclaiming_it) {
    domain::Submission what = task();
    what.policy.max = 2;
    open({.pel_queues = {"default"}});
    const Uuid id = submit(what);
    fail(claim().at(0), 50ms);
    EXPECT_EQ(field(id, "s"), "retrying");
    EXPECT_EQ(length(), 1);
    EXPECT_EQ(pending(), 1) << "not acked";
    EXPECT_TRUE(claim().empty()) << "not due";
    tick(id);
    EXPECT_EQ(pending(), 1);
    const std::vector<Record> again = claim();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].header.attempt, 2U);
    const Reply entries = call("XPENDING", kLane, "workers", "-", "+", 10);
    ASSERT_EQ(entries.root().size(), 1U);
    EXPECT_EQ(entries.root()[0][1].text(), "holdfast") << "the instance";
    EXPECT_EQ(entries.root()[0][3].integer(), 2) << "delivered twice";
    fail(again[0]);
    EXPECT_EQ(field(id, "s"), "suspended");
    EXPECT_EQ(length(), 0) << "the original is acked";
    EXPECT_EQ(pending(), 0);
    EXPECT_EQ(length("hf:dlq"), 1);
}

TEST_F(Redis, pel_an_entry_is_handed_out_again_only_when_it_was_idle_for_long_enough) {
    open({.pel_queues = {"*"}, .reclaim_idle = 300ms});
    const Uuid id = submit();
    const Time handed_out = now();
    fail(claim().at(0));
    tick(id);
    EXPECT_TRUE(claim().empty()) << "due, and not idle for long enough";
    std::vector<Record> again;
    while (again.empty()) again = claim();
    EXPECT_GE(now() - handed_out, 295ms);  // Redis counts in milliseconds
}

TEST_F(Redis, pel_other_queues_are_as_ever) {
    open({.pel_queues = {"another"}});
    const Uuid id = submit();
    fail(claim().at(0), 1h);
    EXPECT_EQ(pending(), 0);
    EXPECT_EQ(field(id, "x"), "");
}

TEST_F(Redis, a_task_stands_in_the_dlq_for_as_long_as_it_is_dead) {
    domain::Submission what = task();
    what.policy.max = 1;
    open();
    const Uuid id = submit(what);
    fail(claim().at(0));
    const Reply entry = call("XRANGE", "hf:dlq", "-", "+");
    ASSERT_EQ(entry.root().size(), 1U);
    EXPECT_EQ(entry.root()[0][1][1].text(), id.text());
    step(load(id), domain::Resume{{}, std::nullopt});
    EXPECT_EQ(length("hf:dlq"), 0);
    fail(claim().at(0));
    EXPECT_EQ(length("hf:dlq"), 1);
    step(load(id), domain::Discard{});
    EXPECT_EQ(length("hf:dlq"), 0);
}

TEST_F(Redis, without_a_name_there_is_no_dlq) {
    domain::Submission what = task();
    what.policy.max = 1;
    open({.dlq = ""});
    submit(what);
    fail(claim().at(0));
    EXPECT_EQ(call("KEYS", "*dlq*").root().size(), 0U);
    EXPECT_EQ(call("ZCARD", "{hf:0}:tasks:suspended").root().integer(), 1);
}

// ---- lanes ----

TEST_F(Redis, a_lane_with_a_gate_vanishes_with_its_last_task) {
    open();
    domain::Submission gated = task();
    gated.gate = "somebody";
    gated.gate_limit = 1;
    submit(gated);
    submit(gated);
    EXPECT_TRUE(exists("{hf:0}:lane:default||5|somebody"));
    for (int i = 0; i < 2; ++i) {
        const std::vector<Record> held = claim();
        ASSERT_EQ(held.size(), 1U);
        complete(held[0]);
    }
    EXPECT_TRUE(claim().empty());
    for (const std::string_view key :
         {"{hf:0}:lane:default||5|somebody", "{hf:0}:lanes:default", "{hf:0}:shut:somebody",
          "{hf:0}:permit:somebody", "{hf:0}:streams"})
        EXPECT_FALSE(exists(key)) << key;
}

TEST_F(Redis, more_lanes_than_a_claim_looks_at_together_are_served_in_turn) {
    constexpr std::size_t kGates = 150;
    open();
    std::vector<Change> changes;
    for (std::size_t i = 0; i < 2 * kGates; ++i) {
        domain::Submission what = task();
        what.gate = "gate-" + std::to_string(i % kGates);
        changes.push_back(submission(what));
    }
    ASSERT_TRUE(ask(store().commit(std::move(changes))));
    for (int round = 0; round < 2; ++round) {
        std::set<std::string> gates;
        for (const Record& held : claim(kGates)) gates.insert(held.header.gate);
        EXPECT_EQ(gates.size(), kGates);
    }
    EXPECT_TRUE(claim().empty());
}

TEST_F(Redis, lanes_of_other_types_hide_nobody) {
    open();
    std::vector<Change> changes;
    for (int i = 0; i < 150; ++i) {
        domain::Submission what = task("default", "other-" + std::to_string(i));
        what.lane_by_type = true;
        what.priority = 9;
        changes.push_back(submission(what));
    }
    domain::Submission what = task("default", "wanted");
    what.lane_by_type = true;
    what.priority = 1;
    changes.push_back(submission(what));
    ASSERT_TRUE(ask(store().commit(std::move(changes))));
    EXPECT_EQ(claim(10, {"wanted"}).size(), 1U);
    EXPECT_TRUE(claim(10, {"wanted"}).empty());
    EXPECT_EQ(claim(200).size(), 150U);
}

// ---- half-run scripts, lost writes ----

TEST_F(Redis, the_entry_of_a_missing_record_is_never_dropped_by_a_claim) {
    open();
    const Uuid lost = submit();
    submit();
    call("DEL", "{hf:0}:task:" + lost.text());
    EXPECT_EQ(claim().size(), 1U);
    EXPECT_EQ(pending(), 2) << "for the sweep to find";
    EXPECT_EQ(value_of(ask(store().reconcile())), 1U) << "its place in the list";
    EXPECT_EQ(pending(), 2) << "its record may still come";
}

TEST_F(Redis, an_entry_that_is_not_its_tasks_own_is_dropped) {
    open();
    const Change what = submission();
    call("XGROUP", "CREATE", kLane, "workers", "0", "MKSTREAM");
    call("XADD", kLane, "*", "i", what.puts[0].header.id.text());
    ASSERT_EQ(commit(what), Verdict::committed);
    EXPECT_EQ(length(), 2);
    EXPECT_EQ(claim().size(), 1U);
    EXPECT_EQ(length(), 1);
    EXPECT_EQ(pending(), 1);
}

TEST_F(Redis, a_commit_that_stops_half_way_is_mended_by_running_it_again) {
    open();
    const Change first = submission();
    Change second = submission(task("broken"));
    second.appends.push_back({"ledger", second.puts[0].header.id, "row", Bytes("x"), {}});
    second.adds.push_back({"credits", 1, std::nullopt, std::nullopt});
    const Change third = submission();
    call("SET", "{hf:0}:lane:broken||5|", "in the way");
    EXPECT_EQ(ask(store().commit({first, second, third})).error().code, Code::unavailable);
    const auto loaded = value_of(ask(store().load(
        {first.puts[0].header.key(), second.puts[0].header.key(), third.puts[0].header.key()})));
    EXPECT_TRUE(loaded[0]) << "what came before is whole";
    EXPECT_FALSE(loaded[1]);
    EXPECT_FALSE(loaded[2]) << "what comes after was not tried";
    EXPECT_EQ(value_of(ask(store().feed("", 10))).events.size(), 1U);
    EXPECT_EQ(claim().size(), 1U);

    call("DEL", "{hf:0}:lane:broken||5|");
    const auto again = value_of(ask(store().commit({first, second, third})));
    EXPECT_EQ(again[0].verdict, Verdict::conflict) << "it is there: its nonce tells whose it is";
    EXPECT_EQ(again[1].verdict, Verdict::committed);
    EXPECT_TRUE(again[1].skipped.empty());
    EXPECT_EQ(again[2].verdict, Verdict::committed);
    EXPECT_EQ(value_of(ask(store().feed("", 10))).events.size(), 4U);  // and the claim
    EXPECT_EQ(value_of(ask(store().count({{Tally::Of::counter, kHome, "credits"}}))).at(0), 1);
}

TEST_F(Redis, the_sweep_finds_nothing_to_mend_where_all_is_well) {
    for (const bool pel : {false, true}) {
        open({.pel_queues = pel ? std::set<std::string, std::less<>>{"*"}
                                : std::set<std::string, std::less<>>{}});
        for (int i = 0; i < 6; ++i) submit();
        const std::vector<Record> held = claim(4);
        complete(held.at(0));
        fail(held.at(1), 1h);
        fail(held.at(2));
        tick(held.at(2).header.id);
        EXPECT_EQ(value_of(ask(store().reconcile())), 0U);
        EXPECT_EQ(claim(10).size(), 3U);
    }
}

TEST_F(Redis, the_sweep_pushes_a_queued_task_again_whose_entry_is_gone) {
    open();
    const Uuid id = submit();
    submit();
    call("XDEL", kLane, field(id, "x"));
    EXPECT_EQ(claim().size(), 1U);
    EXPECT_EQ(value_of(ask(store().reconcile())), 1U);
    EXPECT_EQ(claim().at(0).header.id, id);
    EXPECT_EQ(value_of(ask(store().reconcile())), 0U);
}

TEST_F(Redis, the_sweep_pushes_a_queued_task_again_whose_entry_was_taken_by_a_claim_that_died) {
    open();
    const Uuid id = submit();
    call("XREADGROUP", "GROUP", "workers", "somebody", "STREAMS", kLane, ">");
    EXPECT_TRUE(claim().empty());
    EXPECT_EQ(value_of(ask(store().reconcile())), 1U);
    EXPECT_EQ(claim().at(0).header.id, id);
    EXPECT_EQ(pending(), 1);
    EXPECT_EQ(length(), 1);
}

TEST_F(Redis, the_sweep_gives_a_held_task_its_timer_back) {
    open();
    submit();
    const Record held = claim().at(0);
    call("DEL", "{hf:0}:wake");
    EXPECT_EQ(value_of(ask(store().reconcile())), 1U);
    EXPECT_EQ(load(held.header.id).header.wake_at, held.header.lease_until);
}

TEST_F(Redis, the_sweep_drops_pending_entries_that_are_nobodys) {
    open();
    const Uuid id = submit();
    complete(claim().at(0));
    const std::string a_minute_ago =
        std::to_string(now().time_since_epoch().count() / 1000 - 61'000);
    // As a half-run script may leave them; the clock of the stream is set back for it.
    call("DEL", kLane);
    call("XGROUP", "CREATE", kLane, "workers", "0", "MKSTREAM");
    call("XADD", kLane, a_minute_ago + "-1", "i", mint_.mint(kHome, now()).text());
    call("XADD", kLane, a_minute_ago + "-2", "i", id.text());
    call("XADD", kLane, "*", "i", mint_.mint(kHome, now()).text());
    call("XREADGROUP", "GROUP", "workers", "somebody", "STREAMS", kLane, ">");
    EXPECT_EQ(value_of(ask(store().reconcile())), 2U);
    EXPECT_EQ(pending(), 1) << "the record of the last may still come";
    EXPECT_EQ(length(), 1);
}

TEST_F(Redis, when_another_server_has_taken_over_what_it_lost_is_mended_by_itself) {
    const auto server = value_of(RedisServer::start({"--appendonly", "yes"}));
    open({}, *server);
    const Uuid id = submit();
    call("XDEL", kLane, field(id, "x"));  // as if that write had been lost with the old server
    server->stop();
    ASSERT_TRUE(server->start_again());
    ClaimRequest request;
    request.queues.emplace_back().name = "default";
    request.max = 1;
    std::vector<Record> claimed;
    for (int tries = 0; claimed.empty() && tries < 2000; ++tries) {
        if (auto some = ask(store().claim(request))) claimed = *std::move(some);
        std::this_thread::sleep_for(2ms);
    }
    ASSERT_EQ(claimed.size(), 1U);
    EXPECT_EQ(claimed[0].header.id, id);
    store_.reset();  // before its server
}

// ---- memory ----

TEST_F(Redis, when_memory_is_used_up_new_work_is_refused_and_what_is_under_way_ends) {
    open();
    for (int i = 0; i < 3; ++i) submit();
    const std::vector<Record> held = claim(1);
    call("CONFIG", "SET", "maxmemory", "1");
    const Change late = submission();
    Change done =
        domain::decide(held.at(0), domain::Complete{held[0].header.fence(), {}}, now()).value();
    const auto outcomes = value_of(ask(store().commit({late, done})));
    EXPECT_EQ(outcomes[0].verdict, Verdict::refused);
    EXPECT_TRUE(outcomes[0].reason.contains("memory")) << outcomes[0].reason;
    EXPECT_EQ(outcomes[1].verdict, Verdict::committed);
    const std::vector<Record> next = claim(1);
    ASSERT_EQ(next.size(), 1U) << "and the next is handed out";
    EXPECT_TRUE(
        value_of(ask(store().renew({{next[0].header.id, next[0].header.fence(), 1h, {}, {}}})))
            .at(0)
            .held);
    call("CONFIG", "SET", "maxmemory", "0");
    EXPECT_EQ(commit(late), Verdict::committed);
}

TEST_F(Redis, a_finished_task_leaves_nothing_behind) {
    open();
    const auto keys = [&] { return call("DBSIZE").root().integer(); };
    domain::Submission what = task();
    what.payload = Json::quoted(std::string(2000, 'x'));
    what.policy.max = 1;
    for (int i = 0; i < 3; ++i) submit(what);
    const std::vector<Record> held = claim();
    complete(held[0]);
    step(held[1], domain::Fail{held[1].header.fence(),
                               {domain::ErrorKind::permanent, std::string(300, 'y'), {}, {}},
                               std::nullopt});
    step(load(held[1].header.id), domain::Discard{});
    complete(held[2]);
    std::this_thread::sleep_for(5ms);
    TrimRequest request;
    request.finished_before = request.feed_before = now();
    EXPECT_EQ(value_of(ask(store().trim(request))), 3U);
    EXPECT_EQ(call("KEYS", "*task*").root().size(), 0U);
    EXPECT_LE(keys(), 8) << "meta, turn, the lane, its name, and where DLQ, feed and done end";
}

// ---- opening ----

TEST_F(Redis, it_opens_only_what_keeps_what_it_accepts_and_says_what_to_type) {
    const auto refusal = [&](const std::vector<std::string>& settings, RedisOptions options = {}) {
        const auto server = value_of(RedisServer::start(settings));
        try {
            RedisStoreFixture opened(
                io_, [&] { return "redis://127.0.0.1:" + std::to_string(server->port()); },
                std::move(options));
            return std::string(opened.store().durability());
        } catch (const std::runtime_error& error) {
            return std::string(error.what());
        }
    };
    EXPECT_TRUE(refusal({"--appendonly", "no"}).contains("CONFIG SET appendonly yes"));
    EXPECT_EQ(refusal({"--appendonly", "no"}, {.accept_loss = true}), "none");
    EXPECT_TRUE(refusal({"--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"})
                    .contains("CONFIG SET maxmemory-policy noeviction"));
    EXPECT_EQ(refusal({"--appendonly", "yes"}), "everysec");
    EXPECT_EQ(refusal({"--appendonly", "yes", "--appendfsync", "always"}), "always");
    EXPECT_EQ(refusal({"--appendonly", "yes", "--rename-command", "CONFIG", ""}), "unknown");
    EXPECT_TRUE(refusal({"--appendonly", "yes"}, {.wait_fsync = true}).contains("7.2"));
    EXPECT_TRUE(refusal({"--appendonly", "yes"}, {.prefix = "{x}"}).contains("prefix"));
    EXPECT_TRUE(refusal({"--appendonly", "yes"}, {.partitions = 3}).contains("partitions"));
}

TEST_F(Redis, the_number_of_partitions_is_fixed_and_so_is_the_schema) {
    open({.partitions = 4});
    EXPECT_EQ(store().partitions(), 4U);
    const auto opened = [&](std::uint32_t partitions) -> std::string {
        try {
            RedisStoreFixture again(io_, [this] { return url(); }, {.partitions = partitions});
            return std::to_string(again.store().partitions());
        } catch (const std::runtime_error& error) {
            return error.what();
        }
    };
    EXPECT_EQ(opened(0), "4");
    EXPECT_EQ(opened(4), "4");
    EXPECT_TRUE(opened(8).contains("made with 4 partitions"));
    call("HSET", "{hf:0}:meta", "schema", 2);
    EXPECT_TRUE(opened(4).contains("schema 2"));
}

TEST_F(Redis, a_commit_that_waits_for_replicas_that_are_not_there_is_unavailable) {
    open({.wait_replicas = 1, .wait_timeout = 50ms});
    EXPECT_EQ(store().durability(), "everysec+wait");
    const auto outcome = ask(store().commit({submission()}));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::unavailable);
}

TEST_F(Redis, two_prefixes_on_one_server_know_nothing_of_one_another) {
    open();
    submit();
    RedisStoreFixture other(io_, [this] { return url(); }, {.prefix = "test"});
    ClaimRequest request;
    request.queues.emplace_back().name = "default";
    request.max = 10;
    EXPECT_TRUE(value_of(ask(other.store().claim(request))).empty());
    EXPECT_EQ(claim().size(), 1U);
}

// ---- several partitions ----

TEST_F(Redis, over_partitions_a_claim_takes_no_more_than_asked_for_and_in_the_end_everything) {
    open({.partitions = 16});
    std::vector<Change> changes;
    for (std::uint16_t i = 0; i < 200; ++i) {
        const Time at = now();
        changes.push_back(
            domain::decide_submit(task(), mint_.mint(mint_.random_partition(), at), at));
    }
    ASSERT_TRUE(ask(store().commit(std::move(changes))));
    std::set<Uuid> taken;
    for (const std::uint32_t max : {1U, 3U, 7U, 20U, 100U, 100U, 1U}) {
        const std::vector<Record> some = claim(max);
        EXPECT_EQ(some.size(), std::min<std::size_t>(max, 200 - taken.size()));
        for (const Record& record : some) EXPECT_TRUE(taken.insert(record.header.id).second);
    }
    EXPECT_EQ(taken.size(), 200U);
    EXPECT_EQ(value_of(ask(store().stats()))
                  .queues.at(0)
                  .by_state.at(static_cast<std::size_t>(State::running)),
              200U);
}

TEST_F(Redis, over_partitions_lists_feeds_and_timers_are_one) {
    open({.partitions = 16});
    std::set<Uuid> ids;
    domain::Submission later = task();
    later.delay = 1ms;
    for (std::uint16_t i = 0; i < 50; ++i) {
        const Time at = now();
        const Uuid id = mint_.mint(mint_.random_partition(), at);
        ASSERT_EQ(commit(domain::decide_submit(later, id, at)), Verdict::committed);
        ids.insert(id);
    }
    std::string cursor;
    std::vector<Time> made;
    std::set<Uuid> listed;
    do {
        const Page page = value_of(ask(store().list({}, cursor, 7, kListBudget)));
        for (const ListRow& row : page.rows) {
            made.push_back(row.header.created_at);
            listed.insert(row.header.id);
        }
        cursor = page.next;
    } while (!cursor.empty());
    EXPECT_EQ(listed, ids);
    EXPECT_TRUE(std::ranges::is_sorted(made, std::greater{}));

    std::set<Uuid> told;
    for (FeedPage page;; cursor = page.next) {
        page = value_of(ask(store().feed(cursor, 7)));
        if (page.events.empty()) break;
        for (const auto& event : page.events) EXPECT_TRUE(told.insert(event.subject.id).second);
    }
    EXPECT_EQ(told, ids);

    std::this_thread::sleep_for(5ms);
    std::set<Uuid> rung;
    for (int i = 0; i < 10; ++i) {
        for (const Record& record : value_of(ask(store().due(7)))) {
            EXPECT_TRUE(rung.insert(record.header.id).second);
        }
        EXPECT_LE(rung.size(), static_cast<std::size_t>(7 * (i + 1)));
    }
    EXPECT_EQ(rung, ids);
}

// ---- sharing scripts ----

Async<bool> commit_one(RedisStore* store, Change change) {
    std::vector<Change> one;
    one.push_back(std::move(change));
    const auto outcomes = co_await store->commit(std::move(one));
    co_return outcomes && outcomes->at(0).verdict == Verdict::committed;
}

TEST_F(Redis, what_is_asked_at_the_same_time_shares_a_script) {
    open();
    const auto calls = [&] {
        const Reply reply = call("INFO", "commandstats");
        const std::string_view text = reply.root().text();
        const std::size_t at = text.find("cmdstat_evalsha:calls=");
        return std::strtoul(text.data() + at + 22, nullptr, 10);
    };
    std::vector<Change> changes;
    for (int i = 0; i < 100; ++i) changes.push_back(submission());
    submit();
    const auto before = calls();
    std::size_t committed = 0;
    std::size_t open = changes.size();
    for (Change& change : changes)
        asio::co_spawn(io_, commit_one(&store(), std::move(change)),
                       [&](const std::exception_ptr&, bool done) {
                           committed += done ? 1 : 0;
                           --open;
                       });
    while (open > 0) {
        if (io_.stopped()) io_.restart();
        io_.run_one();
    }
    EXPECT_EQ(committed, 100U);
    EXPECT_LE(calls() - before, 4U);
}

}  // namespace
}  // namespace holdfast::stores
