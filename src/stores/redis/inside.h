// What a RedisStore is made of.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "stores/redis/gather.h"
#include "stores/redis/redis_store.h"
#include "stores/redis/scripts.h"
#include "stores/redis/server_check.h"
#include "stores/redis/shard.h"

namespace holdfast::stores {

class RedisStore::Inside {
  public:
    Inside(holdfast::redis::Client& client, RedisOptions asked, const redis::ServerFacts& facts,
           asio::any_io_executor executor);

    redis::Shard& shard_of(Partition partition);

    /// The same of every shard, at once.
    template <class T, class Ask>
    Async<Result<std::vector<T>>> of_each(Ask ask) {
        std::vector<Async<Result<T>>> works;
        works.reserve(shards.size());
        for (const auto& shard : shards) works.push_back(ask(*shard));
        auto answers = co_await redis::gather(around.executor, &group, std::move(works));
        std::vector<T> all;
        all.reserve(answers.size());
        for (Result<T>& answer : answers) {
            CO_TRY(T one, std::move(answer));
            all.push_back(std::move(one));
        }
        co_return all;
    }

    /// Where the sweep is.
    struct Broom {
        std::size_t shard = 0;
        std::size_t phase = 0;  ///< First each state, then each lane.
        std::string cursor = "0";
        std::vector<std::string> lanes = {};
    };
    /// One call. True in `ended`: it was the last of a round.
    Async<Result<std::size_t>> sweep_some(Broom* at, std::size_t most, bool* ended);
    /// Its settings may be others, and its last writes lost.
    Async<void> meet_another_server();

    // ---- claims over several shards ----
    /// Each shard knows only its own holders of a queue's permits: asks for no more than all of them leave.
    Async<Result<>> keep_limits(ClaimRequest* request);
    /// From these at once, until they have no more or it is enough; takes what it got off `request`.
    Async<Result<>> claim_from(std::vector<redis::Shard*> open, ClaimRequest* request,
                               std::vector<Record>* claimed);
    Async<Result<std::vector<redis::Shard*>>> ready_shards(const ClaimRequest* request);

    RedisOptions options;
    TaskGroup group;
    redis::Scripts scripts;
    redis::Surroundings around;
    std::vector<std::unique_ptr<redis::Shard>> shards;
    std::string durability;
    std::size_t turn = 0;        ///< Of the queues of a claim: nobody starves behind another.
    std::size_t next_shard = 0;  ///< Whose turn it is to be asked first.
    /// How many of a limited queue claims under way may still take: two at once do not both take the last.
    std::map<std::string, std::uint32_t, std::less<>> promised;
    Broom broom;
    bool closing = false;
    std::shared_ptr<Inside*> alive;  ///< For the client, which may call back later.
};

}  // namespace holdfast::stores
