// The coordination suite within one process.
#include "coordination/local/local_coordination.h"

#include <list>

#include "coordination/conformance/suite.h"
#include "testing/manual_clock.h"

namespace holdfast::coordination::conformance {
namespace {

class LocalFixture final : public Fixture {
  public:
    Coordination& join(std::string) override { return members_.emplace_back(hub_); }
    void pass(Duration time) override {
        clock_.advance(time);
        run_until([] { return false; });
    }
    void run_until(const std::function<bool()>& done) override {
        io().restart();
        while (!done() && io().poll_one() > 0) {
        }
    }

  private:
    holdfast::testing::ManualClock clock_;
    LocalHub hub_{clock_, io().get_executor()};
    std::list<LocalCoordination> members_;
};

Backend local() {
    return {"local", [] { return std::make_unique<LocalFixture>(); }};
}

}  // namespace
}  // namespace holdfast::coordination::conformance

HOLDFAST_COORDINATION(local, local());
