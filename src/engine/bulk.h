// An operator's act on everything that matches: small ones at once, large ones as a job that keeps its place.
#pragma once

#include <string>

#include "engine/calls.h"
#include "engine/engine.h"

namespace holdfast::engine {

domain::Command command_of(BulkAction action, By by);

/// A record of kind `bulk`: what was asked, how far it is, what came of it.
struct Engine::BulkJob {
    domain::Header header;
    BulkRequest request;
    std::string cursor;
    BulkReport report;

    Bytes body() const;
    static BulkJob from(const domain::Record& record);
};

}  // namespace holdfast::engine
