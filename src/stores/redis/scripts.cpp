#include "stores/redis/scripts.h"

namespace holdfast::stores::redis {
namespace {

enum class May : std::uint8_t { read, write, create };

/// While a slot moves, a key that is not there may be on either side. Two keys that never are there make the server
/// refuse on both: with ASK where it leaves, with TRYAGAIN where it arrives.
constexpr std::string_view kStaysHere =
    "redis.call('EXISTS', KEYS[1] .. 'nothing', KEYS[1] .. 'nowhere')\n";

Scripts::Script script(std::string_view name, May may, bool cluster) {
    std::string text = may == May::read    ? "#!lua flags=no-writes\n"
                       : may == May::write ? "#!lua flags=allow-oom\n"
                                           : "#!lua\n";
    if (cluster) text += kStaysHere;
    text += lua_text("record");
    if (may != May::read) text += lua_text("lanes");
    text += lua_text(name);
    return {std::string(name), std::move(text)};
}

}  // namespace

Scripts::Scripts(bool cluster)
    : commit(script("commit", May::create, cluster)),
      commit_full(script("commit", May::write, cluster)),
      claim(script("claim", May::write, cluster)),
      renew(script("renew", May::write, cluster)),
      due(script("due", May::write, cluster)),
      trim(script("trim", May::write, cluster)),
      trim_feed(script("trim_feed", May::write, cluster)),
      sweep(script("sweep", May::write, cluster)),
      sweep_lanes(script("sweep_lanes", May::write, cluster)),
      load(script("load", May::read, cluster)),
      list(script("list", May::read, cluster)),
      feed(script("feed", May::read, cluster)),
      tally(script("tally", May::read, cluster)),
      ready(script("ready", May::read, cluster)),
      rung(script("rung", May::read, cluster)),
      oldest(script("oldest", May::read, cluster)) {}

}  // namespace holdfast::stores::redis
