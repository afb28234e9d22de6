// The store and the coordination that share a Redis client.
#include "app/backend.h"
#include "coordination/redis/redis_coordination.h"
#include "redis/redis.h"
#include "stores/redis/redis_store.h"

namespace holdfast::app {
namespace {

constexpr std::size_t kSweptAtOnce = 1000;

stores::RedisOptions store_options(const config::Config::Redis& wanted, std::string instance) {
    stores::RedisOptions options;
    options.prefix = wanted.prefix;
    options.partitions = static_cast<std::uint32_t>(wanted.partitions);
    options.instance = std::move(instance);
    options.accept_loss = wanted.accept_loss;
    options.pel_queues.insert(wanted.pel_queues.begin(), wanted.pel_queues.end());
    options.reclaim_idle = wanted.reclaim_idle;
    options.dlq = wanted.dlq == "auto" ? wanted.prefix + ":dlq" : wanted.dlq;
    options.wait_replicas = static_cast<std::uint32_t>(wanted.wait_replicas);
    options.wait_fsync = wanted.wait_aof;
    options.wait_timeout = wanted.wait_timeout;
    return options;
}

std::unexpected<Error> cannot_use(const config::StoreUrl& url, const Error& error) {
    return refuse(error.code, "cannot use " + url.redacted() + ": " + error.detail);
}

Async<Result<>> close(stores::RedisStore* store, redis::Client* client) {
    co_await store->close();
    co_await client->stop();
    co_return Result<>{};
}

/// What is left behind is found by sweeping, and looking at all of it takes as long as there are tasks.
Async<Result<>> check(stores::RedisStore* store) {
    CO_TRY_VOID(co_await store->clock());
    co_return Result<>{};
}

Async<Result<bool>> sweep(stores::RedisStore* store) {
    CO_TRY(const std::size_t mended, co_await store->sweep(kSweptAtOnce));
    co_return mended >= kSweptAtOnce;
}

}  // namespace

Async<Result<Backend>> open_redis(config::Config config, std::string instance, Clock* clock,
                                  asio::any_io_executor executor) {
    const config::StoreUrl& url = config.store.url;
    auto options = redis::parse_url(url.text);
    if (!options) co_return invalid("store", options.error().detail);
    options->client_name = "holdfast-" + instance;
    auto client = std::make_shared<redis::Client>(*std::move(options), *clock, executor);
    if (const auto started = co_await client->start(); !started) {
        co_await client->stop();
        co_return cannot_use(url,
                             {started.error().code,
                              started.error().detail +
                                  "; see that Redis runs there, and that --store is what you mean",
                              {}});
    }
    auto store = co_await stores::RedisStore::open(*client, store_options(config.redis, instance),
                                                   *clock, executor);
    if (!store) {
        co_await client->stop();
        co_return cannot_use(url, store.error());
    }
    Backend backend;
    stores::RedisStore* const opened = store->get();
    redis::Client* const line = client.get();
    backend.store = *std::move(store);
    backend.coordination = std::make_unique<coordination::RedisCoordination>(
        *client,
        coordination::RedisCoordinationOptions{.prefix = config.redis.prefix, .instance = instance},
        *clock, executor);
    backend.ground = std::move(client);
    backend.close = [opened, line] { return close(opened, line); };
    backend.check = [opened] { return check(opened); };
    backend.sweep = [opened] { return sweep(opened); };
    backend.trouble = [line] { return line->trouble(); };
    backend.on_another_server = [line](std::function<void()> act) {
        line->on_another_server(std::move(act));
    };
    co_return backend;
}

}  // namespace holdfast::app
