// The body of a request, field by field. What nobody asked for is an error that names it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "http/call.h"

namespace holdfast::http {

inline constexpr std::size_t kMostKeys = 200'000;  ///< In one body, all items of a batch together.

/// The whole body; an error names `body`.
Result<Json> parse_body(const Call& call);

/// Each field is taken once; a field that is not there, or null, reads as empty.
class Fields {
  public:
    /// An empty body is an empty object.
    static Result<Fields> of(const Call& call);
    explicit Fields(std::vector<Json::Member> members, std::string prefix = {})
        : members_(std::move(members)), prefix_(std::move(prefix)) {}

    std::optional<Json> take(std::string_view name);
    Result<std::string> text(std::string_view name);
    Result<std::vector<std::string>> texts(
        std::string_view name);  ///< One text, or a list of them.
    Result<bool> flag(std::string_view name);
    Result<std::optional<double>> number(std::string_view name);
    Result<Time> time(std::string_view name);
    Result<Fields> object(std::string_view name);
    bool has(std::string_view name) const;
    /// Nothing may be left over.
    Result<> nothing_left() const;

  private:
    std::string path(std::string_view name) const { return prefix_ + std::string(name); }

    std::vector<Json::Member> members_;
    std::string prefix_;
};

}  // namespace holdfast::http
