// JSON from outside, held to strict limits: Holdfast parses with one parser and one set of rules
// everywhere.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast {

struct JsonLimits {
    std::size_t bytes = std::size_t{1} << 20;
    std::size_t depth = 64;
    std::size_t keys = 10'000;
};

/// Valid JSON text. There is no way to hold text in it that was not checked or made by a
/// serialiser, so whoever takes a Json need not look again.
class Json {
  public:
    Json() = default;  ///< null

    /// UTF-8, within the limits, no duplicate keys, finite numbers.
    static Result<Json> parse(std::string_view text, const JsonLimits& limits = {});
    /// Text that a Json wrote and a store kept. Damaged text reads as null, never as something
    /// else.
    static Json stored(std::string_view text);
    static Json of(const boost::json::value& value);
    /// A string. What is no UTF-8 in `text` becomes U+FFFD: an error message cut in the middle of a
    /// character must still be sent.
    static Json quoted(std::string_view text);
    /// As short as reads back to the same number: 0.3, not 3E-1. What is not finite is null.
    static Json number(double value);
    static Json number(float value);

    const std::string& text() const { return text_; }
    bool is_null() const { return text_ == "null"; }
    /// The parsed form. Numbers beyond 64 bits lose precision there; `text()` never does.
    boost::json::value value() const;

    struct Member;
    /// The members of an object, each with its own exact text; empty for anything but an object.
    std::vector<Member> members() const;
    /// The elements of an array, each with its own exact text; empty for anything but an array.
    std::vector<Json> elements() const;
    /// How many keys its objects have together.
    std::size_t keys() const;
    /// The member `name`, or null.
    Json member(std::string_view name) const;

    friend bool operator==(const Json&, const Json&) = default;

  private:
    explicit Json(std::string text) : text_(std::move(text)) {}
    friend class JsonObject;
    friend class JsonCursor;
    std::string text_ = "null";
};

struct Json::Member {
    std::string name;
    Json value;
};

/// Writes an object member by member, values as they are. Names are ours: plain, and each added
/// once.
class JsonObject {
  public:
    JsonObject& add(std::string_view name, const Json& value);
    JsonObject& add(std::string_view name, std::string_view text) {
        return add(name, Json::quoted(text));
    }
    JsonObject& add(std::string_view name, std::int64_t number);
    /// Adds nothing when `text` is empty.
    JsonObject& add_some(std::string_view name, std::string_view text) {
        return text.empty() ? *this : add(name, text);
    }
    Json done();

  private:
    std::string text_ = "{";
};

/// The same value with sorted keys and no white space: equal values give equal texts, and integers
/// of any length that differ give texts that differ.
std::string canonical(const Json& json);

}  // namespace holdfast
