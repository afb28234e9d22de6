// What a client throws: one type, told apart by its code.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::client {

enum class Code : std::uint8_t {
    invalid_argument,  ///< The request is wrong: `field` says where. Retrying cannot help.
    not_found,         ///< No such task, queue or page.
    wrong_state,       ///< The task's lifecycle has no such step from here.
    stale_lease,       ///< Somebody else owns the task now: drop the work.
    conflict,          ///< Same idempotency key, different body; or it changed meanwhile.
    overloaded,        ///< The server sheds load and did nothing: try again after `retry_after`.
    unavailable,       ///< The server could not finish it: it may or may not have happened.
    forbidden,         ///< Not allowed on this server, e.g. one that is read-only.
    unauthorized,      ///< It wants another token, or forbids this.
    unreachable,       ///< No connection to the server: nothing was sent.
    timed_out,         ///< No answer in time: it may or may not have happened.
    other,             ///< None of these: see `status` and `detail`.
};
std::string_view to_string(Code code);

/// Thrown by every call of this library that does not get what it asked for.
struct Error : std::runtime_error {
    Error(Code error_code, std::string what);

    Code code = Code::other;
    int status = 0;          ///< Of HTTP; 0 when there was no answer.
    std::string detail;      ///< For a person.
    std::string field;       ///< The offending field of the request, or empty.
    std::string request_id;  ///< To find it in the server's log, or empty.
    bool retryable = false;  ///< The same request may succeed later.
    std::optional<std::chrono::milliseconds> retry_after;
};

}  // namespace holdfast::client
