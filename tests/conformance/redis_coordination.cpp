// The coordination suite on a redis-server that this program starts; and what only several processes can do wrong.
#include "coordination/redis/redis_coordination.h"

#include <list>
#include <set>

#include "base/clock.h"
#include "coordination/conformance/suite.h"
#include "redis/redis.h"
#include "testing/redis_server.h"

namespace holdfast::coordination::conformance {
namespace {

using namespace std::chrono_literals;

/// One server for all cases.
holdfast::testing::RedisServer& server() {
    static const auto server = [] {
        auto started = holdfast::testing::RedisServer::start({"--appendonly", "yes"});
        if (!started) throw std::runtime_error(started.error().detail);
        return *std::move(started);
    }();
    return *server;
}

redis::Options options() {
    redis::Options options;
    options.addresses = {{"127.0.0.1", server().port()}};
    return options;
}

class RedisFixture final : public Fixture {
  public:
    RedisFixture() { start(plain_); }
    ~RedisFixture() override {
        for (Member& member : members_) member.coordination.on_hint(nullptr);
        for (Member& member : members_) {
            run(member.coordination.stop());
            run(member.client.stop());
        }
        run(plain_.stop());
    }

    Coordination& join(std::string instance) override {
        return members_.emplace_back(*this, std::move(instance)).coordination;
    }
    void pass(Duration time) override {
        asio::steady_timer timer(io(), time);
        bool over = false;
        timer.async_wait([&](const boost::system::error_code&) { over = true; });
        while (!over) io().run_one();
    }
    void run_until(const std::function<bool()>& done) override {
        io().restart();
        const Time limit = clock_.now() + 5s;
        while (!done() && clock_.now() < limit) io().run_one_for(10ms);
    }
    redis::Reply call(redis::Command command) {
        std::optional<Result<redis::Reply>> got;
        asio::co_spawn(
            io(), plain_.call(std::move(command)),
            [&](const std::exception_ptr&, Result<redis::Reply> r) { got = std::move(r); });
        run_until([&] { return got.has_value(); });
        return got.value().value();
    }
    Clock& clock() { return clock_; }
    redis::Client& plain() { return plain_; }

  private:
    struct Member {
        Member(RedisFixture& f, std::string instance)
            : client(options(), f.clock_, f.io().get_executor()),
              coordination(client, {.prefix = "test", .instance = std::move(instance)}, f.clock_,
                           f.io().get_executor()) {
            f.start(client);
            // Whether it hears anything only the server can say.
            const auto wanted = static_cast<std::int64_t>(f.members_.size() + 1);
            f.run_until([&] {
                const redis::Reply said = f.call(redis::Command("PUBSUB", "NUMSUB", "test:hints"));
                return said.root()[1].integer() >= wanted;
            });
        }
        redis::Client client;
        RedisCoordination coordination;
    };

    template <class T>
    void run(Async<T> work) {
        bool done = false;
        asio::co_spawn(io(), std::move(work),
                       [&](const std::exception_ptr&, auto&&...) { done = true; });
        run_until([&] { return done; });
    }
    void start(redis::Client& client) {
        bool done = false;
        asio::co_spawn(io(), client.start(), [&](const std::exception_ptr&, const Result<>& r) {
            if (!r) throw std::runtime_error(r.error().detail);
            done = true;
        });
        run_until([&] { return done; });
        if (&client == &plain_) call(redis::Command("FLUSHALL"));
    }

    SystemClock clock_;
    redis::Client plain_{options(), clock_, io().get_executor()};
    std::list<Member> members_;
};

Backend redis_backend() {
    return {"redis", [] { return std::make_unique<RedisFixture>(); }};
}

// ---- what is in the server ----

class RedisLocks : public ::testing::Test {
  protected:
    template <class T>
    T ask(Async<Result<T>> question) {
        std::optional<Result<T>> got;
        asio::co_spawn(redis.io(), std::move(question),
                       [&](const std::exception_ptr&, Result<T> r) { got = std::move(r); });
        redis.run_until([&] { return got.has_value(); });
        return got.value().value();
    }
    std::int64_t number(redis::Command command) {
        return redis.call(std::move(command)).root().integer();
    }
    RedisFixture redis;
};

TEST_F(RedisLocks, a_lock_is_a_key_that_goes_with_its_last_holder) {
    Coordination& c = redis.join("one");
    const auto lock = ask(c.acquire({"tenant:7", "task-1", 1h, 2}));
    ASSERT_TRUE(lock);
    const auto expires = [&] { return number(redis::Command("PTTL", "{test:c}:lock:tenant:7")); };
    EXPECT_GT(expires(), 3'500'000);
    ASSERT_TRUE(ask(c.acquire({"tenant:7", "task-2", 1min, 2})));
    EXPECT_GT(expires(), 3'500'000) << "the first one holds it longer";
    ASSERT_TRUE(ask(c.renew(*lock, 2h)));
    EXPECT_GT(expires(), 7'100'000);
    ASSERT_TRUE(ask(c.release(*lock)));
    EXPECT_EQ(number(redis::Command("ZCARD", "{test:c}:lock:tenant:7")), 1);
}

TEST_F(RedisLocks, a_fence_is_not_given_again_by_a_server_that_forgot_everything) {
    Coordination& c = redis.join("one");
    const auto before = ask(c.acquire({"k", "a", 1h, 1}));
    redis.call(redis::Command("FLUSHALL"));
    const auto after = ask(c.acquire({"k", "b", 1h, 1}));
    ASSERT_TRUE(after);
    EXPECT_GT(after->fence, before->fence);
}

// ---- three fight over one lock, and die ----

/// Takes the lock, writes under it, renews it; now and then dies: it stops renewing, and writes once more, late,
/// with the fence it had.
class Contender {
  public:
    Contender(Coordination& c, redis::Client& client, RedisFixture& f, std::uint64_t seed)
        : coordination_(c),
          client_(client),
          clock_(f.clock()),
          alarm_(f.clock(), f.io().get_executor()),
          rng_(seed) {}

