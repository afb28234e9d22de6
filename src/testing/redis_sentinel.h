// A Redis server with replicas and the Sentinels that watch it, of a test's own. They find a dead one within a second.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "testing/redis_server.h"

namespace holdfast::testing {

class RedisSentinel {
  public:
    static constexpr const char* kService = "holdfast";

    /// Returns when the Sentinels know the replicas and one another. `options`: of the servers.
    static Result<std::unique_ptr<RedisSentinel>> start(int replicas = 1, int sentinels = 3,
                                                        std::vector<std::string> options = {});

    /// redis-sentinel://…/holdfast
    std::string url() const;
    const std::vector<std::unique_ptr<RedisServer>>& servers() const { return servers_; }
    const std::vector<std::unique_ptr<RedisServer>>& sentinels() const { return sentinels_; }
    /// Of servers(), as the first Sentinel says.
    int master() const;
    /// Until the Sentinels' master is another than this one.
    Result<> wait_for_another_than(int master, Duration limit = std::chrono::seconds{30}) const;
    /// The master steps down though it is alive.
    Result<> fail_over() const;

  private:
    RedisSentinel() = default;
    std::vector<std::unique_ptr<RedisServer>> servers_, sentinels_;
};

}  // namespace holdfast::testing
