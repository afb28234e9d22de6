// The options as data.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/config.h"
#include "config/values.h"

namespace holdfast::config {

struct Option {
    std::string_view name;  ///< In the file: section and key.
    Type type;
    std::string_view fallback;  ///< The default, as it would be written.
    Range range;                ///< Of counts, sizes (bytes) and durations (microseconds).
    std::string_view choices;   ///< Of a choice: "full|relaxed", in the order of its enum.
    std::string_view text;      ///< One sentence; more where the cost must be known.
    std::string_view commands;  ///< Those that have its flag, separated by blanks.
    void (*put)(Config& config, const Value& value);
    bool test_only = false;  ///< Not shown by --help.
    bool secret = false;     ///< Shown as ***.
};

std::span<const Option> options();
const Option* find_option(std::string_view name);

/// A flag is section and key with dashes; the sections that most people use are left out.
/// "http.max_body" → "http-max-body", "server.listen" → "listen", "store.url" → "store".
std::string flag_of(const Option& option);
/// HOLDFAST_ and the flag: "HOLDFAST_HTTP_MAX_BODY".
std::string variable_of(const Option& option);
bool belongs_to(const Option& option, std::string_view command);

/// Other HOLDFAST_* variables that may be set without being a mistake.
struct OtherVariable {
    std::string_view name;
    std::string_view text;
};
std::span<const OtherVariable> other_variables();
inline constexpr std::string_view kConfigFlag = "config";
inline constexpr std::string_view kConfigVariable = "HOLDFAST_CONFIG";

}  // namespace holdfast::config
