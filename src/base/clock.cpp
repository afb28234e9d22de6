#include "base/clock.h"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace holdfast {
namespace {

// A steady clock counts nanoseconds: it cannot hold every Time, and nobody waits so long.
constexpr Duration kLongestWait = std::chrono::days{36500};

}  // namespace

SystemClock::SystemClock()
    : wall_at_start_(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now())),
      steady_at_start_(std::chrono::steady_clock::now()) {}

Time SystemClock::now() const {
    return wall_at_start_ + std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() -
                                                                 steady_at_start_);
}

void SystemClock::arm(asio::steady_timer& timer, Time when) {
    timer.expires_at(steady_at_start_ +
                     (std::min(when, wall_at_start_ + kLongestWait) - wall_at_start_));
}

void SystemClock::disarm(asio::steady_timer&) {}

Alarm::Alarm(Clock& clock, const asio::any_io_executor& executor)
    : clock_(clock), timer_(executor) {}

Alarm::~Alarm() {
    clock_.disarm(timer_);
}

Async<bool> Alarm::wait_until(Time when) {
    if (!rung_) {
        clock_.arm(timer_, when);
        boost::system::error_code ignored;  // cancelled: rung, or our coroutine was told to leave
        co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        clock_.disarm(timer_);
    }
    co_return std::exchange(rung_, false);
}

void Alarm::ring() {
    rung_ = true;
    timer_.cancel();
}

}  // namespace holdfast
