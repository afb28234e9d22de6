#include "redis/reply.h"

#include <charconv>
#include <cmath>

namespace holdfast::redis {
namespace {

template <class Number>
Number number_in(std::string_view text) {
    Number number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failed == std::errc{} && end == text.data() + text.size() ? number : Number{0};
}

/// Beyond what an integer holds there is no right answer: 0.
std::int64_t whole(double real) {
    constexpr double kEnd = 9223372036854775808.0;
    return real >= -kEnd && real < kEnd ? static_cast<std::int64_t>(real) : 0;
}

}  // namespace

Value Reply::root() const {
    return nodes_.empty() ? Value{} : Value{this, 0};
}

const Reply::Node* Value::node() const {
    return reply_ == nullptr ? nullptr : &reply_->nodes_[node_];
}

Reply::Kind Value::kind() const {
    const auto* const here = node();
    return here == nullptr ? Reply::Kind::null : here->kind;
}

std::int64_t Value::integer() const {
    switch (kind()) {
        case Reply::Kind::integer:
        case Reply::Kind::truth:
            return node()->number;
        case Reply::Kind::real:
            return whole(node()->real);
        case Reply::Kind::text:
            return number_in<std::int64_t>(text());
        default:
            return 0;
    }
}

double Value::real() const {
    switch (kind()) {
        case Reply::Kind::integer:
        case Reply::Kind::truth:
            return static_cast<double>(node()->number);
        case Reply::Kind::real:
            return node()->real;
        case Reply::Kind::text:
            return number_in<double>(text());
        default:
            return 0;
    }
}

std::string_view Value::text() const {
    const auto* const here = node();
    if (here == nullptr || (here->kind != Reply::Kind::text && here->kind != Reply::Kind::error))
        return {};
    return std::string_view(reply_->bytes_).substr(here->from, here->size);
}

std::size_t Value::size() const {
    return is_array() ? node()->size : 0;
}

Value Value::operator[](std::size_t place) const {
    if (place >= size()) return {};
    auto at = begin();
    while (place-- > 0) ++at;
    return *at;
}

Value::Iterator Value::begin() const {
    return is_array() ? Iterator(Value(reply_, node_ + 1)) : Iterator();
}

Value::Iterator Value::end() const {
    return is_array() ? Iterator(Value(reply_, node()->next)) : Iterator();
}

Value::Iterator& Value::Iterator::operator++() {
    value_.node_ = value_.node()->next;
    return *this;
}

}  // namespace holdfast::redis
