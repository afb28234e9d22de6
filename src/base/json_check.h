// Whether a text is JSON within the limits, without building anything from it.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace holdfast {

/// What Json::parse() refuses, this refuses: it is how Json::parse() finds out.
Result<> check_json(std::string_view text, const JsonLimits& limits);

}  // namespace holdfast
