// What a worker says when it could not do a task.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace holdfast::domain {

enum class ErrorKind : std::uint8_t {
    transient,        ///< It may work next time.
    permanent,        ///< It never will: a person has to look.
    dependency_down,  ///< Something it needs does not answer. Counted or not by `on_outage`.
    timeout,          ///< It took too long. Retried like a transient one.
    crash,            ///< The worker vanished with it. Written by us, never by a worker.
};
inline constexpr std::array<std::string_view, 5> kErrorKindNames{
    "transient", "permanent", "dependency_down", "timeout", "crash"};
constexpr std::string_view to_string(ErrorKind k) {
    return kErrorKindNames[static_cast<std::size_t>(k)];
}
std::optional<ErrorKind> error_kind_from(std::string_view name);

inline constexpr std::size_t kLongestMessage = 4096;
inline constexpr std::size_t kLongestStack = 32768;
inline constexpr std::size_t kLongestCode = 64;

struct Failure {
    ErrorKind kind = ErrorKind::transient;
    std::string message;
    std::string stack;
    std::string code;

    friend bool operator==(const Failure&, const Failure&) = default;
};

/// Long messages and stacks are cut (at a whole UTF-8 character), never refused: an error must be
/// reportable.
Failure truncated(Failure failure);
Json to_json(const Failure& failure);

/// Groups what is the same failure with other numbers in it: a hash of type, kind, code and the
/// message with numbers, ids and quoted texts taken out. Never 0: 0 means "has not failed".
std::uint64_t fingerprint(std::string_view task_type, const Failure& failure);
/// The message as the fingerprint sees it: "connect to # failed after #ms".
std::string normalised(std::string_view message);

}  // namespace holdfast::domain
