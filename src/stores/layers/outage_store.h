// Tells when the store falls silent and when it answers again: once each, however many calls notice it.
#pragma once

#include <functional>

#include "base/clock.h"
#include "stores/layers/layered.h"

namespace holdfast::stores {

struct OutageNews {
    std::function<void(const Error& error)> silent;
    std::function<void(Duration after)> answers;
};

class OutageWatch {
  public:
    /// Failures that are less than this apart are one outage, also when some calls go through between them.
    static constexpr Duration kCalm = std::chrono::seconds{1};

    OutageWatch(const Clock& clock, OutageNews news) : clock_(clock), news_(std::move(news)) {}

    template <class T>
    Async<Result<T>> around(Op, std::size_t, Async<Result<T>> call) {
        auto result = co_await std::move(call);
        if (result) {
            if (is_set(since_)) answered();
        } else if (result.error().code == Code::unavailable) {
            failed(result.error());
        }
        co_return result;
    }
    bool silent() const { return is_set(since_); }

  private:
    void failed(const Error& error);
    void answered();

    const Clock& clock_;
    OutageNews news_;
    Time since_;  ///< Of the outage; none: there is none.
    Time last_failure_;
};

using OutageStore = Layered<OutageWatch>;

}  // namespace holdfast::stores
