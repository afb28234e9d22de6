// What a backend brings to the suite: a name, what it can do, and a way to open an empty store.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>

#include "base/time.h"
#include "stores/store.h"

namespace holdfast::stores::conformance {

/// Every backend does commit, claim, renew, load, due and clock for tasks. The rest it may lack
/// while it is being built: the cases that need it are then skipped, and say so.
enum class Ability : std::uint8_t {
    time_control,  ///< The test moves the store's clock. Without it the suite waits, shortly.
    reopen,        ///< It can be closed and opened again, and then has what was durable.
    list,
    stats,  ///< Both kinds of counts: by queue, and by failure.
    history,
    feed,
    logs,
    counters,
    bindings,
    permits,
    other_kinds,  ///< Records that are no tasks.
    trim,
};
inline constexpr std::size_t kAbilities = 12;
constexpr std::string_view to_string(Ability a) {
    constexpr std::array<std::string_view, kAbilities> kNames{
        "time_control", "reopen",   "list",     "stats",   "history",     "feed",
        "logs",         "counters", "bindings", "permits", "other_kinds", "trim"};
    return kNames[static_cast<std::size_t>(a)];
}
using Abilities = std::set<Ability>;
/// Everything but these: for a backend that lacks little.
inline Abilities all_but(const Abilities& missing) {
    Abilities abilities;
    for (std::size_t i = 0; i < kAbilities; ++i) {
        if (!missing.contains(static_cast<Ability>(i))) abilities.insert(static_cast<Ability>(i));
    }
    return abilities;
}

/// One store for the length of one case, empty at the beginning.
class Fixture {
  public:
    Fixture() = default;
    virtual ~Fixture() = default;
    Fixture(const Fixture&) = delete;
    Fixture& operator=(const Fixture&) = delete;

    /// Answers on io().
    virtual Store& store() = 0;
    /// With Ability::time_control: moves the store's clock.
    virtual void advance(Duration) {}
    /// With Ability::reopen: closes the store and opens what was durable. store() is then another.
    virtual void reopen() {}

    asio::io_context& io() { return io_; }

  private:
    asio::io_context io_{1};
};

struct Backend {
    std::string name;
    Abilities abilities;
    /// Called once or more in each case: keep the server, and empty it.
    std::function<std::unique_ptr<Fixture>()> open;

    friend void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }
};

}  // namespace holdfast::stores::conformance
