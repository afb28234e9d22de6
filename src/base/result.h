// One way to say "it did not work": a value or an Error with a code from one closed list.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

/// The code decides the HTTP status, the SDK's exception, the exit code and whether a retry can
/// help.
enum class Code : std::uint8_t {
    invalid_argument,  ///< The caller sent nonsense. Retrying cannot help.
    not_found,         ///< No such record, or not visible to this tenant.
    wrong_state,       ///< The lifecycle has no such step from here.
    stale_lease,       ///< Somebody else owns the task now. Drop the work.
    conflict,          ///< Same idempotency key, different body; or a version moved.
    overloaded,        ///< We shed. Retry after the hint.
    unavailable,       ///< The backend did not answer. Outcome unknown: read back, then retry.
    forbidden,         ///< Not for this caller, or not on this instance. Nothing was done.
};

constexpr std::string_view to_string(Code code) {
    switch (code) {
        case Code::invalid_argument:
            return "invalid_argument";
        case Code::not_found:
            return "not_found";
        case Code::wrong_state:
            return "wrong_state";
        case Code::stale_lease:
            return "stale_lease";
        case Code::conflict:
            return "conflict";
        case Code::overloaded:
            return "overloaded";
        case Code::unavailable:
            return "unavailable";
        case Code::forbidden:
            return "forbidden";
    }
    std::unreachable();
}

struct Error {
    Code code = Code::unavailable;
    std::string detail;  ///< For a person; never a payload, never a secret.
    std::string
        field;  ///< The offending field of the caller's input, as a path ("retry.max"); else empty.

    std::int32_t position = -1;  ///< In the text of that field, in characters; below 0: nowhere.

    friend bool operator==(const Error&, const Error&) = default;
};

template <class T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> refuse(Code code, std::string detail) {
    return std::unexpected(Error{code, std::move(detail), {}});
}

/// The caller's input is wrong, and this is the field to look at. A field that the caller invented
/// may have any length: what we repeat of it has not.
inline std::unexpected<Error> invalid(std::string_view field, std::string_view problem) {
    field = field.substr(0, 128);
    return std::unexpected(Error{Code::invalid_argument,
                                 std::string(field).append(": ").append(problem),
                                 std::string(field)});
}

}  // namespace holdfast

#define HOLDFAST_CONCAT_IMPL(a, b) a##b
#define HOLDFAST_CONCAT(a, b) HOLDFAST_CONCAT_IMPL(a, b)
#define HOLDFAST_TRY_IMPL(give_back, tmp, declaration, ...)      \
    auto tmp = (__VA_ARGS__);                                    \
    if (!tmp) give_back std::unexpected(std::move(tmp).error()); \
    declaration = *std::move(tmp)

/// TRY(Duration lease, parse_duration(text));  — declares, or returns the error to our caller.
#define TRY(declaration, ...) \
    HOLDFAST_TRY_IMPL(return, HOLDFAST_CONCAT(try_, __LINE__), declaration, __VA_ARGS__)
/// The same inside a coroutine.
#define CO_TRY(declaration, ...) \
    HOLDFAST_TRY_IMPL(co_return, HOLDFAST_CONCAT(try_, __LINE__), declaration, __VA_ARGS__)
/// For a Result<void>: goes on, or returns the error.
#define TRY_VOID(...)                                                                           \
    if (auto HOLDFAST_CONCAT(try_, __LINE__) = (__VA_ARGS__); !HOLDFAST_CONCAT(try_, __LINE__)) \
    return std::unexpected(std::move(HOLDFAST_CONCAT(try_, __LINE__)).error())
#define CO_TRY_VOID(...)                                                                        \
    if (auto HOLDFAST_CONCAT(try_, __LINE__) = (__VA_ARGS__); !HOLDFAST_CONCAT(try_, __LINE__)) \
    co_return std::unexpected(std::move(HOLDFAST_CONCAT(try_, __LINE__)).error())
