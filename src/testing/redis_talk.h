// A question to a server and its answer, one after the other: for tests that arrange things, not for what they test.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "redis/command.h"
#include "redis/reply.h"

namespace holdfast::testing {

/// On a connection of its own to 127.0.0.1. An error that the server answered is an error.
Result<redis::Reply> ask_redis(std::uint16_t port, const redis::Command& command);

}  // namespace holdfast::testing
