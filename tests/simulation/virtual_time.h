// Time that moves only when everybody waits.
#pragma once

#include <map>
#include <unordered_map>

#include "base/clock.h"

namespace holdfast::simulation {

class VirtualTime {
  public:
    Time now() const { return now_; }

    /// Goes to the next moment somebody waits for, and wakes them. False: nobody waits.
    bool advance() {
        if (waits_.empty()) return false;
        const auto first = waits_.begin();
        now_ = std::max(now_, first->first);
        asio::steady_timer* timer = first->second;
        places_.erase(timer);
        waits_.erase(first);
        timer->cancel();
        return true;
    }

    void arm(asio::steady_timer& timer, Time when) {
        disarm(timer);
        timer.expires_at(asio::steady_timer::time_point::max());
        places_[&timer] = waits_.emplace(std::max(when, now_), &timer);
    }
    void disarm(asio::steady_timer& timer) {
        const auto place = places_.find(&timer);
        if (place == places_.end()) return;
        waits_.erase(place->second);
        places_.erase(place);
    }

  private:
    using Waits =
        std::multimap<Time,
                      asio::steady_timer*>;  // equal moments: in the order they were asked for
    Time now_ = Time{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
    Waits waits_;
    std::unordered_map<asio::steady_timer*, Waits::iterator> places_;
};

/// The clock of one process: true time, shifted, and jumping when told to.
class ProcessClock final : public Clock {
  public:
    explicit ProcessClock(VirtualTime& time, Duration offset = Duration{0})
        : time_(time), offset_(offset) {}

    Time now() const override { return time_.now() + offset_; }
    void arm(asio::steady_timer& timer, Time when) override { time_.arm(timer, when - offset_); }
    void disarm(asio::steady_timer& timer) override { time_.disarm(timer); }
    void jump(Duration by) { offset_ += by; }

  private:
    VirtualTime& time_;
    Duration offset_;
};

}  // namespace holdfast::simulation
