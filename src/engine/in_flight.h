// Committing: how much is under way, and how often it is tried.
#pragma once

#include <cstddef>

#include "base/time.h"

namespace holdfast::engine {

/// What may not have been committed is tried again, after a breath that grows.
inline constexpr int kCommitTries = 3;
inline constexpr Duration kBreath = std::chrono::milliseconds{20};

class InFlight {
  public:
    InFlight(std::size_t& total, std::size_t mine) : total_(total), mine_(mine) { total_ += mine_; }
    ~InFlight() { total_ -= mine_; }
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;

  private:
    std::size_t& total_;
    std::size_t mine_;
};

}  // namespace holdfast::engine
