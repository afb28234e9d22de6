#include "testing/redis_cluster.h"

#include <chrono>
#include <string_view>

#include "testing/redis_talk.h"

namespace holdfast::testing {
namespace {

using redis::Command;
using redis::Reply;
using redis::Value;
using namespace std::chrono_literals;

constexpr int kSlots = 16'384;

Result<> done(std::uint16_t port, const Command& command) {
    TRY_VOID(ask_redis(port, command));
    return {};
}

}  // namespace

Result<std::unique_ptr<RedisCluster>> RedisCluster::start(int masters, int replicas_each,
                                                          std::vector<std::string> options) {
    std::unique_ptr<RedisCluster> cluster(new RedisCluster);
    for (int i = 0; i < masters * (1 + replicas_each); ++i) {
        // The bus is at port + 10 000 unless said, which may be no port at all.
        TRY(const std::uint16_t bus, free_port());
        std::vector<std::string> words{"--cluster-enabled",
                                       "yes",
                                       "--cluster-node-timeout",
                                       "500",
                                       "--cluster-port",
                                       std::to_string(bus),
                                       "--cluster-replica-validity-factor",
                                       "0",
                                       "--cluster-allow-replica-migration",
                                       "no",
                                       "--repl-diskless-sync-delay",
                                       "0"};
        words.insert(words.end(), options.begin(), options.end());
        TRY(auto server, RedisServer::start(std::move(words)));
        cluster->servers_.push_back(std::move(server));
        cluster->bus_ports_.push_back(bus);
    }
    TRY_VOID(cluster->introduce(masters, replicas_each));
    TRY_VOID(cluster->follow(masters, replicas_each));
    TRY_VOID(cluster->wait_until_whole());
    return cluster;
}

/// The first `masters` servers share the slots out; everybody meets the first.
Result<> RedisCluster::introduce(int masters, int replicas_each) const {
    for (int i = 0; i < masters; ++i) {
        TRY_VOID(done(port(i), Command("CLUSTER", "ADDSLOTSRANGE", kSlots * i / masters,
                                       kSlots * (i + 1) / masters - 1)));
    }
    const int all = masters * (1 + replicas_each);
    for (int i = 0; i < all; ++i) {
        TRY_VOID(done(port(i), Command("CLUSTER", "SET-CONFIG-EPOCH", i + 1)));
        if (i == 0) continue;
        TRY_VOID(done(port(i), Command("CLUSTER", "MEET", "127.0.0.1", port(0), bus_ports_[0])));
    }
    const std::string known = "cluster_known_nodes:" + std::to_string(all) + "\r";
    for (int i = 0; i < all; ++i) {
        TRY_VOID(wait_until("everybody knows everybody", 20s, [&] {
            return redis_says(port(i), Command("CLUSTER", "INFO"), known);
        }));
    }
    return {};
}

Result<> RedisCluster::follow(int masters, int replicas_each) const {
    for (int i = masters; i < masters * (1 + replicas_each); ++i) {
        TRY(const std::string master, id_of(i % masters));
        TRY_VOID(wait_until("a replica follows", 10s, [&] {
            return done(port(i), Command("CLUSTER", "REPLICATE", master)).has_value();
        }));
        TRY_VOID(wait_until("a replica has its data", 20s, [&] {
            return redis_says(port(i), Command("INFO", "replication"), "master_link_status:up");
        }));
    }
    return {};
}

Result<std::string> RedisCluster::id_of(int server) const {
    TRY(const Reply reply, ask_redis(port(server), Command("CLUSTER", "MYID")));
    return std::string(reply.root().text());
}

std::string RedisCluster::url() const {
    std::string url = "redis-cluster://";
    for (const auto& server : servers_)
        url.append(url.ends_with('/') ? "" : ",")
            .append("127.0.0.1:")
            .append(std::to_string(server->port()));
    return url;
}

int RedisCluster::master_of(std::uint16_t slot) const {
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        if (!servers_[i]->is_running()) continue;
        const auto slots = ask_redis(servers_[i]->port(), Command("CLUSTER", "SLOTS"));
        if (!slots) continue;
        for (const Value range : slots->root()) {
            if (slot < range[0].integer() || slot > range[1].integer()) continue;
            for (std::size_t j = 0; j < servers_.size(); ++j) {
                if (servers_[j]->port() == range[2][1].integer() && servers_[j]->is_running())
                    return static_cast<int>(j);
            }
        }
    }
    return -1;
}

