// One Redis server, or cluster, for all cases of a program: emptied before each.
#pragma once

#include "stores/conformance/conformance.h"
#include "testing/redis_cluster.h"
#include "testing/redis_server.h"
#include "testing/redis_store_fixture.h"

namespace holdfast::stores::conformance {

class RedisFixture : public Fixture {
  public:
    stores::Store& store() override { return store_->store(); }

  protected:
    void empty(const holdfast::testing::RedisServer& server) {
        holdfast::testing::value_of(
            holdfast::testing::ask_redis(server.port(), holdfast::redis::Command("FLUSHALL")));
    }
    void open(std::function<std::string()> url, RedisOptions options) {
        store_.emplace(io(), std::move(url), std::move(options));
    }
    std::optional<holdfast::testing::RedisStoreFixture> store_;
};

class OneServer final : public RedisFixture {
  public:
    explicit OneServer(RedisOptions options) {
        empty(server());
        open([] { return "redis://127.0.0.1:" + std::to_string(server().port()); },
             std::move(options));
    }
    void reopen() override {
        store_->close();
        if (auto restarted = server().restart(); !restarted)
            throw std::runtime_error(restarted.error().detail);
        store_->open();
    }

  private:
    static holdfast::testing::RedisServer& server() {
        static const auto server = holdfast::testing::value_of(
            holdfast::testing::RedisServer::start({"--appendonly", "yes"}));
        return *server;
    }
};

/// Time is the server's own: that alone is not offered.
inline Backend one_server(std::string name, const RedisOptions& options) {
    return {std::move(name), all_but({Ability::time_control}),
            [options] { return std::make_unique<OneServer>(options); }};
}

}  // namespace holdfast::stores::conformance
