// An operator's act on everything that matches: small ones at once, large ones as a job that keeps its place.
#pragma once

#include <string>

#include "engine/calls.h"
#include "engine/engine.h"

namespace holdfast::engine {

domain::Command command_of(BulkAction action, By by);

/// Counts one, and keeps the first hundred.
void note_refusal(BulkReport& report, const TaskId& id, std::string reason);

/// A record of kind `bulk`: what was asked, how far it is, what came of it.
struct Engine::BulkJob {
    domain::Header header;
    BulkRequest request;
    Time asked_at;  ///< What the times of `q` are counted from.
    std::string cursor;
    BulkReport report;

    /// What it looks for. The line was read when it was asked, so it can be read.
    Search search() const;
    Bytes body() const;
    static BulkJob from(const domain::Record& record);
    domain::Act start(std::string target, std::uint64_t matched) const;
};

}  // namespace holdfast::engine
