// The store and the coordination that share a Redis client.
#include "app/backend.h"

namespace holdfast::app {

Async<Result<Backend>> open_redis(config::Config, std::string, Clock*, asio::any_io_executor) {
    co_return invalid("store.url", "this build has no such store: use memory: or sqlite:PATH");
}

}  // namespace holdfast::app
