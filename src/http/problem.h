// What a caller is told when something did not work: RFC 9457, application/problem+json.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "http/message.h"

namespace holdfast::http {

inline constexpr std::string_view kProblemType = "application/problem+json";

int status_of(Code code);
/// Can the same call work later?
bool is_retryable(Code code);

/// {type, title, status, code, detail, field?, retryable, request_id}
Json problem_json(const Error& error, int status, std::string_view request_id);
Response problem(const Error& error, std::string_view request_id);
/// With a status of its own: what is wrong is HTTP, not the task.
Response problem(int status, const Error& error, std::string_view request_id);

}  // namespace holdfast::http
