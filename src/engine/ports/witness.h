// Somebody who is told of every step that an engine made, after it is durable.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "domain/lifecycle.h"

namespace holdfast::engine {

struct Sighting {
    domain::Event event{};
    domain::State from{}, to{};
    std::string_view queue, type;
    /// started_at: of the attempt that this step begins or ends; may be none.
    Time created_at, started_at, at;
};

class Witness {
  public:
    virtual ~Witness() = default;
    virtual void saw(const Sighting& step) = 0;
    virtual void refused(
        Code code) = 0;  ///< A worker's call was refused: stale_lease and the like.
};

/// Several, each told of everything.
class Witnesses final : public Witness {
  public:
    explicit Witnesses(std::vector<Witness*> all) : all_(std::move(all)) {}
    void saw(const Sighting& step) override {
        for (Witness* witness : all_) witness->saw(step);
    }
    void refused(Code code) override {
        for (Witness* witness : all_) witness->refused(code);
    }

  private:
    std::vector<Witness*> all_;
};

}  // namespace holdfast::engine
