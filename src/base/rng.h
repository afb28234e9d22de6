// Chance through a door: everything random takes an Rng, so that a seed replays it.
#pragma once

#include <cstdint>
#include <limits>

#include "base/hash.h"

namespace holdfast {

/// SplitMix64. Small, fast, good enough for ids, tests and jitter; never for secrets.
class Rng {
  public:
    using result_type = std::uint64_t;

    explicit constexpr Rng(std::uint64_t seed) : state_(seed) {}
    /// Seeded by the operating system, for the real world.
    static Rng from_system();

    constexpr std::uint64_t operator()() { return mix(state_ += 0x9e3779b97f4a7c15U); }
    /// Uniform in [0, bound); 0 when bound is 0.
    constexpr std::uint64_t below(std::uint64_t bound) {
        return bound == 0 ? 0 : (*this)() % bound;
    }
    constexpr bool chance(double probability) { return unit() < probability; }
    /// Uniform in [0, 1).
    constexpr double unit() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  private:
    std::uint64_t state_;
};

}  // namespace holdfast
