#include "testing/redis_sentinel.h"

#include <chrono>

#include "testing/redis_talk.h"

namespace holdfast::testing {

using redis::Command;
using namespace std::chrono_literals;

Result<std::unique_ptr<RedisSentinel>> RedisSentinel::start(int replicas, int sentinels,
                                                            std::vector<std::string> options) {
    std::unique_ptr<RedisSentinel> house(new RedisSentinel);
    options.insert(options.end(), {"--repl-diskless-sync-delay", "0"});
    TRY(auto master, RedisServer::start(options));
    const std::string port = std::to_string(master->port());
    house->servers_.push_back(std::move(master));
    options.insert(options.end(), {"--replicaof", "127.0.0.1 " + port});
    for (int i = 0; i < replicas; ++i) {
        TRY(auto replica, RedisServer::start(options));
        TRY_VOID(wait_until("a replica has its data", 20s, [&] {
            return redis_says(replica->port(), Command("INFO", "replication"),
                              "master_link_status:up");
        }));
        house->servers_.push_back(std::move(replica));
    }
    const std::string name = kService;
    for (int i = 0; i < sentinels; ++i) {
        TRY(auto sentinel,
            RedisServer::start_sentinel({"sentinel monitor " + name + " 127.0.0.1 " + port + " " +
                                             std::to_string(sentinels / 2 + 1),
                                         "sentinel down-after-milliseconds " + name + " 500",
                                         "sentinel failover-timeout " + name + " 3000"}));
        house->sentinels_.push_back(std::move(sentinel));
    }
    const std::string known =
        "slaves=" + std::to_string(replicas) + ",sentinels=" + std::to_string(sentinels) + "\r";
    for (const auto& sentinel : house->sentinels_) {
        TRY_VOID(wait_until("the Sentinels know everybody", 30s, [&] {
            return redis_says(sentinel->port(), Command("INFO", "sentinel"), known);
        }));
    }
    return house;
}

std::string RedisSentinel::url() const {
    std::string url = "redis-sentinel://";
    for (const auto& sentinel : sentinels_)
        url.append(url.ends_with('/') ? "" : ",")
            .append("127.0.0.1:")
            .append(std::to_string(sentinel->port()));
    return url + "/" + kService;
}

int RedisSentinel::master() const {
    const auto address = ask_redis(sentinels_.front()->port(),
                                   Command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", kService));
    for (std::size_t i = 0; address && i < servers_.size(); ++i) {
        if (servers_[i]->port() == address->root()[1].integer()) return static_cast<int>(i);
    }
    return -1;
}

Result<> RedisSentinel::wait_for_another_than(int master, Duration limit) const {
    return wait_until("another master", limit, [&] {
        const int now = this->master();
        return now >= 0 && now != master;
    });
}

Result<> RedisSentinel::fail_over() const {
    TRY_VOID(ask_redis(sentinels_.front()->port(), Command("SENTINEL", "FAILOVER", kService)));
    return {};
}

}  // namespace holdfast::testing
