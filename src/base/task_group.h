// Background work that somebody waits for: nothing is detached.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>

#include "base/async.h"

namespace holdfast {

/// Holds coroutines that run beside their owner. `stop()` asks all of them to leave and returns
/// when the last has left; the group must not die before. One executor, no locks.
class TaskGroup {
  public:
    explicit TaskGroup(asio::any_io_executor executor);
    ~TaskGroup();
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    /// After `stop()` was called nothing is started any more: `work` is dropped.
    void spawn(Async<void> work);
    /// True from the moment `stop()` is called: loops look here before each round.
    bool stopping() const { return stopping_; }
    Async<void> stop();
    /// Returns when the last has left of its own accord.
    Async<void> join();
    std::size_t size() const { return children_.size(); }

  private:
    asio::any_io_executor executor_;
    std::list<asio::cancellation_signal> children_;
    asio::steady_timer empty_;
    bool stopping_ = false;
};

}  // namespace holdfast
