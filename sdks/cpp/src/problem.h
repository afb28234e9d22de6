// From an HTTP answer to an Error.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "holdfast/error.h"

namespace holdfast::client {

/// The code of that name; `other` when it is not of the list.
Code code_from(std::string_view name);
/// What a status means when the answer names no code.
Code code_of_status(int status);

/// From an `application/problem+json` body, or from the status alone when the body is something else
/// (a proxy's page).
Error problem(int status, const boost::json::value& body, std::string_view retry_after = {},
              std::string_view request_id = {});

}  // namespace holdfast::client
