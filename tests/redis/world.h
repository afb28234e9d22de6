// What the tests of the Redis client share: an event loop that runs until a coroutine is done.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "redis/redis.h"

namespace holdfast::redis {

using namespace std::chrono_literals;

class World {
  public:
    asio::io_context io{1};
    SystemClock clock;

    /// Runs everything until `work` has returned.
    template <class T>
    T run(Async<T> work) {
        std::optional<T> result;
        asio::co_spawn(io, std::move(work), [&](const std::exception_ptr& failure, T value) {
            if (failure) std::rethrow_exception(failure);
            result = std::move(value);
        });
        while (!result && io.run_one() > 0) {
        }
        io.restart();
        return std::move(result).value();
    }
    void run(Async<void> work) { run(done(std::move(work))); }
    /// Lets things happen for that long.
    void let(Duration time) { run(slept(time)); }
    /// Until `fact` holds; false: it did not within `limit`.
    bool wait(const std::function<bool()>& fact, Duration limit = 10s) {
        const Time until = clock.now() + limit;
        while (!fact()) {
            if (clock.now() > until) return false;
            let(2ms);
        }
        return true;
    }

    std::unique_ptr<Client> client(Options options) {
        return std::make_unique<Client>(std::move(options), clock, io.get_executor());
    }

  private:
    static Async<bool> done(Async<void> work) {
        co_await std::move(work);
        co_return true;
    }
    Async<void> slept(Duration time) {
        asio::steady_timer timer(io, time);
        co_await timer.async_wait(asio::use_awaitable);
    }
};

/// A client that is stopped with the test.
class Started {
  public:
    Started(World& world, Options options)
        : world_(world), client_(world.client(std::move(options))) {
        result = world_.run(client_->start());
    }
    ~Started() { world_.run(client_->stop()); }
    Started(const Started&) = delete;
    Started& operator=(const Started&) = delete;
    Client* operator->() const { return client_.get(); }
    Client& operator*() const { return *client_; }

    Result<Reply> call(std::string_view key, Command command) {
        return world_.run(client_->call(key, std::move(command)));
    }
    Result<Reply> call(Command command) { return world_.run(client_->call(std::move(command))); }
    /// The answer as text, or what went wrong.
    std::string said(std::string_view key, Command command) {
        return text_of(call(key, std::move(command)));
    }
    std::string said(Command command) { return text_of(call(std::move(command))); }

    static std::string text_of(const Result<Reply>& reply) {
        if (!reply) return "failed: " + reply.error().detail;
        const Value root = reply->root();
        if (root.is_null()) return "null";
        return root.kind() == Reply::Kind::text ? std::string(root.text())
                                                : std::to_string(root.integer());
    }

    Result<> result;

  private:
    World& world_;
    std::unique_ptr<Client> client_;
};

/// For a call that runs beside the test.
inline Async<void> kept(Async<Result<Reply>> call, std::vector<Result<Reply>>* all) {
    all->push_back(co_await std::move(call));
}

inline Options options_for(std::uint16_t port) {
    Options options;
    options.addresses = {{"127.0.0.1", port}};
    return options;
}

}  // namespace holdfast::redis
