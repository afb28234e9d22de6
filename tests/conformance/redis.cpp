// The conformance suite against Redis servers that this program starts, one for all cases: with both retry strategies.
// Time is the server's own: time_control alone is not offered.
#include "stores/conformance/conformance.h"
#include "testing/redis_server.h"
#include "testing/redis_store_fixture.h"

namespace {

using namespace holdfast;
using namespace holdfast::stores::conformance;
using holdfast::testing::ask_redis;
using holdfast::testing::RedisServer;
using holdfast::testing::RedisStoreFixture;
using holdfast::testing::value_of;

RedisServer& server() {
    static const auto server = value_of(RedisServer::start({"--appendonly", "yes"}));
    return *server;
}

class RedisFixture final : public Fixture {
  public:
    explicit RedisFixture(stores::RedisOptions options) {
        value_of(ask_redis(server().port(), redis::Command("FLUSHALL")));
        store_.emplace(
            io(), [] { return "redis://127.0.0.1:" + std::to_string(server().port()); },
            std::move(options));
    }
    stores::Store& store() override { return store_->store(); }
    void reopen() override {
        store_->close();
        if (auto restarted = server().restart(); !restarted)
            throw std::runtime_error(restarted.error().detail);
        store_->open();
    }

  private:
    std::optional<RedisStoreFixture> store_;
};

Backend redis_backend() {
    return {"redis", all_but({Ability::time_control}),
            [] { return std::make_unique<RedisFixture>(stores::RedisOptions{}); }};
}

/// Failed tasks keep their entry pending, and are handed out again by reclaiming it.
Backend pel_backend() {
    return {"redis_pel", all_but({Ability::time_control}), [] {
                stores::RedisOptions options;
                options.pel_queues = {"*"};
                return std::make_unique<RedisFixture>(std::move(options));
            }};
}

}  // namespace

HOLDFAST_CONFORMANCE(redis, redis_backend());
HOLDFAST_CONFORMANCE(redis_pel, pel_backend());
