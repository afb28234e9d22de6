// What kind of server it is, and whether work may be entrusted to it.
#pragma once

#include <cstdint>
#include <string>

#include "base/async.h"
#include "base/result.h"
#include "redis/redis.h"
#include "stores/redis/redis_store.h"

namespace holdfast::stores::redis {

struct ServerFacts {
    bool cluster = false;
    std::uint32_t version = 0;                ///< 70015 is 7.0.15; the oldest of all servers.
    std::string durability;                   ///< Of the least durable of all servers.
    std::size_t longest_listpack_value = 64;  ///< hash-max-listpack-value
    std::uint32_t partitions = 0;
};

/// Asks every server; an error says what is in the way and what to type. Then the store's own mark: another schema or
/// another number of partitions is an error, a store that is not there yet is made.
Async<Result<ServerFacts>> check_server(holdfast::redis::Client* client, RedisOptions options);

/// The durability alone.
Async<Result<std::string>> read_durability(holdfast::redis::Client* client, RedisOptions options);

/// "{hf:3}:"
std::string partition_prefix(const std::string& prefix, std::uint32_t partition);

}  // namespace holdfast::stores::redis
