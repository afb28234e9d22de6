// The index uses no chance and no clock: the same calls give the same index.
#include "stores/memory/index.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "domain/decide.h"

namespace holdfast::stores::memory {
namespace {

using namespace std::chrono_literals;

/// Submits, claims, ends, fails, renews and wakes at random, and writes down all that the index answers.
class Walk {
  public:
    explicit Walk(std::uint64_t seed) : rng_(seed), mint_(Rng(seed + 1)) {}

    void step() {
        now_ += Duration{rng_.below(2'000'000)};
        switch (rng_.below(8)) {
            case 0:
            case 1:
            case 2:
                return submit();
            case 3:
                return claim();
            case 4:
                return end();
            case 5:
                return tick();
            case 6:
                return look();
            default:
                said_.push_back(
                    std::to_string(index_.trim({now_ - 1min, now_ - 1min, {}, 10}, now_)));
        }
    }
    const std::vector<std::string>& said() const { return said_; }

  private:
    std::string name(const char* prefix, std::uint64_t below) {
        return prefix + std::to_string(rng_.below(below));
    }
    void commit(Change change) {
        change.nonce = rng_() | 1;
        const Outcome outcome = index_.commit(change, now_);
        said_.push_back(std::to_string(static_cast<int>(outcome.verdict)) + outcome.reason);
    }
    void submit() {
        domain::Submission s;
        s.type = name("t", 3);
        s.queue = name("q", 3);
        s.priority = static_cast<std::uint8_t>(rng_.below(10));
        if (rng_.chance(0.5)) s.tenant = name("tenant", 5);
        if (rng_.chance(0.3)) s.idempotency_key = name("k", 20);
        if (rng_.chance(0.3)) s.delay = Duration{rng_.below(10'000'000)};
        if (rng_.chance(0.4)) {
            s.gate = name("g", 4);
            s.gate_limit = 1 + static_cast<std::uint32_t>(rng_.below(2));
        }
        s.lane_by_type = rng_.chance(0.2);
        commit(domain::decide_submit(s, mint_.mint(Partition{1}, now_), now_));
    }
    void claim() {
        ClaimRequest r;
        r.queues = {{name("q", 3), {}}, {name("q", 3), {}}};
        r.queues[0].concurrency = static_cast<std::uint32_t>(rng_.below(4));
        r.worker = name("w", 4);
        r.max = 1 + static_cast<std::uint32_t>(rng_.below(4));
        for (Record& record : index_.claim(r, now_)) {
            said_.push_back(record.header.id.text() + std::to_string(record.header.attempt));
            held_.push_back(std::move(record));
        }
    }
    void end() {
        if (held_.empty()) return;
        const auto chosen = held_.begin() + static_cast<std::ptrdiff_t>(rng_.below(held_.size()));
        const domain::Fence fence = chosen->header.fence();
        index_.renew({chosen->header.id, fence, {}, 0.5F, {}}, now_);
        const domain::Failure failure{domain::ErrorKind::transient, name("e", 3), "", ""};
        const auto decision = rng_.chance(0.5)
                                  ? decide(*chosen, domain::Complete{fence, {}}, now_)
                                  : decide(*chosen, domain::Fail{fence, failure, {}}, now_);
        if (decision) commit(*decision);
        held_.erase(chosen);
    }
    void tick() {
        for (const Record& record : index_.due(5, now_)) {
            said_.push_back(record.header.id.text());
            if (const auto decision = decide(record, domain::Tick{}, now_)) commit(*decision);
        }
    }
    void look() {
        Filter filter;
        if (rng_.chance(0.5)) filter.queue = name("q", 3);
        if (rng_.chance(0.3)) filter.tenant = name("tenant", 5);
        const Page page = index_.list(filter, {}, 20, 50);
        for (const ListRow& row : page.rows)
            said_.push_back(row.header.id.text() + (row.in_lane ? "+" : "-"));
        said_.push_back(page.next);
        for (const QueueCounts& c : index_.stats().queues) {
            said_.push_back(c.queue + c.type);
            for (const std::uint64_t n : c.by_state) said_.back() += ',' + std::to_string(n);
        }
        for (const FailureCounts& c : index_.stats().failures)
            said_.push_back(std::to_string(c.fingerprint));
        const FeedPage feed = index_.feed(place_, 50);
        place_ = feed.next;
        for (const auto& event : feed.events) said_.push_back(event.name + event.subject.id.text());
    }

