// One real partition: its keys, its clock, and the calls to its scripts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/result.h"
#include "base/task_group.h"
#include "redis/redis.h"
#include "stores/redis/batcher.h"
#include "stores/redis/scripts.h"
#include "stores/redis/wire.h"
#include "stores/store.h"

namespace holdfast::stores::redis {

using holdfast::redis::Client;
using holdfast::redis::Command;
using holdfast::redis::Reply;
using holdfast::redis::Value;

/// What all shards of a store have in common. Lives longer than they do.
struct Surroundings {
    Client& client;
    asio::any_io_executor executor;
    TaskGroup& group;
    const Scripts& scripts;
    Manner manner;
    std::string consumer;
    std::string dlq;  ///< The stream's key; empty: none.
    bool dlq_per_partition = false;
    std::uint32_t wait_replicas = 0;
    std::uint32_t wait_fsyncs = 0;  ///< 1: on the disk of the server itself; needs WAITAOF.
    Duration wait_timeout{0};
    std::uint64_t servers = 0;  ///< Grows when a server was replaced by another.
};

class Shard {
  public:
    Shard(const Surroundings& around, std::string prefix);

    std::string key(std::string_view name) const { return prefix_ + std::string(name); }

    /// Coalesced with what others ask at the same time.
    Async<std::vector<Result<Outcome>>> commit(std::vector<EncodedChange> changes) {
        return commits_.ask(std::move(changes));
    }
    Async<std::vector<Result<std::vector<Record>>>> claim(const ClaimRequest& request,
                                                          std::uint32_t max);
    Async<std::vector<Result<Renewed>>> renew(std::vector<std::string> renewals);
    Async<std::vector<Result<std::optional<Record>>>> load(std::vector<std::string> refs);

    /// A call of its own. The answer's first element, the script's time, is taken note of.
    Async<Result<Reply>> run(const holdfast::redis::Script& script,
                             std::vector<std::string> arguments) {
        return run(&script, std::move(arguments));
    }
    /// A plain command on one of its keys.
    Async<Result<Reply>> call(std::string name, Command command);

    /// Never runs backwards.
    Async<Result<Time>> clock();
    std::string dlq() const;

    bool has_work = false;  ///< The last claim found something here.

  private:
    struct Text {
        std::string bytes;
        std::size_t weight = 1;
    };
    using Commits = Batcher<EncodedChange, Outcome>;
    using Claims = Batcher<Text, std::vector<Record>>;
    using Renewals = Batcher<Text, Renewed>;
    using Loads = Batcher<Text, std::optional<Record>>;

    Async<Result<Reply>> run(const holdfast::redis::Script* script,
                             std::vector<std::string> arguments);
    Async<Commits::Answers> send_commits(std::vector<EncodedChange> changes);
    Async<Commits::Answers> send_where_memory_is_short(std::vector<EncodedChange> changes);
    Async<Claims::Answers> send_claims(std::vector<Text> requests);
    Async<Renewals::Answers> send_renewals(std::vector<Text> renewals);
    Async<Loads::Answers> send_loads(std::vector<Text> refs);
    Async<Result<>> await_durable(std::uint64_t servers);

    const Surroundings& around_;
    std::string prefix_;
    std::int64_t floor_ = 0;  ///< The latest time seen here, µs.
    Commits commits_;
    Claims claims_;
    Renewals renewals_;
    Loads loads_;
};

}  // namespace holdfast::stores::redis
