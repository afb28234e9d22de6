// The conformance suite against the Redis spike, on a redis-server that this program starts.
#include <stdexcept>

#include "stores/conformance/conformance.h"
#include "stores/redis/connection.h"
#include "stores/redis/spike_store.h"
#include "testing/redis_server.h"

namespace holdfast::stores::conformance {
namespace {

template <class T>
T value_of(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().detail);
    return *std::move(result);
}

/// One server for all cases.
std::uint16_t port() {
    static const std::unique_ptr<holdfast::testing::RedisServer> server =
        value_of(holdfast::testing::RedisServer::start());
    return server->port();
}

class RedisFixture final : public Fixture {
  public:
    RedisFixture() {
        auto connection = value_of(redis::Connection::open(port()));
        value_of(connection.call({"FLUSHALL"}));
        store_ = value_of(RedisSpike::open(port()));
    }
    Store& store() override { return *store_; }

  private:
    std::unique_ptr<RedisSpike> store_;
};

Backend redis_spike() {
    return {"redis_spike",
            all_but({Ability::time_control, Ability::reopen, Ability::list, Ability::trim}),
            [] { return std::make_unique<RedisFixture>(); }};
}

}  // namespace
}  // namespace holdfast::stores::conformance

HOLDFAST_CONFORMANCE(redis_spike, redis_spike());
