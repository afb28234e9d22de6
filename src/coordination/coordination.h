// The second port: what instances agree on beside the tasks. Who is there, who holds a lock, and hints that may be
// lost. Nothing here decides about a task: a task is safe by its fence, whatever this port answers.
//
// Threads: used from one executor, and answers on it.
// Failure: `unavailable` means the outcome is unknown: look (holders_of) before trying again. What was not acquired
// for certain frees itself when its time is over.
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
    std::string key;     ///< Printable ASCII without blanks, at most 128 characters.
    std::string holder;  ///< For people and for `holders_of`: a task's id, an instance. As a key.
    Duration ttl{};      ///< 1 ms to 7 d.
    std::uint32_t capacity = 1;  ///< Of the key; the same for all who ask for it.
};

inline constexpr Duration kShortestTtl = std::chrono::milliseconds{1};
inline constexpr Duration kLongestTtl = std::chrono::days{7};

/// What every coordinator refuses before anything is asked.
Result<> check(const LockRequest& request);
Result<> check_ttl(Duration ttl);

// ---- presence ----

struct Instance {
    std::string id;  ///< As a lock's key.
    Time started_at;
    Time seen_at;  ///< By the clock of the coordinator; told, not asked for.
    Json about;    ///< Version, address, roles, and what else it says of itself.
    Json workers;  ///< Those attached to it.
};

// ---- hints ----

/// Something happened elsewhere; look. Losing one costs a poll interval.
struct Hint {
    enum class Of : std::uint8_t {
        queue,     ///< There is work in it.
        task,      ///< It is finished.
        settings,  ///< Those of the queue of this name were changed.
        cancel,    ///< Whoever runs this task shall stop.
        pause,     ///< Whoever runs this task shall pause.
        drain,     ///< The worker of this name shall finish what it has and leave.
        instances  ///< One has come or gone; it has no name.
    };
    Of of = Of::queue;
    std::string name;         ///< Without line ends.
    std::uint32_t count = 1;  ///< queue: about so many tasks.

    friend bool operator==(const Hint&, const Hint&) = default;
};

class Coordination {
  public:
    virtual ~Coordination() = default;

    /// C1 Never more than `capacity` holders whose time is not over. None: all are taken.
    /// C2 `fence` is larger than that of every earlier acquisition of the key.
    virtual Async<Result<std::optional<Lock>>> acquire(LockRequest request) = 0;
    /// C3 Only for the token that holds it and whose time is not over; none: it is lost, and nothing was written. It
    ///    never makes the time shorter.
    virtual Async<Result<std::optional<Lock>>> renew(Lock lock, Duration ttl) = 0;
    /// C4 Only for the token that holds it; false: it did not any more.
    virtual Async<Result<bool>> release(Lock lock) = 0;
    /// C5 The holders' tokens, of those whose time is not over.
    virtual Async<Result<std::vector<std::string>>> holders_of(std::string key) = 0;

    /// C6 Seen by `instances`, once and as it was last announced, until `ttl` is over, or `leave` is called.
    virtual Async<Result<>> announce(Instance self, Duration ttl) = 0;
    virtual Async<Result<>> leave(std::string id) = 0;
    /// In the order of their ids.
    virtual Async<Result<std::vector<Instance>>> instances() = 0;

    /// C7 Reaches the other instances, perhaps. Returns at once; hints are gathered for some milliseconds, and equal
    ///    ones become one.
    virtual void tell(Hint hint) = 0;
    /// Called with what others tell, never with one's own, never from within a call of this port.
    virtual void on_hint(std::function<void(const Hint&)> act) = 0;

    /// Nothing is told or heard any more when it returns.
    virtual Async<void> stop() = 0;
};

}  // namespace holdfast::coordination
