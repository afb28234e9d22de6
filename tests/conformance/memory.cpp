#include "stores/conformance/conformance.h"
#include "stores/memory/memory_store.h"
#include "testing/manual_clock.h"

namespace {

using namespace holdfast;
using namespace holdfast::stores::conformance;

class MemoryFixture final : public Fixture {
  public:
    stores::Store& store() override { return store_; }
    void advance(Duration d) override { clock_.advance(d); }

  private:
    holdfast::testing::ManualClock clock_;
    stores::MemoryStore store_{clock_};
};

Backend memory_backend() {
    return {"memory", all_but({Ability::reopen}), [] { return std::make_unique<MemoryFixture>(); }};
}

}  // namespace

HOLDFAST_CONFORMANCE(memory, memory_backend());
