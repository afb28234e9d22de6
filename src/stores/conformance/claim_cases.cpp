// claim: who gets what, in which order, under which stamp.
#include "domain/decide.h"
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;

domain::Submission of_priority(std::uint8_t priority, std::string gate = "") {
    domain::Submission s = new_task();
    s.priority = priority;
    s.gate = std::move(gate);
    return s;
}

domain::Submission of_type(std::string type) {
    domain::Submission s = new_task("typed", std::move(type));
    s.lane_by_type = true;
    return s;
}

TEST_P(Claims, P15_only_from_the_queues_asked_for) {
    submit("a");
    const Uuid b = submit("b").header.id;
    const Uuid c = submit("c").header.id;
    EXPECT_TRUE(claim(asking("nobody-knows-it", 10)).empty());
    ClaimRequest request = asking("b", 10);
    request.queues.emplace_back().name = "c";
    std::vector<Uuid> ids = claim_ids(request);
    std::ranges::sort(ids);
    EXPECT_EQ(ids, (std::vector{std::min(b, c), std::max(b, c)}));
    EXPECT_TRUE(claim(request).empty()) << "what is held is not handed out again";
}

TEST_P(Claims, P15_only_of_the_types_asked_for) {
    const Uuid a = submit(of_type("a")).header.id;
    const Uuid b = submit(of_type("b")).header.id;
    const Uuid c = submit(of_type("c")).header.id;
    ClaimRequest request = asking("typed", 10);
    request.queues[0].types = {"nobody-knows-it"};
    EXPECT_TRUE(claim(request).empty());
    request.queues[0].types = {"b"};
    EXPECT_EQ(claim_ids(request), std::vector{b});
    request.queues[0].types = {};
    std::vector<Uuid> rest = claim_ids(request);
    std::ranges::sort(rest);
    EXPECT_EQ(rest, (std::vector{a, c})) << "none named: all";
}

TEST_P(Claims, P15_a_higher_priority_first) {
    std::vector<Uuid> by_priority(10);
    for (const int p : {3, 9, 0, 7, 1, 5, 8, 2, 6, 4})
        by_priority[static_cast<std::size_t>(9 - p)] =
            submit(of_priority(static_cast<std::uint8_t>(p))).header.id;
    EXPECT_EQ(claim_ids(asking("default")), std::vector{by_priority[0]});
    EXPECT_EQ(claim_ids(asking("default", 20)),
              std::vector(by_priority.begin() + 1, by_priority.end()));
}

// Between queues no priority is promised: each is a line of its own. But nobody is forgotten.
TEST_P(Claims, P15_no_queue_that_was_asked_for_starves_behind_another) {
    for (int i = 0; i < 12; ++i) {
        submit("a");
        submit("b");
    }
    ClaimRequest request = asking("a");
    request.queues.emplace_back().name = "b";
    std::map<std::string, int> taken;
    for (int i = 0; i < 12; ++i) ++taken[claim(request).at(0).header.queue];
    EXPECT_GE(taken["a"], 3);
    EXPECT_GE(taken["b"], 3);
}

TEST_P(Claims, P15_the_gates_of_one_priority_in_turn) {
    constexpr std::size_t kEach = 6;
    for (const char* gate : {"busy", "quiet", ""}) {
        for (std::size_t i = 0; i < kEach; ++i) submit(of_priority(5, gate));
    }
    std::map<std::string, std::size_t> taken;
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 3; ++i) ++taken[claim_one().header.gate];
        for (const auto& [gate, count] : taken)
            EXPECT_EQ(count, static_cast<std::size_t>(round) + 1) << '"' << gate << '"';
        EXPECT_EQ(taken.size(), 3U);
    }
    for (const Record& record : claim(asking("default", 6))) ++taken[record.header.gate];
    for (const auto& [gate, count] : taken) EXPECT_EQ(count, 4U) << '"' << gate << '"';
}

TEST_P(Claims, P15_the_types_of_one_priority_in_turn) {
    for (const char* type : {"busy", "quiet"}) {
        for (int i = 0; i < 4; ++i) submit(of_type(type));
    }
    std::map<std::string, int> taken;
    for (int i = 0; i < 4; ++i) ++taken[claim_one("typed").header.type];
    EXPECT_EQ(taken, (std::map<std::string, int>{{"busy", 2}, {"quiet", 2}}));
}

TEST_P(Claims, P15_in_a_lane_first_in_first_out) {
    std::vector<Uuid> ids(150);
    for (Uuid& id : ids) id = submit().header.id;
    std::vector<Uuid> claimed = claim_ids(asking("default", 1));
    for (const std::uint32_t max : {9U, 40U, 200U})
        std::ranges::copy(claim_ids(asking("default", max)), std::back_inserter(claimed));
    EXPECT_EQ(claimed, ids);
}

TEST_P(Claims, P15_never_more_than_asked_for_in_all_or_from_a_queue) {
    for (int i = 0; i < 5; ++i) {
        submit("a");
        submit("b");
    }
    ClaimRequest request = asking("a", 3);
    request.queues[0].max = 1;
    request.queues.emplace_back().name = "b";
    const auto from_a = [](const std::vector<Record>& records) {
        return std::ranges::count_if(records,
                                     [](const Record& r) { return r.header.queue == "a"; });
    };
    const std::vector<Record> some = claim(request);
    EXPECT_EQ(some.size(), 3U);
    EXPECT_LE(from_a(some), 1);
    request.queues[0].max = 0;
    request.max = 100;
    const std::vector<Record> rest_of_b = claim(request);
    EXPECT_EQ(from_a(rest_of_b), 0);
    EXPECT_EQ(rest_of_b.size(), 5U - (some.size() - static_cast<std::size_t>(from_a(some))));
    request.queues[0].max = 2;
    EXPECT_EQ(claim(request).size(), 2U);
    request.queues[0].max = 100;
    request.max = 0;
    EXPECT_TRUE(claim(request).empty());
}

