// When to take no more new work: by how long writing takes, not by how much is waiting.
//
// A burst is let in; a standing queue is not. As long as even the fastest write of a while took longer than it
// should, new submissions are shed at the door, where saying no is cheap. What workers say is never shed.
#pragma once

#include <cstddef>

#include "base/time.h"

namespace holdfast::engine {

class Admission {
  public:
    /// Writing may take this long …
    static constexpr Duration kTarget = std::chrono::milliseconds{500};
    /// … unless no write was faster for so long.
    static constexpr Duration kWindow = std::chrono::milliseconds{100};

    /// A write that began at `began` is done.
    void wrote(Time began, Time now) {
        const Duration took = now - began;
        if (took < kTarget) {
            slow_since_ = kNoTime;
        } else if (!is_set(slow_since_)) {
            slow_since_ = now;
        }
    }
    /// With nothing in flight there is no queue, whatever the last write took.
    bool sheds(Time now, std::size_t in_flight) const {
        return in_flight > 0 && is_set(slow_since_) && now >= slow_since_ + kWindow;
    }

  private:
    Time slow_since_;  ///< No write since then was fast enough.
};

}  // namespace holdfast::engine
