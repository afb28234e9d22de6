// A RedisStore on a server that a test started, and plain questions to that server.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/clock.h"
#include "redis/redis.h"
#include "stores/redis/redis_store.h"
#include "testing/redis_talk.h"

namespace holdfast::testing {

template <class T>
T value_of(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().detail);
    return *std::move(result);
}

/// Runs everything until `work` has returned.
template <class T>
T run_until_done(asio::io_context& io, Async<T> work) {
    std::optional<T> result;
    asio::co_spawn(io, std::move(work), [&](const std::exception_ptr& failure, T value) {
        if (failure) std::rethrow_exception(failure);
        result = std::move(value);
    });
    while (!result) {
        if (io.stopped()) io.restart();
        io.run_one();
    }
    return *std::move(result);
}

class RedisStoreFixture {
  public:
    RedisStoreFixture(asio::io_context& io, std::function<std::string()> url,
                      stores::RedisOptions options = {})
        : io_(io), url_(std::move(url)), options_(std::move(options)) {
        open();
    }
    ~RedisStoreFixture() { close(); }
    RedisStoreFixture(const RedisStoreFixture&) = delete;
    RedisStoreFixture& operator=(const RedisStoreFixture&) = delete;

    stores::RedisStore& store() { return *store_; }
    redis::Client& client() { return *client_; }

    void open() {
        client_ = std::make_unique<redis::Client>(value_of(redis::parse_url(url_())), clock_,
                                                  io_.get_executor());
        if (auto started = run_until_done(io_, client_->start()); !started)
            throw std::runtime_error(started.error().detail);
        auto opened = run_until_done(
            io_, stores::RedisStore::open(*client_, options_, clock_, io_.get_executor()));
        if (!opened) run_until_done(io_, stopped(client_.get()));
        store_ = value_of(std::move(opened));
    }
    void close() {
        if (store_) run_until_done(io_, closed(store_.get(), client_.get()));
        store_.reset();
        client_.reset();
    }

  private:
    static Async<bool> stopped(redis::Client* client) {
        co_await client->stop();
        co_return true;
    }
    static Async<bool> closed(stores::RedisStore* store, redis::Client* client) {
        co_await store->close();
        co_return co_await stopped(client);
    }

    asio::io_context& io_;
    std::function<std::string()> url_;
    stores::RedisOptions options_;
    SystemClock clock_;
    std::unique_ptr<redis::Client> client_;
    std::unique_ptr<stores::RedisStore> store_;
};

}  // namespace holdfast::testing
