// `holdfast serve`: the server, until it is told to stop.
#pragma once

#include <functional>
#include <string>

#include "config/config.h"

namespace holdfast::app {

/// Exit codes beyond those of every command.
inline constexpr int kExitUsage = 2;

struct Running {
    /// Called when requests are served, with the server's address.
    std::function<void(const std::string& url)> on_ready;
    /// Called when the server is about to stop; returns when whoever uses it has left.
    std::function<void()> before_stop;
};

/// Serves until SIGTERM or SIGINT; a second one ends it at once. Returns the exit code.
int serve(const config::Loaded& loaded, const Running& running = {});

}  // namespace holdfast::app
