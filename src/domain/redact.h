// Takes secrets out of what people look at: values whose key says that they are one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace holdfast::domain {

inline constexpr std::string_view kRedacted = "[redacted]";

class Redaction {
  public:
    Redaction() = default;  ///< Hides nothing.
    /// Keys as people write them: "api_key" also hides apiKey, API-KEY and openai_api_key, and not api_keys.
    explicit Redaction(const std::vector<std::string>& keys);

    bool hides(std::string_view key) const;
    /// The same with hidden values as "[redacted]", at any depth; `hid` becomes true when there was one.
    Json apply(const Json& json, bool& hid) const;
    /// Of a task as JSON: payload, result, error, errors and context; "redacted":true when something was hidden.
    Json apply_to_task(const Json& task) const;

  private:
    std::vector<std::string> keys_;  ///< In small letters, without - and _.
};

}  // namespace holdfast::domain
