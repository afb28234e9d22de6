// Values of Boost.JSON as text.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace holdfast::client {

/// The value as JSON, numbers as a person writes them (0.2, not 2E-1) and without bytes that are no
/// UTF-8. What is not finite is null.
std::string json_text(const boost::json::value& value);

}  // namespace holdfast::client
