// How long to wait before the next try: full jitter, so that a thousand clients of one server that
// fell do not come back in step.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace holdfast::client {

class Backoff {
  public:
    using Milliseconds = std::chrono::milliseconds;

    Backoff(Milliseconds base, Milliseconds max, std::uint64_t seed = std::random_device{}())
        : base_(base), max_(max), random_(seed) {}

    /// The most that the next wait may be: base·2^n, at most `max`.
    Milliseconds ceiling() const {
        const auto factor = std::int64_t{1} << std::min(tries_, 20);
        return std::min(max_, Milliseconds{base_.count() * factor});
    }
    /// A wait drawn from 0 to the ceiling; the ceiling then doubles.
    Milliseconds next() {
        std::uniform_int_distribution<std::int64_t> draw(0, ceiling().count());
        ++tries_;
        return Milliseconds{draw(random_)};
    }
    void reset() { tries_ = 0; }
    int tries() const { return tries_; }

  private:
    Milliseconds base_, max_;
    std::mt19937_64 random_;
    int tries_ = 0;
};

}  // namespace holdfast::client
