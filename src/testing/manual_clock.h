// A clock that stands still until a test moves it.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/time.h"

namespace holdfast::testing {

/// A wait that was armed here ends when the clock is moved to its moment or past it; as with
/// Alarm::ring() it then ends by cancellation. One executor, no locks; outlives the timers it armed.
class ManualClock final : public Clock {
  public:
    static constexpr Time kStart{std::chrono::sys_days{std::chrono::January / 5 / 2026}};

    explicit ManualClock(Time start = kStart) : now_(start) {}

    Time now() const override { return now_; }

    void advance(Duration by) { advance_to(now_ + by); }
    /// Never back: an earlier moment changes nothing. Alarms ring in the order of their moments.
    void advance_to(Time moment) {
        now_ = std::max(now_, moment);
        while (!armed_.empty() && armed_.begin()->first <= now_) {
            asio::steady_timer* const timer = armed_.begin()->second;
            armed_.erase(armed_.begin());
            timer->expires_at(kPast);
        }
    }
    /// The moment of the earliest armed wait: where a simulation goes next.
    std::optional<Time> next_alarm() const {
        if (armed_.empty()) return std::nullopt;
        return armed_.begin()->first;
    }

    void arm(asio::steady_timer& timer, Time when) override {
        disarm(timer);
        if (when <= now_) {
            timer.expires_at(kPast);
            return;
        }
        timer.expires_at(kNever);
        armed_.emplace(when, &timer);
    }
    void disarm(asio::steady_timer& timer) override {
        std::erase_if(armed_, [&](const auto& entry) { return entry.second == &timer; });
    }

  private:
    // Of real time, which has no say here.
    static constexpr auto kPast = asio::steady_timer::time_point::min();
    static constexpr auto kNever = asio::steady_timer::time_point::max();

    Time now_;
    std::multimap<Time, asio::steady_timer*> armed_;
};

}  // namespace holdfast::testing
