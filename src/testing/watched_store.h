// A store that a test looks through: it counts the calls, lets some of them go wrong, and lets others act in between.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <utility>

#include "base/async.h"
#include "stores/layers/layered.h"

namespace holdfast::testing {

using stores::Op;

/// What goes wrong is said beforehand, call by call: chance has no part in it (stores/layers/faulty_store.h has).
class Watch {
  public:
    enum class Fault : std::uint8_t { none, never_arrives, reply_lost };

    /// The next `times` calls of `op` fail in this way; what is said later is about the calls after them.
    void fail_next(Op op, Fault fault, std::size_t times = 1) {
        at(op).faults.insert(at(op).faults.end(), times, fault);
    }
    /// Done right before the next call of `op` reaches the store: here somebody else is faster.
    using Act = std::function<Async<void>()>;
    void before_next(Op op, const Act& act, std::size_t times = 1) {
        at(op).acts.insert(at(op).acts.end(), times, act);
    }

    std::size_t calls(Op op) const { return ops_[static_cast<std::size_t>(op)].calls; }
    std::size_t items(Op op) const { return ops_[static_cast<std::size_t>(op)].items; }
    std::size_t all_calls() const {
        std::size_t sum = 0;
        for (const Watched& w : ops_) sum += w.calls;
        return sum;
    }
    void forget_calls() {
        for (Watched& w : ops_) w.calls = w.items = 0;
    }

    template <class T>
    Async<Result<T>> around(Op op, std::size_t items, Async<Result<T>> call) {
        Watched& watched = at(op);
        ++watched.calls;
        watched.items += items;
        if (!watched.acts.empty()) {
            const Act act = std::move(watched.acts.front());
            watched.acts.pop_front();
            co_await act();
        }
        Fault fault = Fault::none;
        if (!watched.faults.empty()) {
            fault = watched.faults.front();
            watched.faults.pop_front();
        }
        if (fault == Fault::never_arrives) co_return refuse(Code::unavailable, "did not arrive");
        auto result = co_await std::move(call);
        if (fault == Fault::reply_lost) co_return refuse(Code::unavailable, "the answer is lost");
        co_return result;
    }

  private:
    struct Watched {
        std::size_t calls = 0;
        std::size_t items = 0;
        std::deque<Fault> faults;
        std::deque<Act> acts;
    };
    Watched& at(Op op) { return ops_[static_cast<std::size_t>(op)]; }

    std::array<Watched, stores::kOpNames.size()> ops_;
};

using WatchedStore = stores::Layered<Watch>;

/// For an Act: only that it was done matters.
template <class T>
Async<void> ignoring(Async<T> work) {
    co_await std::move(work);
}

}  // namespace holdfast::testing
