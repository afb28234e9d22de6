// What `top` shows: two looks at the server and what happened between them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/context.h"

namespace holdfast::cli {

struct QueueLook {
    std::string name;
    bool paused = false, closed = false;
    std::int64_t queued = 0, running = 0, waiting = 0, retrying = 0, suspended = 0, finished = 0,
                 all = 0;
    double in_per_s = 0, out_per_s = 0;
};
struct WorkerLook {
    std::string name, queues;
    std::int64_t running = 0, slots = 0;
};
struct FailureLook {
    std::string id, type, state, at, message;
};
struct Look {
    std::chrono::steady_clock::time_point taken;
    std::vector<QueueLook> queues;
    std::vector<WorkerLook> workers;
    std::vector<FailureLook> failures;
};

Look look_at(const json::value& queues, const json::value& workers, const json::array& failures,
             std::chrono::steady_clock::time_point now);
/// Fills in the rates from what changed since `before`.
void compare(Look& look, const Look& before);

json::object look_json(const Look& look);
/// At most `rows` lines of at most `columns`.
std::vector<std::string> screen(const Look& look, const std::string& title, unsigned columns,
                                unsigned rows);

}  // namespace holdfast::cli
