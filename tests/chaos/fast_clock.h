// Real time, only faster: leases end and retries come due while a test is still looking.
#pragma once

#include "base/clock.h"

namespace holdfast::chaos {

/// May be read from any thread.
class FastClock final : public Clock {
  public:
    static constexpr int kSpeed = 50;

    explicit FastClock(Time start) : start_(start) {}

    Time now() const override {
        const auto passed = std::chrono::steady_clock::now() - steady_start_;
        return start_ + std::chrono::duration_cast<Duration>(passed * kSpeed);
    }
    void arm(asio::steady_timer& timer, Time when) override {
        timer.expires_at(steady_start_ + (std::min(when, start_ + kLongest) - start_) / kSpeed);
    }
    void disarm(asio::steady_timer&) override {}

  private:
    static constexpr Duration kLongest = std::chrono::days{3650};
    Time start_;
    std::chrono::steady_clock::time_point steady_start_ = std::chrono::steady_clock::now();
};

}  // namespace holdfast::chaos
