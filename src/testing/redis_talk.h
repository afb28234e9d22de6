// A question to a server and its answer, one after the other: for tests that arrange things, not for what they test.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "redis/command.h"
#include "redis/reply.h"

namespace holdfast::testing {

/// On a connection of its own to 127.0.0.1. An error that the server answered is an error.
Result<redis::Reply> ask_redis(std::uint16_t port, const redis::Command& command);
bool redis_says(std::uint16_t port, const redis::Command& command, std::string_view text);

/// Looks again and again, on the caller's thread; an error names what did not come about.
Result<> wait_until(std::string_view what, Duration limit, const std::function<bool()>& fact);

}  // namespace holdfast::testing