TEST_P(Claims, P16_a_claim_stamps_state_attempt_epoch_lease_and_worker) {
    const Record task = submit();
    ClaimRequest request = asking("default");
    request.to = State::dispatched;
    request.worker = "node-7";
    const Time before = now();
    const Record held = claim(request).at(0);
    const Header& h = held.header;
    EXPECT_EQ(h.state, State::dispatched);
    EXPECT_EQ(h.version, task.header.version + 1);
    EXPECT_EQ(h.attempt, 1U);
    EXPECT_EQ(h.worker, "node-7");
    EXPECT_EQ(h.nonce, 0U);
    EXPECT_GE(h.updated_at, before);
    EXPECT_LE(h.updated_at, now());
    EXPECT_EQ(h.lease_until, h.updated_at + domain::kDefaultLease) << "nobody named one";
    EXPECT_EQ(h.epoch, domain::next_epoch(domain::Epoch{0}, h.updated_at));
    EXPECT_EQ(difference(held, load(h.id)), "") << "what is handed out is what is stored";
}

TEST_P(Claims, P16_the_lease_is_the_requests_else_the_tasks_else_the_default) {
    domain::Submission own = new_task("own");
    own.lease = 90s;
    submit(own);
    const Header by_task = claim_one("own").header;
    EXPECT_EQ(by_task.lease_until - by_task.updated_at, 90s);
    submit(own);
    ClaimRequest request = asking("own");
    request.lease = 7s;
    const Header by_request = claim(request).at(0).header;
    EXPECT_EQ(by_request.lease_until - by_request.updated_at, 7s);
}

TEST_P(Claims, P16_epochs_of_a_task_strictly_grow_though_the_clock_stands_still) {
    submit();
    domain::Epoch last{};
    for (std::uint32_t attempt = 1; attempt <= 5; ++attempt) {
        const Record held = claim_one();
        EXPECT_GT(held.header.epoch, last);
        EXPECT_EQ(held.header.attempt, attempt);
        last = held.header.epoch;
        yield(held);
    }
}

TEST_P(Claims, P16_an_epoch_is_never_behind_the_clock_so_lost_writes_cannot_repeat_it) {
    const Record task = submit();
    const Record held = claim_one();
    pass(moment());
    // The claim is lost with the machine: the task is again what it was before.
    apply(rewrite(task.header, held.header));
    const Record again = claim_one();
    EXPECT_GT(again.header.epoch, held.header.epoch);
    EXPECT_GE(static_cast<std::int64_t>(again.header.epoch),
              again.header.updated_at.time_since_epoch().count());
}

TEST_P(Claims, P18_a_claim_writes_history_feed_and_counts_in_the_same_step) {
    HOLDFAST_NEEDS(Ability::history, Ability::feed, Ability::stats);
    submit();
    const Record held = claim_one();
    const domain::Transition transition = domain::claim_transition(held.header, State::queued);
    const auto rows = history(held.header.key());
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[1], transition);
    const auto events = feed_of(held.header.key());
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1], event_of(held.header, transition));
    EXPECT_EQ(counts(), (Counted{{{"default", "work", State::running}, 1}}));
}

// ---- the claim of a store is the claim of the domain ----

ClaimRequest random_request(Rng& rng, bool permits) {
    ClaimRequest request;
    for (int q = 0; q < 4; ++q) {
        ClaimQueue& queue = request.queues.emplace_back();
        queue.name = "queue-" + std::to_string(q);
        queue.concurrency = permits && rng.chance(0.5) ? 100'000 : 0;
    }
    request.worker = "worker-" + std::to_string(rng.below(1000));
    request.to = rng.chance(0.5) ? State::running : State::dispatched;
    request.lease = rng.chance(0.5)
                        ? Duration{0}
                        : Duration{static_cast<std::int64_t>(1 + rng.below(90'000'000))};
    request.max = 64;
    return request;
}

TEST_P(Claims, P16_P18_claim_equals_what_decide_says_for_random_tasks) {
    constexpr std::size_t kTasks = 400;
    constexpr std::size_t kBatch = 20;
    Rng rng(7);
    std::size_t compared = 0;
    for (std::size_t done = 0; done < kTasks; done += kBatch) {
        std::map<Uuid, Record> before;
        for (std::size_t i = 0; i < kBatch; ++i) {
            Header header = random_queued(rng, new_id(), now());
            if (!can(Ability::permits)) header.gate_limit = 0;
            Change change = rewrite(header);
            change.puts[0].body = Bytes("body " + std::to_string(rng()));
            change.puts[0].outcome = Bytes("outcome " + std::to_string(rng()));
            before[header.id] = apply(change);
        }
        pass(Duration{static_cast<std::int64_t>(rng.below(2000))});
        const ClaimRequest request = random_request(rng, can(Ability::permits));
        for (const Record& after : claim(request)) {
            const Record& old = before.at(after.header.id);
            const domain::Put put = claim_put(old, request, after.header.updated_at);
            const Record expected{put.header, old.body, old.outcome};
            ASSERT_EQ(difference(after, expected), "") << "handed out; expected";
            ASSERT_EQ(difference(load(after.header.id), expected), "") << "stored; expected";
            if (can(Ability::history))
                ASSERT_EQ(history(after.header.key()).back(), put.transition);
            if (can(Ability::time_control)) ASSERT_EQ(after.header.updated_at, now());
            ++compared;
        }
    }
    EXPECT_EQ(compared, kTasks);
}

}  // namespace
}  // namespace holdfast::stores::conformance
