// What a server answered: a tree of values in one piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

class Value;

/// Owns the bytes and the tree; a Value points into it. Cheap to move.
class Reply {
  public:
    enum class Kind : std::uint8_t { null, integer, real, truth, text, error, array };

    Value root() const;

  private:
    friend class Value;
    friend class ReplyParser;
    struct Node {
        Kind kind = Kind::null;
        std::uint32_t next = 0;  ///< Behind this one and all that is in it.
        std::uint32_t from = 0;  ///< text, error: where it begins in bytes_.
        std::uint32_t size = 0;  ///< text, error: its bytes; array: its values.
        union {
            std::int64_t number = 0;  ///< integer, truth.
            double real;
        };
    };
    std::string bytes_;
    std::vector<Node> nodes_;  ///< In the order in which they came.
};

/// A map counts as an array of keys and values in turn. What is asked of a value of another kind is 0 or empty: a
/// server that answers nonsense gives wrong data, never a crash.
class Value {
  public:
    Reply::Kind kind() const;
    bool is_null() const { return kind() == Reply::Kind::null; }
    bool is_error() const { return kind() == Reply::Kind::error; }
    bool is_array() const { return kind() == Reply::Kind::array; }
    std::int64_t integer() const;   ///< Also of a text that is a whole number.
    double real() const;            ///< Also of an integer, and of a text that is a number.
    std::string_view text() const;  ///< Also of an error.

    std::size_t size() const;                   ///< Of an array.
    Value operator[](std::size_t place) const;  ///< Walks there: iterate where there are many.

    class Iterator;
    Iterator begin() const;
    Iterator end() const;

  private:
    friend class Reply;
    Value() = default;
    Value(const Reply* reply, std::uint32_t node) : reply_(reply), node_(node) {}
    const Reply::Node* node() const;

    const Reply* reply_ = nullptr;  ///< null: a value that is not there.
    std::uint32_t node_ = 0;
};

class Value::Iterator {
  public:
    using difference_type = std::ptrdiff_t;
    using value_type = Value;
    using reference = Value;
    using iterator_category = std::input_iterator_tag;

    Iterator() = default;
    Value operator*() const { return value_; }
    Iterator& operator++();
    Iterator operator++(int) {
        Iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
        return a.value_.node_ == b.value_.node_;
    }

  private:
    friend class Value;
    explicit Iterator(Value value) : value_(value) {}
    Value value_;
};

}  // namespace holdfast::redis
