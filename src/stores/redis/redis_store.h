// `redis://…` — the store for many instances: one Redis server, or a cluster, seen by each of them alike.
//
// Every step is one script on one partition, atomic there; questions that come at the same time share a script.
// The tasks of a lane stand in a Stream, so XLEN and XPENDING tell an operator what waits and what is held:
// docs/reference/redis-keys.md.
//
// Threads: used from one executor, and answers on it.
// Failure: `unavailable` while Redis does not answer. The store itself keeps nothing that must not be lost.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "redis/redis.h"
#include "stores/store.h"

namespace holdfast::stores {

struct RedisOptions {
    std::string prefix = "hf";  ///< Of every key: environments may share a server.
    std::uint32_t partitions =
        0;  ///< Fixed when the store is made; 0: what it has, else 1, on a cluster 16.
    std::string instance =
        "holdfast";            ///< The consumer's name in XPENDING: one per instance, and stable.
    bool accept_loss = false;  ///< Opens on a server that may forget what it accepted.
    /// Queues whose entries stay pending from the first claim until the task is over (XPENDING shows what failed and
    /// waits); "*": all. Else an entry that failed leaves its stream, and comes back when it is due.
    std::set<std::string, std::less<>> pel_queues = {};
    /// pel_queues: a pending entry is handed out again no earlier than this after it was last handed out.
    Duration reclaim_idle{0};
    /// The Stream that names suspended and failed tasks for as long as they are that; empty: none. On several
    /// partitions each has its own, behind its tag.
    std::string dlq = "hf:dlq";
    std::uint32_t wait_replicas = 0;  ///< A commit returns when so many replicas have it.
    bool wait_fsync = false;          ///< … and when it is on the server's own disk. Redis 7.2.
    Duration wait_timeout = std::chrono::seconds{1};  ///< Then it is `unavailable`.
};

class RedisStore final : public Store {
  public:
    /// Refuses a server that evicts keys, keeps no log (unless accept_loss) or is older than 7.0, and what another
    /// version or another number of partitions has made; the error says what was found and what to type. The client is
    /// started, and outlives the store.
    static Async<Result<std::unique_ptr<RedisStore>>> open(holdfast::redis::Client& client,
                                                           RedisOptions options, Clock& clock,
                                                           asio::any_io_executor executor);
    /// Nobody may be waiting for an answer, and close() has returned.
    ~RedisStore() override;
    Async<void> close();

    /// Looks at about `limit` more records and pending entries, round and round, and mends what a half-run script or
    /// lost writes have left: returns how many. Any number of instances may.
    Async<Result<std::size_t>> sweep(std::size_t limit);
    /// Once round. Begun by itself when another server has taken over.
    Async<Result<std::size_t>> reconcile();

    std::uint32_t partitions() const;

    Async<Result<std::vector<Outcome>>> commit(std::vector<Change> changes) override;
    Async<Result<std::vector<Record>>> claim(ClaimRequest request) override;
    Async<Result<std::vector<Renewed>>> renew(std::vector<Renewal> renewals) override;
    Async<Result<std::vector<std::optional<Record>>>> load(std::vector<Key> keys) override;
    Async<Result<std::vector<Record>>> due(std::size_t limit) override;
    Async<Result<Page>> list(Filter filter, std::string cursor, std::size_t limit,
                             std::size_t budget) override;
    Async<Result<Stats>> stats() override;
    Async<Result<std::vector<domain::Transition>>> history(Key key) override;
    Async<Result<std::vector<LogEntry>>> log(std::string log, Uuid owner, std::size_t skip,
                                             std::size_t limit) override;
    Async<Result<FeedPage>> feed(std::string cursor, std::size_t limit) override;
    Async<Result<std::vector<std::int64_t>>> count(std::vector<Tally> tallies) override;
    Async<Result<std::size_t>> trim(TrimRequest request) override;
    Async<Result<Time>> clock() override;
    /// always, everysec, none or unknown, as the server is set up; "+wait" where commits wait for replicas or the disk.
    std::string_view durability() const override;

  private:
    class Inside;
    explicit RedisStore(std::unique_ptr<Inside> inside);
    static Async<Result<std::unique_ptr<RedisStore>>> open(holdfast::redis::Client* client,
                                                           RedisOptions options,
                                                           asio::any_io_executor executor);
    std::unique_ptr<Inside> inside_;
};

}  // namespace holdfast::stores
