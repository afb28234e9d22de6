// A Redis Cluster of a test's own. Its servers find a dead one within a second.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "testing/redis_server.h"

namespace holdfast::testing {

class RedisCluster {
  public:
    /// Returns when every server says that the cluster is whole and every replica has its data.
    static Result<std::unique_ptr<RedisCluster>> start(int masters, int replicas_each = 0,
                                                       std::vector<std::string> options = {});

    /// redis-cluster://… with all of its servers.
    std::string url() const;
    const std::vector<std::unique_ptr<RedisServer>>& servers() const { return servers_; }
    /// Of servers(); -1: nobody that runs has it.
    int master_of(std::uint16_t slot) const;
    /// Of servers(), any that follows this master; -1: none that runs.
    int replica_of(int master) const;

    /// Every running server agrees that all slots are served.
    Result<> wait_until_whole(Duration limit = std::chrono::seconds{30}) const;
    /// A replica takes over from a master that is alive and agrees.
    Result<> fail_over(std::uint16_t slot) const;

    /// The slot and its keys go to the master `to`, as redis-cli does it.
    Result<> migrate(std::uint16_t slot, int to) const;
    /// The same in steps: between them, keys are here or there, and servers answer ASK.
    Result<> begin_migration(std::uint16_t slot, int to) const;
    Result<> move_keys(std::uint16_t slot, int to, int most) const;
    Result<> end_migration(std::uint16_t slot, int to) const;

  private:
    RedisCluster() = default;
    Result<> introduce(int masters, int replicas_each) const;
    Result<> follow(int masters, int replicas_each) const;
    Result<int> owner_of(std::uint16_t slot) const;
    Result<std::string> id_of(int server) const;
    std::uint16_t port(int server) const {
        return servers_[static_cast<std::size_t>(server)]->port();
    }

    std::vector<std::unique_ptr<RedisServer>> servers_;
    std::vector<std::uint16_t> bus_ports_;
};

}  // namespace holdfast::testing
