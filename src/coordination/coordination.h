// The second port: what instances agree on beside the tasks. Who is there, who holds a lock, and hints that may be
// lost. Nothing here decides about a task: a task is safe by its fence, whatever this port answers.
//
// Threads: used from one executor, and answers on it.
// Failure: `unavailable` means the outcome is unknown: look (holder_of) before trying again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace holdfast::coordination {

// ---- locks ----

/// One of `capacity` permits of a key. Whoever writes under a lock hands `fence` on with the write: it grows with every
/// acquisition of the key, so that a holder whose time was over can be told apart and refused.
struct Lock {
    std::string key;
    std::string token;  ///< "<holder>:<random>": only who has it renews and releases.
    std::uint64_t fence = 0;
    Time until;  ///< By the clock of the coordinator.
};

struct LockRequest {
    std::string key;
    std::string holder;  ///< For people and for `holder_of`: a task's id, an instance.
    Duration ttl{};
    std::uint32_t capacity = 1;
};

// ---- presence ----

struct Instance {
    std::string id;
    Time started_at;
    Time seen_at;
    Json about;    ///< Version, address, roles, and what else it says of itself.
    Json workers;  ///< Those attached to it.
};

// ---- hints ----

/// Something happened elsewhere; look. Losing one costs a poll interval.
struct Hint {
    enum class Of : std::uint8_t { queue, task, record };
    Of of = Of::queue;
    std::string
        name;  ///< queue: there is work; task: it moved on; record: settings of this name changed.
};

class Coordination {
  public:
    virtual ~Coordination() = default;

    /// C1 Never more than `capacity` holders whose time is not over. None: all are taken.
    /// C2 `fence` is larger than that of every earlier acquisition of the key.
    virtual Async<Result<std::optional<Lock>>> acquire(LockRequest request) = 0;
    /// C3 Only for the token that holds it and whose time is not over; none: it is lost, and nothing was written.
    virtual Async<Result<std::optional<Lock>>> renew(Lock lock, Duration ttl) = 0;
    /// C4 Only for the token that holds it; false: it did not any more.
    virtual Async<Result<bool>> release(Lock lock) = 0;
    /// C5 The holders' tokens, of those whose time is not over.
    virtual Async<Result<std::vector<std::string>>> holders_of(std::string key) = 0;

    /// C6 Seen by `instances` until `ttl` is over, or `leave` is called.
    virtual Async<Result<>> announce(Instance self, Duration ttl) = 0;
    virtual Async<Result<>> leave(std::string id) = 0;
    virtual Async<Result<std::vector<Instance>>> instances() = 0;

    /// C7 Reaches the other instances, perhaps. Returns at once; hints are gathered for some milliseconds.
    virtual void tell(Hint hint) = 0;
    /// Called with what others tell, never with one's own.
    virtual void on_hint(std::function<void(const Hint&)> act) = 0;
};

}  // namespace holdfast::coordination