Result<int> RedisCluster::owner_of(std::uint16_t slot) const {
    const int master = master_of(slot);
    if (master < 0) return refuse(Code::not_found, "no server has slot " + std::to_string(slot));
    return master;
}

int RedisCluster::replica_of(int master) const {
    const std::string line = "master_port:" + std::to_string(port(master)) + "\r";
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        if (servers_[i]->is_running() &&
            redis_says(servers_[i]->port(), Command("INFO", "replication"), line))
            return static_cast<int>(i);
    }
    return -1;
}

Result<> RedisCluster::wait_until_whole(Duration limit) const {
    for (const auto& server : servers_) {
        if (!server->is_running()) continue;
        TRY_VOID(wait_until("the cluster is whole", limit, [&] {
            return redis_says(server->port(), Command("CLUSTER", "INFO"), "cluster_state:ok") &&
                   redis_says(server->port(), Command("CLUSTER", "INFO"), "cluster_slots_ok:16384");
        }));
    }
    return {};
}

Result<> RedisCluster::fail_over(std::uint16_t slot) const {
    TRY(const int master, owner_of(slot));
    const int replica = replica_of(master);
    if (replica < 0) return refuse(Code::not_found, "no replica to fail over to");
    const Command replication("INFO", "replication");
    TRY_VOID(wait_until("the replica has its data", 20s, [&] {
        return redis_says(port(replica), replication, "master_link_status:up");
    }));
    // A server that is busy may miss its chance: it is asked again, but not while it tries.
    constexpr int kLooksPerAttempt = 100;
    int looks = 0;
    return wait_until("the replica took over", 30s, [&] {
        if (looks++ % kLooksPerAttempt == 0 &&
            !ask_redis(port(replica), Command("CLUSTER", "FAILOVER")))
            return false;
        return redis_says(port(replica), replication, "role:master");
    });
}

Result<> RedisCluster::begin_migration(std::uint16_t slot, int to) const {
    TRY(const int from, owner_of(slot));
    TRY(const std::string from_id, id_of(from));
    TRY(const std::string to_id, id_of(to));
    TRY_VOID(done(port(to), Command("CLUSTER", "SETSLOT", slot, "IMPORTING", from_id)));
    return done(port(from), Command("CLUSTER", "SETSLOT", slot, "MIGRATING", to_id));
}

Result<> RedisCluster::move_keys(std::uint16_t slot, int to, int most) const {
    TRY(const int from, owner_of(slot));
    TRY(const Reply keys, ask_redis(port(from), Command("CLUSTER", "GETKEYSINSLOT", slot, most)));
    for (const Value key : keys.root()) {
        TRY_VOID(done(port(from), Command("MIGRATE", "127.0.0.1", port(to), key.text(), 0, 5000)));
    }
    return {};
}

Result<> RedisCluster::end_migration(std::uint16_t slot, int to) const {
    TRY(const int from, owner_of(slot));
    TRY(const std::string to_id, id_of(to));
    TRY_VOID(done(port(to), Command("CLUSTER", "SETSLOT", slot, "NODE", to_id)));
    return done(port(from), Command("CLUSTER", "SETSLOT", slot, "NODE", to_id));
}

Result<> RedisCluster::migrate(std::uint16_t slot, int to) const {
    constexpr int kAtOnce = 100;
    TRY(const int from, owner_of(slot));
    TRY_VOID(begin_migration(slot, to));
    for (std::int64_t left = 1; left > 0;) {
        TRY_VOID(move_keys(slot, to, kAtOnce));
        TRY(const Reply count, ask_redis(port(from), Command("CLUSTER", "COUNTKEYSINSLOT", slot)));
        left = count.root().integer();
    }
    return end_migration(slot, to);
}

}  // namespace holdfast::testing
