// A cluster of three masters, sixteen partitions.
#include "redis_fixture.h"

namespace holdfast::stores::conformance {
namespace {

class ThreeMasters final : public RedisFixture {
  public:
    ThreeMasters() {
        for (const auto& server : cluster().servers()) empty(*server);
        open([] { return cluster().url(); }, {});
    }
    void reopen() override {
        store_->close();
        for (const auto& server : cluster().servers()) {
            server->stop();
            if (auto started = server->start_again(); !started)
                throw std::runtime_error(started.error().detail);
        }
        if (auto whole = cluster().wait_until_whole(); !whole)
            throw std::runtime_error(whole.error().detail);
        store_->open();
    }

  private:
    static holdfast::testing::RedisCluster& cluster() {
        static const auto cluster = holdfast::testing::value_of(
            holdfast::testing::RedisCluster::start(3, 0, {"--appendonly", "yes"}));
        return *cluster;
    }
};

Backend redis_cluster() {
    return {"redis_cluster", all_but({Ability::time_control}),
            [] { return std::make_unique<ThreeMasters>(); }};
}

}  // namespace
}  // namespace holdfast::stores::conformance

HOLDFAST_CONFORMANCE(redis_cluster, redis_cluster());
