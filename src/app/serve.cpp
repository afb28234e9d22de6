#include "app/serve.h"

#include <malloc.h>
#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>

#include "app/house.h"
#include "base/log.h"

namespace holdfast::app {
namespace {

/// Connections are descriptors: as many as the system lets us have.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// What is freed goes back to the system, and threads share their heap: a burst of work is not paid for in memory
/// for ever.
void keep_memory_small() {
    // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread yet
    ::mallopt(M_ARENA_MAX, 2);
    ::mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
    ::mallopt(M_TRIM_THRESHOLD, 4 * 1024 * 1024);
    // NOLINTEND(concurrency-mt-unsafe)
}

/// A payload must not end up in a core file.
void no_core_files() {
    const rlimit none{};
    ::setrlimit(RLIMIT_CORE, &none);
}

Async<void> live(House* house, const Company* company, int* exit_code) {
    const auto executor = co_await asio::this_coro::executor;
    asio::signal_set signals(executor, SIGTERM, SIGINT);
    house->start();
    std::printf("listening on %s\n", house->url().c_str());
    std::fflush(stdout);
    if (company->on_ready) company->on_ready(house->url());
    const int signal = co_await signals.async_wait(asio::use_awaitable);
    log::info("stopping", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
    signals.clear();  // the next one ends the process as if nobody cared
    if (company->on_stopping) company->on_stopping();
    if (const auto stopped = co_await house->stop(); !stopped) {
        log::error("could not stop cleanly", {{"error", stopped.error().detail}});
        *exit_code = 1;
    }
    log::info("stopped");
}

}  // namespace

int serve(const config::Loaded& loaded, const Company& company) {
    const config::Config& config = loaded.config;
    log::set_up({config.log.level, config.log.form});
    raise_descriptor_limit();
    no_core_files();
    keep_memory_small();
    std::signal(SIGPIPE, SIG_IGN);
    asio::io_context context(1);
    auto house = House::build(loaded, context);
    if (!house) {
        std::fprintf(stderr, "holdfast: %s\n", house.error().detail.c_str());
        return 1;
    }
    int exit_code = 0;
    asio::co_spawn(context, live(house->get(), &company, &exit_code),
                   [](const std::exception_ptr& failure) {
                       if (failure) std::rethrow_exception(failure);
                   });
    context.run();
    return exit_code;
}

}  // namespace holdfast::app
