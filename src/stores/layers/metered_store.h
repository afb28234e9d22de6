// Metrics wrap the port once; no backend counts anything.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>

#include "base/clock.h"
#include "stores/layers/layered.h"

namespace holdfast::stores {

class Meters {
  public:
    /// The registry outlives the store.
    Meters(Clock& clock, prometheus::Registry& registry);

    template <class T>
    Async<Result<T>> around(Op op, std::size_t items, Async<Result<T>> call) {
        const Time start = clock_.now();
        auto result = co_await std::move(call);
        observe(op, items, clock_.now() - start, result ? nullptr : &result.error());
        if constexpr (std::is_same_v<T, std::vector<Outcome>>) {
            if (result) count_verdicts(*result);
        }
        co_return result;
    }

  private:
    void observe(Op op, std::size_t items, Duration took, const Error* error);
    void count_verdicts(const std::vector<Outcome>& outcomes);

    Clock& clock_;
    prometheus::Family<prometheus::Counter>& errors_;
    std::array<prometheus::Histogram*, kOpNames.size()> seconds_{};
    prometheus::Histogram& commit_seconds_;
    prometheus::Histogram& commit_batch_;
    std::array<prometheus::Counter*, 4> verdicts_{};
};

using MeteredStore = Layered<Meters>;

}  // namespace holdfast::stores
