// The letters of a filter line: where words begin and end. Inside `domain` only.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "domain/query.h"

namespace holdfast::domain {

inline std::unexpected<QueryError> misread(std::size_t position, std::string detail) {
    return std::unexpected(QueryError{std::move(detail), position});
}

/// One value of a clause, as it was written.
struct Value {
    enum class Op : std::uint8_t { none, contains, above, at_least, below, at_most };
    Op op = Op::none;
    std::string text;      ///< Without quotes.
    std::size_t at = 0;    ///< Where it begins.
    bool quoted = false;   ///< Some of it: then it is no range.
    bool starred = false;  ///< It has a `*` outside quotes.
};

/// Walks over a line. What a Chinese keyboard types in place of : , > < " ( ) and the blank is read as those; inside
/// quotes everything is itself.
class QueryText {
  public:
    explicit QueryText(std::string_view utf8);

    std::size_t at() const { return at_; }
    std::size_t size() const { return letters_.size(); }
    bool done() const { return at_ == letters_.size(); }
    void skip_blanks();
    /// Takes the letter, if it is the next.
    bool take(char wanted);
    /// The next one, and whether what follows it is more than a blank.
    bool next_begins_word() const;
    /// Takes the name and the colon of "name:"; empty: a word without a name begins here.
    std::string take_name();
    /// Up to a blank, or a comma when `listed`.
    std::expected<Value, QueryError> take_value(bool listed);

  private:
    char32_t letter(std::size_t place) const;
    bool is_blank(std::size_t place) const;
    std::expected<void, QueryError> take_quoted(Value& value);

    std::vector<char32_t> letters_;
    std::size_t at_ = 0;
};

}  // namespace holdfast::domain
