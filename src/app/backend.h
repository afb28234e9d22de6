// A store of the kind that the configuration names, what instances on it agree by, and what only this kind can do.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "coordination/coordination.h"
#include "stores/store.h"

namespace holdfast::app {

struct Backend {
    std::shared_ptr<void> ground;  ///< What the others stand on.
    std::unique_ptr<stores::Store> store;
    std::unique_ptr<coordination::Coordination> coordination;
    std::function<Async<Result<>>()> close;  ///< Returns when everything is as durable as it gets.
    std::function<Async<Result<>>()> check;  ///< Is what is stored whole?
    /// Mends what an instance that died has left; true: there is more. None: nothing is left here.
    std::function<Async<Result<bool>>()> sweep = nullptr;
    /// What is in the way of the store just now, for people; none: nothing.
    std::function<std::optional<std::string>()> trouble = [] { return std::nullopt; };
    /// Who is told that the server is another one than before.
    std::function<void(std::function<void()> act)> on_another_server = nullptr;
};

/// Runs `context` until the store is open, or an error says what is in the way and what to do. `instance` is the
/// name of this one.
Result<Backend> open_backend(const config::Config& config, const std::string& instance,
                             Clock& clock, asio::io_context& context);

/// Of one server, a cluster, or a server that Sentinels know.
Async<Result<Backend>> open_redis(config::Config config, std::string instance, Clock* clock,
                                  asio::any_io_executor executor);

}  // namespace holdfast::app
