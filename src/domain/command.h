// What can be asked of a task. Each is a value; decide() says what comes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/json.h"
#include "base/time.h"
#include "domain/failure.h"
#include "domain/record.h"

namespace holdfast::domain {

/// Who asks, and why: an operator's act is kept with both.
struct By {
    std::string who;
    std::string why;
    std::string address = {};  ///< Where it was asked from; for the audit.
};

// ---- by the store, when it hands a task out ----

struct Claim {
    State to = State::running;  ///< or dispatched, for nodes that announce acks
    std::string worker;
    Epoch epoch{};
    Duration lease{0};
    bool takes_gate = false;
    bool takes_queue_permit = false;
};

// ---- by the worker that holds it ----

struct Accept {
    Fence fence;
};
struct Start {
    Fence fence;
};
struct Complete {
    Fence fence;
    Json result;
};
struct Fail {
    Fence fence;
    Failure failure;
    std::optional<Duration> retry_after;  ///< In the place of the policy's delay.
};
/// Gives the task back without counting a failure.
struct Yield {
    Fence fence;
    std::optional<Duration> after;
    bool until_signal = false;
};
struct Checkpoint {
    Fence fence;
    std::string stage;
    Json data;
    bool written =
        false;  ///< The stage is in the log already: only a requested pause or cancel is acted on.
};

// ---- by anybody else ----

struct Signal {
    std::string id;  ///< Repeating a signal with the same id adds nothing.
    Json data;
};
/// Its timer rang. Finds out by itself what is due.
struct Tick {};
struct Pause {
    By by;
};
struct Resume {
    By by;
    std::optional<Json> payload;
};
struct Cancel {
    By by;
};
struct Discard {
    By by;
};

using Command = std::variant<Claim, Accept, Start, Complete, Fail, Yield, Checkpoint, Signal, Tick,
                             Pause, Resume, Cancel, Discard>;

}  // namespace holdfast::domain
