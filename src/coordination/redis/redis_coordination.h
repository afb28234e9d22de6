// Coordination through Redis: of all instances that share a server or a cluster, and a prefix.
//
//     {p:c}:lock:<key>   zset     token by expiry, ms; gone when the last holder's time is over
//     {p:c}:fence        string   the last fence that was given, for all locks
//     {p:c}:alive        zset     instance by expiry, ms
//     {p:c}:instances    hash     what each says of itself, JSON
//     <p>:hints          channel  hints, see coordination/hints.h
//
// All keys have one hash tag, so every step is one script in one slot; the clock is that server's.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/rng.h"
#include "base/task_group.h"
#include "coordination/coordination.h"
#include "coordination/hints.h"
#include "redis/redis.h"

namespace holdfast::coordination {

struct RedisCoordinationOptions {
    std::string prefix = "hf";
    std::string instance;  ///< Who tells; its own hints are not heard.
    Duration gather = std::chrono::milliseconds{3};
};

class RedisCoordination final : public Coordination {
  public:
    /// The client outlives it. Hints are heard from here on; stop() before it dies.
    RedisCoordination(redis::Client& client, RedisCoordinationOptions options, Clock& clock,
                      asio::any_io_executor executor);
    ~RedisCoordination() override;
    RedisCoordination(const RedisCoordination&) = delete;
    RedisCoordination& operator=(const RedisCoordination&) = delete;

    Async<Result<std::optional<Lock>>> acquire(LockRequest request) override;
    Async<Result<std::optional<Lock>>> renew(Lock lock, Duration ttl) override;
    Async<Result<bool>> release(Lock lock) override;
    Async<Result<std::vector<std::string>>> holders_of(std::string key) override;

    Async<Result<>> announce(Instance self, Duration ttl) override;
    Async<Result<>> leave(std::string id) override;
    Async<Result<std::vector<Instance>>> instances() override;

    void tell(Hint hint) override;
    void on_hint(std::function<void(const Hint&)> act) override;
    Async<void> stop() override;

  private:
    struct Ear;
    std::string key(std::string_view name) const;
    std::string lock_key(std::string_view name) const { return key("lock:" + std::string(name)); }
    Async<void> publish();

    redis::Client& client_;
    RedisCoordinationOptions options_;
    Clock& clock_;
    asio::any_io_executor executor_;
    Rng rng_ = Rng::from_system();
    HintBatch batch_;
    TaskGroup group_;
    std::shared_ptr<Ear> ear_;  ///< The client keeps it for as long as it is subscribed.
};

}  // namespace holdfast::coordination
