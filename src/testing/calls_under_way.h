// Calling coroutines from a test: to their end, or to where they wait.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/async.h"
#include "testing/manual_clock.h"

namespace holdfast::testing {

/// A call that was begun: its answer, once it has come.
template <class T>
class Call {
  public:
    bool answered() const { return state_->answer.has_value() || state_->failure; }
    T& answer() const {
        if (state_->failure) std::rethrow_exception(state_->failure);
        if (!state_->answer) throw std::logic_error("the call is still waiting for something");
        return *state_->answer;
    }

  private:
    friend class Executor;
    struct State {
        std::optional<T> answer;
        std::exception_ptr failure;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// One io_context and one clock that only the test moves.
class Executor {
  public:
    explicit Executor(ManualClock& clock) : clock_(clock) {}

    asio::any_io_executor executor() { return io_.get_executor(); }

    /// Runs all that can run without time going on.
    void poll() {
        io_.restart();
        io_.poll();
    }
    void advance(Duration by) {
        clock_.advance(by);
        poll();
    }

    template <class T>
    Call<T> begin(Async<T> work) {
        Call<T> call;
        asio::co_spawn(io_, std::move(work),
                       [state = call.state_](std::exception_ptr failure, T answer) {
                           if (failure) {
                               state->failure = failure;
                           } else {
                               state->answer = std::move(answer);
                           }
                       });
        poll();
        return call;
    }
    /// The answer of a call that must not wait for anything.
    template <class T>
    T run(Async<T> work) {
        return std::move(begin(std::move(work)).answer());
    }
    void run(Async<void> work) {
        run([](Async<void> inner) -> Async<bool> {
            co_await std::move(inner);
            co_return true;
        }(std::move(work)));
    }
    /// The answer of a call that may wait: the clock goes from alarm to alarm until it is there.
    template <class T>
    T run_on(Async<T> work) {
        const Call<T> call = begin(std::move(work));
        while (!call.answered()) {
            const std::optional<Time> next = clock_.next_alarm();
            if (!next) throw std::logic_error("the call waits for something that is not time");
            clock_.advance_to(*next);
            poll();
        }
        return std::move(call.answer());
    }

  private:
    ManualClock& clock_;
    asio::io_context io_;
};

}  // namespace holdfast::testing
