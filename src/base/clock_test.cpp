#include "base/clock.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "testing/manual_clock.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

using testing::ManualClock;

/// Runs one wait to its end or to where it waits; what it returned is in `rung`.
struct Waiter {
    asio::io_context io;
    ManualClock clock;
    Alarm alarm{clock, io.get_executor()};
    std::optional<bool> rung;

    void wait(Duration d) {
        rung.reset();
        asio::co_spawn(io, alarm.wait_for(d),
                       [this](const std::exception_ptr& failure, bool by_ring) {
                           EXPECT_FALSE(failure);
                           rung = by_ring;
                       });
        run();
    }
    void run() {
        io.restart();
        io.poll();
    }
};

TEST(Alarm, ends_when_its_time_comes) {
    Waiter w;
    w.wait(10s);
    EXPECT_FALSE(w.rung);
    w.clock.advance(9s);
    w.run();
    EXPECT_FALSE(w.rung);
    w.clock.advance(1s);
    w.run();
    EXPECT_EQ(w.rung, false);
    EXPECT_FALSE(w.clock.next_alarm());
}

TEST(Alarm, rung_early_ends_the_wait) {
    Waiter w;
    w.wait(10s);
    w.alarm.ring();
    EXPECT_FALSE(w.rung);
    w.run();
    EXPECT_EQ(w.rung, true);
    EXPECT_FALSE(w.clock.next_alarm());
}

TEST(Alarm, a_ring_before_the_wait_is_not_lost) {
    Waiter w;
    w.alarm.ring();
    w.alarm.ring();
    w.wait(10s);
    EXPECT_EQ(w.rung, true);
    w.wait(10s);
    EXPECT_FALSE(w.rung) << "two rings wake one wait";
    w.alarm.ring();
    w.run();
}

TEST(Alarm, a_ring_in_the_moment_its_time_comes_is_told) {
    Waiter w;
    w.wait(10s);
    w.clock.advance(10s);
    w.alarm.ring();
    w.run();
    EXPECT_EQ(w.rung, true);
}

TEST(Alarm, a_time_that_is_past_does_not_wait) {
    Waiter w;
    w.wait(0s);
    EXPECT_EQ(w.rung, false);
}

TEST(Alarm, one_that_dies_with_its_wait_is_forgotten_by_its_clock) {
    ManualClock clock;
    {
        asio::io_context io;
        Alarm alarm(clock, io.get_executor());
        asio::co_spawn(io, alarm.wait_for(10s), [](const std::exception_ptr&, bool) { FAIL(); });
        io.poll();
        EXPECT_EQ(clock.next_alarm(), clock.now() + 10s);
    }
    EXPECT_FALSE(clock.next_alarm());
}

TEST(SystemClock, begins_at_the_wall_clock_and_never_runs_backwards) {
    const SystemClock clock;
    const auto wall = std::chrono::system_clock::now();
    EXPECT_LT(std::chrono::abs(clock.now() - wall), 5min);
    Time last = clock.now();
    for (int i = 0; i < 1000; ++i) {
        const Time now = clock.now();
        ASSERT_LE(last, now);
        last = now;
    }
}

TEST(SystemClock, arms_timers_on_its_own_time_line) {
    asio::io_context io;
    SystemClock clock;
    asio::steady_timer timer(io);
    const auto before = std::chrono::steady_clock::now();
    clock.arm(timer, clock.now() + 1h);
    EXPECT_GE(timer.expiry(), before + 1h - 1s);
    EXPECT_LE(timer.expiry(), std::chrono::steady_clock::now() + 1h);
    clock.arm(timer, clock.now() - 1h);
    EXPECT_LT(timer.expiry(), std::chrono::steady_clock::now());
}

TEST(SystemClock, a_moment_beyond_the_steady_clock_lies_in_the_future) {
    asio::io_context io;
    SystemClock clock;
    asio::steady_timer timer(io);
    for (const Time far : {Time::max(), clock.now() + std::chrono::days{365'000}}) {
        clock.arm(timer, far);
        EXPECT_GT(timer.expiry(), std::chrono::steady_clock::now() + 24h);
    }
}

}  // namespace
}  // namespace holdfast
