#include "problem.h"

#include <array>
#include <charconv>
#include <utility>

namespace holdfast::client {
namespace {

constexpr std::array<std::string_view, 12> kNames{
    "invalid_argument", "not_found", "wrong_state",  "stale_lease", "conflict",  "overloaded",
    "unavailable",      "forbidden", "unauthorized", "unreachable", "timed_out", "other"};

std::string text_of(const boost::json::value& body, std::string_view name) {
    const auto* object = body.if_object();
    const auto* value = object != nullptr ? object->if_contains(name) : nullptr;
    const auto* text = value != nullptr ? value->if_string() : nullptr;
    return text != nullptr ? std::string(text->c_str(), text->size()) : std::string();
}

/// Of the list, what may be tried again when the server does not say.
bool may_retry(Code code) {
    return code == Code::overloaded || code == Code::unavailable || code == Code::unreachable ||
           code == Code::timed_out;
}

}  // namespace

std::string_view to_string(Code code) {
    return kNames[static_cast<std::size_t>(code)];
}

Error::Error(Code error_code, std::string what)
    : std::runtime_error(what),
      code(error_code),
      detail(std::move(what)),
      retryable(may_retry(error_code)) {}

Code code_from(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == name) return static_cast<Code>(i);
    return Code::other;
}

Code code_of_status(int status) {
    switch (status) {
        case 401:
        case 403:
            return Code::unauthorized;
        case 404:
        case 410:
            return Code::not_found;
        case 408:
            return Code::timed_out;
        case 409:
            return Code::conflict;
        case 429:
            return Code::overloaded;
        case 502:
        case 503:
        case 504:
            return Code::unavailable;
        default:
            return status >= 400 && status < 500 ? Code::invalid_argument : Code::other;
    }
}

Error problem(int status, const boost::json::value& body, std::string_view retry_after,
              std::string_view request_id) {
    const auto named = code_from(text_of(body, "code"));
    auto detail = text_of(body, "detail");
    if (detail.empty()) detail = text_of(body, "title");
    if (detail.empty()) detail = "the server answered with status " + std::to_string(status);
    Error error(named == Code::other ? code_of_status(status) : named, std::move(detail));
    error.status = status;
    error.field = text_of(body, "field");
    error.request_id = text_of(body, "request_id");
    if (error.request_id.empty()) error.request_id = request_id;
    if (const auto* object = body.if_object())
        if (const auto* flag = object->if_contains("retryable"); flag != nullptr && flag->is_bool())
            error.retryable = flag->get_bool();
    int seconds = 0;
    const auto* end = retry_after.data() + retry_after.size();
    if (!retry_after.empty() &&
        std::from_chars(retry_after.data(), end, seconds).ec == std::errc{} && seconds >= 0)
        error.retry_after = std::chrono::seconds(seconds);
    return error;
}

}  // namespace holdfast::client
