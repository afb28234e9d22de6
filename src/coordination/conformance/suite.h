// Every promise of coordination/coordination.h, held against any coordinator.
//
//     HOLDFAST_COORDINATION(local, (Backend{"local", [] { return std::make_unique<LocalFixture>(); }}));
//
// and link with holdfast_coordination_conformance and GTest::gtest_main.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "coordination/coordination.h"

namespace holdfast::coordination::conformance {

/// One coordinator for the length of one case, with nobody there and nothing held at the beginning.
class Fixture {
  public:
    virtual ~Fixture() = default;
    /// Another instance. They are told of each other's hints from here on.
    virtual Coordination& join(std::string instance) = 0;
    /// Lets so much of the coordinator's time pass.
    virtual void pass(Duration time) = 0;
    /// Runs for a little while, in which hints arrive; ends early when `done`.
    virtual void run_until(const std::function<bool()>& done) = 0;

    asio::io_context& io() { return io_; }

  private:
    asio::io_context io_{1};
};

struct Backend {
    std::string name;
    std::function<std::unique_ptr<Fixture>()> open;
    friend void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }
};

class Suite : public ::testing::TestWithParam<Backend> {
  protected:
    Fixture& fixture() {
        if (!fixture_) fixture_ = GetParam().open();
        return *fixture_;
    }
    void TearDown() override { fixture_.reset(); }

    template <class T>
    Result<T> answer(Async<Result<T>> question) {
        std::optional<Result<T>> got;
        asio::co_spawn(fixture().io(), std::move(question),
                       [&](const std::exception_ptr& thrown, Result<T> result) {
                           if (thrown) std::rethrow_exception(thrown);
                           got = std::move(result);
                       });
        fixture().run_until([&] { return got.has_value(); });
        if (!got) throw std::runtime_error("the coordinator did not answer");
        return *std::move(got);
    }
    template <class T>
    T ask(Async<Result<T>> question) {
        Result<T> got = answer(std::move(question));
        if (!got) throw std::runtime_error("the coordinator answered: " + got.error().detail);
        if constexpr (!std::is_void_v<T>) return *std::move(got);
    }

  private:
    std::unique_ptr<Fixture> fixture_;
};

class Locks : public Suite {};
class Presences : public Suite {};
class Hints : public Suite {};

}  // namespace holdfast::coordination::conformance

#define HOLDFAST_COORDINATION_AREA(prefix, area, backend)              \
    INSTANTIATE_TEST_SUITE_P(prefix, area, ::testing::Values(backend), \
                             [](const auto& info) { return info.param.name; })
/// Stands outside of any namespace, once per coordinator.
#define HOLDFAST_COORDINATION(prefix, backend)              \
    namespace holdfast::coordination::conformance {         \
    HOLDFAST_COORDINATION_AREA(prefix, Locks, backend);     \
    HOLDFAST_COORDINATION_AREA(prefix, Presences, backend); \
    HOLDFAST_COORDINATION_AREA(prefix, Hints, backend);     \
    }                                                       \
    static_assert(true)
