// `holdfast serve`: the server, until it is told to stop.
#pragma once

#include <functional>
#include <string>

#include "config/config.h"

namespace holdfast::app {

/// Both are called on the server's own thread: they begin things, and wait for nothing.
struct Company {
    std::function<void(const std::string& url)> on_ready;  ///< Requests are served.
    std::function<void()> on_stopping;
};

/// Serves until SIGTERM or SIGINT; a second one ends it at once. Returns the exit code.
int serve(const config::Loaded& loaded, const Company& company = {});

}  // namespace holdfast::app
