// A store behind a bad line: calls are slow, fail before they arrive, or are done and the answer is lost.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/rng.h"
#include "stores/layers/layered.h"

namespace holdfast::stores {

struct Faults {
    double never_arrives = 0;   ///< Part of the calls that fail without effect.
    double reply_lost = 0;      ///< Part of the calls that are done, and answered `unavailable`.
    Duration longest_delay{0};  ///< Before and after each call, uniformly up to this.
};

class BadLine {
  public:
    BadLine(Clock& clock, asio::any_io_executor executor, Rng rng, Faults faults)
        : clock_(clock), executor_(std::move(executor)), rng_(rng), faults_(faults) {}

    void set_faults(Faults faults) { faults_ = faults; }
    /// From now on nothing arrives and no answer comes back, also not to calls that are under way.
    void cut() { cut_ = true; }
    bool is_cut() const { return cut_; }

    template <class T>
    Async<Result<T>> around(Op op, std::size_t, Async<Result<T>> call) {
        co_await delay();
        if (cut_ || rng_.chance(faults_.never_arrives)) co_return lost(op, "did not arrive");
        auto result = co_await std::move(call);
        co_await delay();
        if (cut_ || rng_.chance(faults_.reply_lost))
            co_return lost(op, "was done or not: its answer is lost");
        co_return result;
    }

  private:
    Async<void> delay();
    static std::unexpected<Error> lost(Op op, std::string_view what);

    Clock& clock_;
    asio::any_io_executor executor_;
    Rng rng_;
    Faults faults_;
    bool cut_ = false;
};

using FaultyStore = Layered<BadLine>;

}  // namespace holdfast::stores
