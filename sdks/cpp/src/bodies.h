// Requests as JSON.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "holdfast/client.h"

namespace holdfast::client {

json::object body_of(const Submission& submission);
/// As the body of bulk and suspended calls.
json::object body_of(const Filter& filter);
json::object body_of(const Held& held);
json::object body_of(const Client::Claim& claim);

/// From {id, state, duplicate}, or from a problem in its place.
Receipt receipt_of(const json::value& value);
/// As the query of a list: "?state=…&limit=…".
std::string query_of(const Filter& filter, std::size_t limit, std::string_view cursor);
Page page_of(json::value body);

/// The member, or an empty text.
std::string text_member(const json::value& value, std::string_view name);

}  // namespace holdfast::client
