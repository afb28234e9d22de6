// Coordination within one process: for the embedded store, where there is one instance, and for tests, where several
// share a hub.
#pragma once

#include <list>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/rng.h"
#include "coordination/coordination.h"

namespace holdfast::coordination {

class LocalCoordination;

/// What the instances of one process share. Outlives them.
class LocalHub {
  public:
    LocalHub(Clock& clock, asio::any_io_executor executor)
        : clock_(clock), executor_(std::move(executor)) {}

  private:
    friend class LocalCoordination;
    struct Present {
        Instance instance;
        Time until;
    };
    using Holders = std::map<std::string, Time>;  ///< By token: until when.

    /// Without those whose time is over.
    Holders& holders(const std::string& key);

    Clock& clock_;
    asio::any_io_executor executor_;
    std::map<std::string, Holders> locks_;
    std::map<std::string, Present> present_;
    std::list<LocalCoordination*> members_;
    std::uint64_t last_fence_ = 0;
};

class LocalCoordination final : public Coordination {
  public:
    explicit LocalCoordination(LocalHub& hub);
    ~LocalCoordination() override;
    LocalCoordination(const LocalCoordination&) = delete;
    LocalCoordination& operator=(const LocalCoordination&) = delete;

    Async<Result<std::optional<Lock>>> acquire(LockRequest request) override;
    Async<Result<std::optional<Lock>>> renew(Lock lock, Duration ttl) override;
    Async<Result<bool>> release(Lock lock) override;
    Async<Result<std::vector<std::string>>> holders_of(std::string key) override;

    Async<Result<>> announce(Instance self, Duration ttl) override;
    Async<Result<>> leave(std::string id) override;
    Async<Result<std::vector<Instance>>> instances() override;

    void tell(Hint hint) override;
    void on_hint(std::function<void(const Hint&)> act) override { act_ = std::move(act); }
    Async<void> stop() override;

  private:
    LocalHub& hub_;
    std::list<LocalCoordination*>::iterator place_;
    Rng rng_ = Rng::from_system();
    std::function<void(const Hint&)> act_;
    bool stopped_ = false;
};

}  // namespace holdfast::coordination