    Rng rng_;
    UuidMint mint_;
    Time now_{std::chrono::sys_days{std::chrono::January / 5 / 2026}};
    Index index_;
    std::vector<Record> held_;
    std::string place_;
    std::vector<std::string> said_;
};

TEST(Index, the_same_calls_give_the_same_answers) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Walk a(seed), b(seed);
        std::vector<std::string> elsewhere(seed *
                                           100);  // nor does it matter where things lie in memory
        for (int i = 0; i < 1000; ++i) a.step();
        for (int i = 0; i < 1000; ++i) b.step();
        ASSERT_EQ(a.said(), b.said()) << "seed " << seed;
        ASSERT_GT(a.said().size(), 1000U);
    }
}

TEST(Index, another_seed_is_another_walk) {
    Walk a(1), b(2);
    for (int i = 0; i < 100; ++i) a.step(), b.step();
    EXPECT_NE(a.said(), b.said()) << "the walk above would not notice anything";
}

TEST(Index, what_is_erased_leaves_nothing_behind_for_the_next_in_its_place) {
    Index index;
    const Time now{std::chrono::sys_days{std::chrono::January / 5 / 2026}};
    domain::Submission full;
    full.type = "t";
    full.tenant = "acme";
    full.gate = "g";
    full.gate_limit = 1;
    full.labels = {{"k", "v"}};
    full.lease = 1min;
    const Uuid first = Uuid::named(Partition{1}, "first"),
               second = Uuid::named(Partition{1}, "second");
    index.commit(domain::decide_submit(full, first, now), now);
    const Record queued = *index.load({domain::Kind::task, first});
    index.commit(decide(queued, domain::Discard{{"ann", "why"}}, now).value(), now);
    ASSERT_EQ(index.trim({now + 1h, now, {}, 10}, now + 1h), 1U);

    domain::Submission plain;
    plain.type = "t";
    index.commit(domain::decide_submit(plain, second, now), now);
    const Change expected = domain::decide_submit(plain, second, now);
    EXPECT_EQ(index.load({domain::Kind::task, second})->header, expected.puts[0].header);
    EXPECT_EQ(index.history({domain::Kind::task, second}).size(), 1U);
    EXPECT_FALSE(index.load({domain::Kind::task, first}));
    EXPECT_EQ(index.stats().queues.size(), 1U);
}

TEST(Index, a_record_of_another_kind_keeps_the_timer_and_the_note_it_was_given) {
    Index index;
    const Time now{std::chrono::sys_days{std::chrono::January / 5 / 2026}};
    for (std::uint64_t version = 1; version <= 3; ++version) {
        domain::Put put;
        put.header.kind = domain::Kind::bulk;
        put.header.id = Uuid::named(Partition{1}, "job");
        put.header.state = State::running;
        put.header.version = version;
        put.header.created_at = now;
        put.header.wake_at = now + std::chrono::seconds{version};
        put.header.note = "place " + std::to_string(version);
        put.expected_version = version - 1;
        Change change;
        change.partition = Partition{1};
        change.puts.push_back(put);
        ASSERT_EQ(index.commit(change, now).verdict, Verdict::committed);
        const Header stored = index.load(put.header.key())->header;
        EXPECT_EQ(stored.wake_at, put.header.wake_at) << "a lease is a task's, and it has none";
        EXPECT_EQ(stored.note, put.header.note);
    }
    EXPECT_EQ(index.due(10, now + 3s).size(), 1U);
}

}  // namespace
}  // namespace holdfast::stores::memory
