#include "app/backend.h"

#include <boost/asio/co_spawn.hpp>
#include <filesystem>

#include "coordination/local/local_coordination.h"
#include "stores/memory/memory_store.h"
#include "stores/sqlite/sqlite_store.h"

namespace holdfast::app {
namespace {

Async<Result<>> nothing_to_do() {
    co_return Result<>{};
}

Result<Backend> open_sqlite(const config::Config::Store& wanted, Clock& clock,
                            const asio::any_io_executor& executor) {
    stores::SqliteOptions options;
    options.directory = std::filesystem::path(std::string(wanted.url.place()));
    options.body_cache_bytes = wanted.body_cache_bytes;
    if (wanted.durability == config::Durability::relaxed)
        options.durability = stores::SqliteOptions::Durability::relaxed;
    TRY(auto store, stores::SqliteStore::open(std::move(options), clock, executor));
    stores::SqliteStore* opened = store.get();
    Backend backend;
    backend.store = std::move(store);
    backend.close = [opened] { return opened->close(); };
    backend.check = [opened] { return opened->check(); };
    return backend;
}

Backend open_memory(Clock& clock) {
    Backend backend;
    backend.store = std::make_unique<stores::MemoryStore>(clock);
    backend.close = nothing_to_do;
    backend.check = nothing_to_do;
    return backend;
}

/// One process has such a store to itself: it agrees with nobody else.
Backend alone(Backend backend, Clock& clock, const asio::any_io_executor& executor) {
    auto hub = std::make_shared<coordination::LocalHub>(clock, executor);
    backend.coordination = std::make_unique<coordination::LocalCoordination>(*hub);
    backend.ground = std::move(hub);
    return backend;
}

Result<Backend> run_until_open(asio::io_context& context, Async<Result<Backend>> opening) {
    std::optional<Result<Backend>> opened;
    asio::co_spawn(context, std::move(opening),
                   [&](const std::exception_ptr& failure, Result<Backend> result) {
                       if (failure) std::rethrow_exception(failure);
                       opened = std::move(result);
                   });
    while (!opened) context.run_one();
    return *std::move(opened);
}

}  // namespace

Result<Backend> open_backend(const config::Config& config, const std::string& instance,
                             Clock& clock, asio::io_context& context) {
    const config::Scheme scheme = config.store.url.scheme;
    const asio::any_io_executor executor = context.get_executor();
    if (config::is_redis(scheme))
        return run_until_open(context, open_redis(config, instance, &clock, executor));
    if (scheme == config::Scheme::memory) return alone(open_memory(clock), clock, executor);
    if (scheme != config::Scheme::sqlite)
        return invalid("store.url",
                       "this build has no such store: use memory:, sqlite:PATH or redis://…");
    TRY(Backend backend, open_sqlite(config.store, clock, executor));
    return alone(std::move(backend), clock, executor);
}

}  // namespace holdfast::app