    Async<void> run(int rounds) {
        for (int i = 0; i < rounds; ++i) {
            held_since_ = clock_.now();
            const auto lock = co_await coordination_.acquire({"k", "c", kTtl, 1});
            if (!lock || !*lock) {
                co_await alarm_.wait_for(5ms);
                continue;
            }
            fences.push_back((*lock)->fence);
            for (int step = 0; step < 3; ++step) {
                co_await write((*lock)->fence);
                const Time now = clock_.now();
                if (!rng_.chance(0.4)) continue;
                const auto renewed = co_await coordination_.renew(**lock, kTtl);
                if (renewed && *renewed) held_since_ = now;
            }
            if (rng_.chance(0.5)) {  // dies, and its ghost comes back when others hold the lock
                co_await alarm_.wait_for(kTtl + std::chrono::milliseconds{rng_.below(60)});
                late_accepted += co_await write((*lock)->fence) ? 1 : 0;
                ++late;
            } else {
                co_await coordination_.release(**lock);
            }
        }
        done = true;
    }
    std::vector<std::uint64_t> fences;
    int late = 0, late_accepted = 0;
    int refused_while_held = 0;  ///< Somebody else had been given the lock.
    bool done = false;

  private:
    static constexpr Duration kTtl = 30ms;

    /// As whoever guards a resource does: an older fence than the last one seen is refused; all that is accepted is
    /// kept in the order in which it was.
    Async<bool> write(std::uint64_t fence) {
        static const redis::Script script("test/write", R"(
            if tonumber(redis.call('GET', KEYS[1] .. ':seen') or '0') > tonumber(ARGV[1]) then return 0 end
            redis.call('SET', KEYS[1] .. ':seen', ARGV[1])
            redis.call('RPUSH', KEYS[1], ARGV[1])
            return 1)");
        std::vector<std::string> arguments{std::to_string(fence)};
        const auto reply = co_await client_.run(script, "{res}", std::move(arguments));
        const bool accepted = reply && reply->root().integer() == 1;
        // By our clock, from before it was ours until after the write was done: then it was ours all the while.
        if (!accepted && clock_.now() < held_since_ + kTtl) ++refused_while_held;
        co_return accepted;
    }

    Coordination& coordination_;
    redis::Client& client_;
    Clock& clock_;
    Alarm alarm_;
    Rng rng_;
    Time held_since_;
};

TEST_F(RedisLocks, of_three_that_fight_over_one_with_deaths_never_two_write) {
    std::list<Contender> contenders;
    for (const auto* name : {"one", "two", "three"})
        contenders.emplace_back(redis.join(name), redis.plain(), redis, contenders.size() + 1);
    const Time limit = redis.clock().now() + 60s;
    for (Contender& one : contenders)
        asio::co_spawn(redis.io(), one.run(60), [](const std::exception_ptr& e) {
            if (e) std::rethrow_exception(e);
        });
    const auto all_done = [&] { return std::ranges::all_of(contenders, &Contender::done); };
    while (!all_done() && redis.clock().now() < limit) redis.run_until(all_done);
    ASSERT_TRUE(all_done());

    std::set<std::uint64_t> fences;
    std::size_t acquired = 0;
    int late = 0, late_accepted = 0;
    for (const Contender& one : contenders) {
        EXPECT_EQ(one.refused_while_held, 0) << "two held it at once";
        fences.insert(one.fences.begin(), one.fences.end());
        acquired += one.fences.size();
        late += one.late;
        late_accepted += one.late_accepted;
    }
    EXPECT_EQ(fences.size(), acquired) << "a fence was given twice";
    EXPECT_GT(acquired, 30U);
    EXPECT_GT(late - late_accepted, 0) << "no ghost came too late: the test shows nothing";
    // What was accepted of one holder never stands between what was accepted of another.
    const redis::Reply accepted = redis.call(redis::Command("LRANGE", "{res}", 0, -1));
    EXPECT_GE(accepted.root().size(), 60U);
    std::int64_t last = 0;
    for (const redis::Value fence : accepted.root()) {
        EXPECT_GE(fence.integer(), last);
        last = fence.integer();
    }
}

}  // namespace
}  // namespace holdfast::coordination::conformance

HOLDFAST_COORDINATION(redis, redis_backend());
