#include "engine/waiters.h"

#include <algorithm>

namespace holdfast::engine {

/// A place in the waiting room, given up on every way out, also when the waiter is cancelled.
class Waiters::Seat {
  public:
    Seat(Waiters& room, const std::vector<std::string>& names)
        : room_(room), alarm_(room.clock_, room.executor_) {
        ++room_.waiting_;
        for (const std::string& name : names) {
            auto& line = room_.by_name_[name];
            places_.emplace_back(name, line.insert(line.end(), &alarm_));
        }
    }
    ~Seat() {
        --room_.waiting_;
        for (const auto& [name, place] : places_) {
            const auto line = room_.by_name_.find(name);
            line->second.erase(place);
            if (line->second.empty()) room_.by_name_.erase(line);
        }
    }
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;

    Alarm& alarm() { return alarm_; }

  private:
    Waiters& room_;
    Alarm alarm_;
    std::vector<std::pair<std::string, std::list<Alarm*>::iterator>> places_;
};

Async<Result<>> Waiters::wait(std::vector<std::string> names, Time until) {
    if (waiting_ >= most_)
        co_return refuse(Code::overloaded, "too many are waiting for tasks; try again later");
    Seat seat(*this, names);
    co_await seat.alarm().wait_until(until);
    co_return Result<>{};
}

void Waiters::ring_some(const std::string& name, std::size_t most) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    auto& line = found->second;
    for (std::size_t left = std::min(most, line.size()); left > 0; --left) {
        line.front()->ring();
        line.splice(line.end(), line, line.begin());  // the next ring is another's
    }
}

void Waiters::ring_all(const std::string& name) {
    const auto line = by_name_.find(name);
    if (line == by_name_.end()) return;
    for (Alarm* alarm : line->second) alarm->ring();
}

}  // namespace holdfast::engine
