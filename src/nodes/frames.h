// What a worker may say on its stream, one JSON text each, told apart by `op`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"

namespace holdfast::nodes {

inline constexpr std::uint32_t kMostSlots = 10'000;

/// Who it is and what it wants. After a lost connection it names what it still runs.
struct Hello {
    std::string worker;
    std::vector<std::string> queues;
    std::vector<std::string> types;
    std::vector<std::string> models;
    std::vector<std::pair<std::string, std::string>> labels;
    std::uint32_t slots = 1;
    Duration lease{0};  ///< 0: each task's own, else the default.
    bool acks = false;
    std::vector<engine::Ack> running;
};

// What the engine is asked for.
struct Complete {
    std::vector<engine::Completion> items;
};
struct Fail {
    std::vector<engine::FailureReport> items;
};
struct Yield {
    std::vector<engine::GivingBack> items;
};
struct Checkpoint {
    std::vector<engine::StageDone> items;
};
struct Accept {
    std::vector<engine::Ack> items;
};
struct Start {
    std::vector<engine::Ack> items;
};
/// `heartbeat` or `progress`. Without items: it is alive, and runs all that it was given.
struct Renew {
    std::vector<engine::Heartbeat> items;
};

/// It wants no more; `now`: it does not finish what it has, either.
struct Drain {
    bool now = false;
};
/// A part of a result. Nobody listens yet.
struct Partial {};

using Frame =
    std::variant<Hello, Complete, Fail, Yield, Checkpoint, Accept, Start, Renew, Drain, Partial>;

/// Strict, as nodes/ports/worker_json.h says. At most 1 MiB.
Result<Frame> read_frame(std::string_view text);

}  // namespace holdfast::nodes
