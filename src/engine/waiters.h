// Long polls: somebody waits for something with a name. Ringing is a hint; whoever waits looks again by
// itself, so a ring that is lost costs one poll interval and nothing more.
#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace holdfast::engine {

class Waiters {
  public:
    Waiters(Clock& clock, asio::any_io_executor executor, std::size_t most)
        : clock_(clock), executor_(std::move(executor)), most_(most) {}

    std::size_t size() const { return waiting_; }

    /// Waits for a ring under any of the names, or for `until`; `overloaded` when every seat is taken.
    Async<Result<>> wait(std::vector<std::string> names, Time until);
    /// Wakes those who have waited longest under this name, at most so many: one task needs one worker.
    void ring_some(const std::string& name, std::size_t most);
    void ring_all(const std::string& name);

  private:
    class Seat;
    Clock& clock_;
    asio::any_io_executor executor_;
    std::size_t most_;
    std::size_t waiting_ = 0;
    std::map<std::string, std::list<Alarm*>, std::less<>> by_name_;
};

}  // namespace holdfast::engine
