// The scripts of lua/, embedded at build time.
#pragma once

#include <string_view>

#include "redis/redis.h"

namespace holdfast::stores::redis {

/// lua/<name>.lua; empty for a name there is none of.
std::string_view lua_text(std::string_view name);

/// On a cluster each begins with a look whether its slot is on its way to another server: then it stops before it has
/// written anything.
struct Scripts {
    explicit Scripts(bool cluster);

    using Script = holdfast::redis::Script;
    Script commit;       ///< Refused by a server whose memory is used up …
    Script commit_full;  ///< … and the same where it brings no new work.
    Script claim, renew, due, trim, trim_feed, sweep, sweep_lanes;
    Script load, list, feed, tally, ready, rung, oldest;
};

}  // namespace holdfast::stores::redis
