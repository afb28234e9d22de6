// Somebody who is told of every step that an engine made, after it is durable.
#pragma once
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "domain/lifecycle.h"
namespace holdfast::engine {
struct Sighting {
    domain::Event event{};
    domain::State from{}, to{};
    std::string_view queue, type;
    Time created_at, started_at,
        at;  ///< started_at: of the attempt that this step begins or ends; may be none.
};
class Witness {
  public:
    virtual ~Witness() = default;
    virtual void saw(const Sighting& step) = 0;
    virtual void refused(
        Code code) = 0;  ///< A worker's call was refused: stale_lease and the like.
};
}  // namespace holdfast::engine
