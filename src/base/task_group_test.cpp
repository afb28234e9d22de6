#include "base/task_group.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <string>
#include <vector>

namespace holdfast {
namespace {

struct Room {
    asio::io_context io;
    TaskGroup group{io.get_executor()};
    std::vector<std::string> said;
    bool stopped = false;

    void run() {
        io.restart();
        io.poll();
    }
    void stop() {
        asio::co_spawn(io, group.stop(), [this](const std::exception_ptr& failure) {
            EXPECT_FALSE(failure);
            stopped = true;
        });
        run();
    }
};

Async<void> never(asio::io_context& io) {  // NOLINT(*-avoid-reference-coroutine-parameters)
    asio::steady_timer timer(io, asio::steady_timer::time_point::max());
    co_await timer.async_wait(asio::use_awaitable);
}

Async<void> say(Room& room, std::string word) {  // NOLINT(*-avoid-reference-coroutine-parameters)
    room.said.push_back(std::move(word));
    co_return;
}

TEST(TaskGroup, children_run_and_leave_by_themselves) {
    Room room;
    room.group.spawn(say(room, "a"));
    room.group.spawn(say(room, "b"));
    EXPECT_EQ(room.group.size(), 2U);
    room.run();
    EXPECT_EQ(room.said, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(room.group.size(), 0U);
    EXPECT_FALSE(room.group.stopping());
    room.stop();
    EXPECT_TRUE(room.stopped);
}

TEST(TaskGroup, stop_cancels_the_children_and_returns_when_the_last_has_left) {
    Room room;
    for (int i = 0; i < 3; ++i) room.group.spawn(never(room.io));
    room.run();
    EXPECT_EQ(room.group.size(), 3U);
    room.stop();
    EXPECT_TRUE(room.stopped);
    EXPECT_EQ(room.group.size(), 0U);
}

TEST(TaskGroup, stop_waits_for_a_child_that_takes_its_time_to_leave) {
    Room room;
    asio::steady_timer door(room.io, asio::steady_timer::time_point::max());
    const auto tidy_up = [](Room& r, asio::steady_timer& until) -> Async<void> {  // NOLINT
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        boost::system::error_code ignored;
        co_await until.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        r.said.emplace_back("tidied up");
    };
    room.group.spawn(tidy_up(room, door));
    room.run();
    room.stop();
    EXPECT_TRUE(room.group.stopping());
    EXPECT_FALSE(room.stopped);
    door.cancel();
    room.run();
    EXPECT_TRUE(room.stopped);
    EXPECT_EQ(room.said, std::vector<std::string>{"tidied up"});
}

TEST(TaskGroup, stop_reaches_a_child_that_has_not_begun) {
    Room room;
    room.group.spawn(never(room.io));
    room.stop();
    EXPECT_TRUE(room.stopped);
    EXPECT_EQ(room.group.size(), 0U);
}

TEST(TaskGroup, what_is_spawned_while_it_stops_is_never_begun) {
    Room room;
    const auto spawns_at_the_end = [](Room& r) -> Async<void> {  // NOLINT
        boost::system::error_code ignored;
        asio::steady_timer timer(r.io, asio::steady_timer::time_point::max());
        co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        r.group.spawn(say(r, "too late"));
        r.group.spawn(never(r.io));
    };
    room.group.spawn(spawns_at_the_end(room));
    room.run();
    room.stop();
    EXPECT_TRUE(room.stopped);
    EXPECT_TRUE(room.said.empty());
    EXPECT_EQ(room.group.size(), 0U);
}

TEST(TaskGroup, everybody_who_called_stop_is_answered) {
    Room room;
    room.group.spawn(never(room.io));
    room.run();
    int answered = 0;
    for (int i = 0; i < 2; ++i) {
        asio::co_spawn(room.io, room.group.stop(), [&](const std::exception_ptr&) { ++answered; });
    }
    room.run();
    EXPECT_EQ(answered, 2);
}

TEST(TaskGroup, what_a_child_could_not_handle_reaches_the_top) {
    Room room;
    const auto fails = []() -> Async<void> {
        throw std::runtime_error("nobody can handle this");
        co_return;
    };
    room.group.spawn(fails());
    EXPECT_THROW(room.run(), std::runtime_error);
    EXPECT_EQ(room.group.size(), 0U);
}

TEST(TaskGroup, another_error_than_being_cancelled_is_not_swallowed_at_the_end) {
    Room room;
    const auto fails = []() -> Async<void> {
        throw boost::system::system_error(asio::error::connection_reset);
        co_return;
    };
    room.group.spawn(fails());
    EXPECT_THROW(room.run(), boost::system::system_error);
}

}  // namespace
}  // namespace holdfast
