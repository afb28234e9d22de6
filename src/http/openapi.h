// /openapi.json: the table of routes, described.
#pragma once

#include <string>

namespace holdfast::http {

/// OpenAPI 3.1, made once.
const std::string& openapi();

}  // namespace holdfast::http
