// Time through a door: whoever wants to know it or to wait for it takes a Clock, so that a test can
// own time.
#pragma once

#include <boost/asio/steady_timer.hpp>

#include "base/async.h"
#include "base/time.h"

namespace holdfast {

/// `now` never runs backwards within one process; it starts from the wall clock.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual Time now() const = 0;
    /// Arranges that a wait on `timer` ends at `when`. `disarm` before the timer dies.
    virtual void arm(asio::steady_timer& timer, Time when) = 0;
    virtual void disarm(asio::steady_timer& timer) = 0;
};

class SystemClock final : public Clock {
  public:
    SystemClock();
    Time now() const override;
    void arm(asio::steady_timer& timer, Time when) override;
    void disarm(asio::steady_timer& timer) override;

  private:
    Time wall_at_start_;
    std::chrono::steady_clock::time_point steady_at_start_;
};

/// A wait that somebody else may end early. One waiter at a time; not thread-safe.
class Alarm {
  public:
    Alarm(Clock& clock, const asio::any_io_executor& executor);
    ~Alarm();
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    /// Returns true when it was rung (also before the wait began), false when `when` came.
    Async<bool> wait_until(Time when);
    Async<bool> wait_for(Duration d) { return wait_until(clock_.now() + d); }
    void ring();

  private:
    Clock& clock_;
    asio::steady_timer timer_;
    bool rung_ = false;
};

}  // namespace holdfast
