// The scripts of lua/, embedded at build time.
#pragma once

#include <string_view>

namespace holdfast::stores::redis {

/// lua/<name>.lua; empty for a name there is none of.
std::string_view lua_text(std::string_view name);

}  // namespace holdfast::stores::redis
