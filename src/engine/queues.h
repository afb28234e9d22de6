// What operators set about queues: records of kind `queue`, read through a short-lived copy.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/calls.h"
#include "stores/store.h"

namespace holdfast::engine {

class Queues {
  public:
    Queues(stores::Store& store, Clock& clock, Duration fresh_for)
        : store_(store), clock_(clock), fresh_for_(fresh_for) {}

    /// The settings of these queues, no older than `fresh_for`. A queue nobody touched has the defaults.
    Async<Result<std::vector<QueueSettings>>> get(std::vector<std::string> names);
    Async<Result<QueueSettings>> get(std::string name);

    /// They were changed elsewhere: the next one to ask reads them anew.
    void forget(const std::string& name) { copies_.erase(name); }

    /// `change` is applied to the stored settings; who and why are kept in the queue's history.
    using Edit = std::function<void(QueueSettings&)>;
    Async<Result<QueueSettings>> edit(std::string name, Edit change, domain::Event event, By by,
                                      Time now, std::uint64_t nonce, domain::Put audit);

    /// How many tasks the queue's rate allows to hand out now; they are then used up by `spend`.
    std::uint32_t allowance(const std::string& name, double rate);
    void spend(const std::string& name, std::uint32_t tasks);

  private:
    struct Copy {
        QueueSettings settings;
        Time read_at;
    };
    struct Bucket {
        double tokens = 0;
        Time filled_at;
    };
    stores::Store& store_;
    Clock& clock_;
    Duration fresh_for_;
    std::map<std::string, Copy> copies_;
    std::map<std::string, Bucket> buckets_;
};

/// The record that holds a queue's settings.
domain::Key queue_key(std::string_view name);

}  // namespace holdfast::engine
