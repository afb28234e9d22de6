// Reading JSON from front to back, without building anything from it: for the paths on which tens of
// thousands of small objects a second come by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace holdfast {

/// Past the string that opens at `text[at]`, and past the value that begins there. The text is valid JSON.
std::size_t after_string(std::string_view text, std::size_t at);
std::size_t after_value(std::string_view text, std::size_t at);

/// Stands before a value of a Json, which outlives it. The Json is valid, so nothing here fails; but
/// whoever reads must read what is there: look at `is_…` first, and read or skip each value once.
///
///     cursor.enter();
///     while (const auto name = cursor.next_member()) {
///         if (*name == "id" && cursor.is_string()) id = cursor.take_string(); else cursor.skip();
///     }
class JsonCursor {
  public:
    explicit JsonCursor(const Json& json) : text_(json.text()) {}

    bool is_object() const { return text_[at_] == '{'; }
    bool is_array() const { return text_[at_] == '['; }
    bool is_string() const { return text_[at_] == '"'; }
    bool is_number() const { return text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9'); }
    bool is_bool() const { return text_[at_] == 't' || text_[at_] == 'f'; }
    bool is_null() const { return text_[at_] == 'n'; }

    /// Into the object or array it stands before.
    void enter();
    /// The name of the next member of the object it is in, standing before the value; none when the
    /// object is over: then it stands behind it. The name lives until the next call.
    std::optional<std::string_view> next_member();
    /// Whether the array it is in has another item, standing before it; else it stands behind the array.
    bool next_item();

    void skip() { take_text(); }
    /// The value's own letters; they live as long as the Json.
    std::string_view take_text();
    Json take() { return Json(std::string(take_text())); }
    /// A string, unescaped. It lives until the next call.
    std::string_view take_string();
    bool take_bool() { return take_text() == "true"; }
    /// A number without fraction and exponent that fits; none for any other number.
    std::optional<std::int64_t> take_integer();
    double take_number();

  private:
    void skip_space();
    std::string_view unescaped(std::string_view quoted);

    std::string_view text_;
    std::size_t at_ = 0;
    bool first_ = false;  ///< In an object or array that was just entered.
    std::string scratch_;
};

}  // namespace holdfast
