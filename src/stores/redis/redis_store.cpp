#include "stores/redis/redis_store.h"

#include <algorithm>

#include "base/log.h"
#include "stores/redis/inside.h"

namespace holdfast::stores {
namespace {

using redis::Shard;

/// A value of a hash is inside a listpack up to this, and no larger ones are put there: reading a record reads all.
constexpr std::size_t kLongestInside = 256;

redis::Manner manner_of(const RedisOptions& options, const redis::ServerFacts& facts) {
    redis::Manner manner;
    // One byte says that an outcome stands inside.
    manner.longest_inside =
        std::min(std::max<std::size_t>(facts.longest_listpack_value, 1) - 1, kLongestInside);
    manner.reclaim_idle = options.reclaim_idle;
    manner.keeps = [queues = options.pel_queues](std::string_view queue) {
        return queues.contains(queue) || queues.contains("*");
    };
    return manner;
}

}  // namespace

RedisStore::Inside::Inside(holdfast::redis::Client& client, RedisOptions asked,
                           const redis::ServerFacts& facts, asio::any_io_executor executor)
    : options(std::move(asked)),
      group(executor),
      scripts(facts.cluster),
      around{.client = client,
             .executor = executor,
             .group = group,
             .scripts = scripts,
             .manner = manner_of(options, facts),
             .consumer = options.instance,
             .dlq = options.dlq,
             .dlq_per_partition = facts.partitions > 1 || facts.cluster,
             .wait_replicas = options.wait_replicas,
             .wait_fsyncs = options.wait_fsync ? 1U : 0U,
             .wait_timeout = options.wait_timeout},
      durability(facts.durability),
      alive(std::make_shared<Inside*>(this)) {
    for (std::uint32_t p = 0; p < facts.partitions; ++p)
        shards.push_back(
            std::make_unique<Shard>(around, redis::partition_prefix(options.prefix, p)));
}

Async<void> RedisStore::Inside::meet_another_server() {
    ++around.servers;
    if (auto found = co_await redis::read_durability(&around.client, options)) {
        if (durability != *found)
            log::warn("another Redis server has taken over",
                      {{"durability", *found}, {"durability_before", durability}});
        durability = *found;
    }
    Broom round;
    std::size_t mended = 0;
    for (bool ended = false; !ended && !closing;) {
        const auto some = co_await sweep_some(&round, redis::kScriptTasks, &ended);
        if (!some) co_return;  // the next server, or the usual sweep, will do it
        mended += *some;
    }
    if (mended > 0) log::warn("mended what another Redis server had lost", {{"records", mended}});
}

RedisStore::RedisStore(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}

RedisStore::~RedisStore() {
    *inside_->alive = nullptr;
}

Async<Result<std::unique_ptr<RedisStore>>> RedisStore::open(holdfast::redis::Client& client,
                                                            RedisOptions options, Clock& /*clock*/,
                                                            asio::any_io_executor executor) {
    return open(&client, std::move(options), std::move(executor));
}

Async<Result<std::unique_ptr<RedisStore>>> RedisStore::open(holdfast::redis::Client* client,
                                                            RedisOptions options,
                                                            asio::any_io_executor executor) {
    CO_TRY(const redis::ServerFacts facts, co_await redis::check_server(client, options));
    auto inside = std::make_unique<Inside>(*client, std::move(options), facts, executor);
    client->on_another_server([alive = inside->alive] {
        if (*alive != nullptr && !(*alive)->closing)
            (*alive)->group.spawn((*alive)->meet_another_server());
    });
    co_return std::unique_ptr<RedisStore>(new RedisStore(std::move(inside)));
}

Async<void> RedisStore::close() {
    inside_->closing = true;
    co_await inside_->group.join();
}

std::uint32_t RedisStore::partitions() const {
    return static_cast<std::uint32_t>(inside_->shards.size());
}

Shard& RedisStore::Inside::shard_of(Partition partition) {
    return *shards[static_cast<std::size_t>(partition) % shards.size()];
}

Async<Result<Time>> RedisStore::clock() {
    return inside_->shards.front()->clock();
}

std::string_view RedisStore::durability() const {
    return inside_->durability;
}

}  // namespace holdfast::stores
