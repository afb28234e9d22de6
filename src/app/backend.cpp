#include "app/backend.h"

#include <filesystem>

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
    return Backend{.store = std::move(store),
                   .close = [opened] { return opened->close(); },
                   .check = [opened] { return opened->check(); }};
}

}  // namespace

Result<Backend> open_backend(const config::Config::Store& wanted, Clock& clock,
                             const asio::any_io_executor& executor) {
    switch (wanted.url.scheme) {
        case config::Scheme::memory:
            return Backend{.store = std::make_unique<stores::MemoryStore>(clock),
                           .close = nothing_to_do,
                           .check = nothing_to_do};
        case config::Scheme::sqlite:
            return open_sqlite(wanted, clock, executor);
        default:
            return invalid("store.url", "this build has no such store: use memory: or sqlite:PATH");
    }
}

}  // namespace holdfast::app
