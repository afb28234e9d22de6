// Counts as clients read them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/json.h"
#include "engine/engine.h"

namespace holdfast::http {

using Counts = std::array<std::uint64_t, domain::kStates>;

/// {"queued":3,…}: every state.
Json counts_json(const Counts& by_state);
/// {tasks, queues:[{queue,type,tasks}], failures:[{fingerprint,tasks}], oldest:[{queue,at}]}
std::string stats_json(const stores::Stats& stats);

}  // namespace holdfast::http
