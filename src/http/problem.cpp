#include "http/problem.h"

#include <utility>

namespace holdfast::http {
namespace {

std::string_view title_of(Code code) {
    switch (code) {
        case Code::invalid_argument:
            return "The request is not valid";
        case Code::not_found:
            return "Not found";
        case Code::wrong_state:
            return "Not possible in this state";
        case Code::stale_lease:
            return "The lease is not, or no longer, yours";
        case Code::conflict:
            return "Conflict";
        case Code::overloaded:
            return "Overloaded";
        case Code::unavailable:
            return "Unavailable";
        case Code::forbidden:
            return "Not allowed here";
    }
    std::unreachable();
}

}  // namespace

int status_of(Code code) {
    switch (code) {
        case Code::invalid_argument:
            return 422;
        case Code::not_found:
            return 404;
        case Code::wrong_state:
        case Code::stale_lease:
        case Code::conflict:
            return 409;
        case Code::overloaded:
        case Code::unavailable:
            return 503;
        case Code::forbidden:
            return 403;
    }
    std::unreachable();
}

bool is_retryable(Code code) {
    return code == Code::overloaded || code == Code::unavailable;
}

Json problem_json(const Error& error, int status, std::string_view request_id) {
    const bool retryable = is_retryable(error.code);
    JsonObject problem;
    problem.add("type", "urn:holdfast:error:" + std::string(to_string(error.code)))
        .add("title", title_of(error.code))
        .add("status", std::int64_t{status})
        .add("code", to_string(error.code))
        .add("detail", error.detail)
        .add_some("field", error.field);
    if (error.position >= 0) problem.add("position", std::int64_t{error.position});
    problem.add("retryable", Json::of(retryable)).add("request_id", request_id);
    return problem.done();
}

Response problem(const Error& error, std::string_view request_id) {
    return problem(status_of(error.code), error, request_id);
}

Response problem(int status, const Error& error, std::string_view request_id) {
    Response response;
    response.status = status;
    response.content_type = kProblemType;
    response.body = problem_json(error, status, request_id).text();
    if (status == 503 || status == 429) response.headers.emplace_back("Retry-After", "1");
    return response;
}

}  // namespace holdfast::http
