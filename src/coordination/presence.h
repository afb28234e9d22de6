// This instance among the others: says that it is there, and knows who else is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "base/task_group.h"
#include "coordination/coordination.h"

namespace holdfast::coordination {

/// A service like those of the engine: `run_once` is what tests call, `run` goes on until its group stops.
class Presence {
  public:
    struct Options {
        std::string id;
        Duration ttl = std::chrono::seconds{15};
        Duration every = std::chrono::seconds{5};
        Duration after_trouble = std::chrono::seconds{1};
        std::uint64_t seed = 1;  ///< Of the jitter: instances shall not beat together.
    };
    /// Called for each announcement: fills in `about` and `workers`, which it keeps small.
    using Describe = std::function<void(Instance& self)>;

    Presence(Coordination& coordination, Clock& clock, const asio::any_io_executor& executor,
             Options options, Describe describe);

    /// Announces this instance and looks who else is there. When it fails, the others are whom it last saw.
    Async<Result<>> run_once();
    static Async<void> run(Presence* presence, TaskGroup* group);
    /// Others need not wait until its time is over.
    Async<void> leave();

    /// Of those that were there in the last round, without this one.
    const std::vector<Instance>& others() const { return others_; }
    /// Told when the first other comes, and when the last one goes.
    void on_company(std::function<void(bool company)> act) { on_company_ = std::move(act); }
    /// Somebody came or went: another round, now.
    void look() { alarm_.ring(); }
    const std::string& id() const { return options_.id; }

  private:
    Coordination& coordination_;
    Options options_;
    Describe describe_;
    Rng rng_;
    Alarm alarm_;
    Time started_at_;
    std::vector<Instance> others_;
    std::function<void(bool)> on_company_;
    bool announced_ = false;
};

}  // namespace holdfast::coordination
