#include "redis/reply_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace holdfast::redis {
namespace {

constexpr std::size_t kLineEndSize = 2;
constexpr std::size_t kVerbatimHead = 4;  // "txt:"
constexpr std::uint64_t kMostReserved =
    1024;  // a count is only a promise: do not pay for it in advance

template <class Number>
std::optional<Number> number_of(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    Number number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc{} || end != text.data() + text.size()) return {};
    return number;
}

}  // namespace

ReplyParser::Outcome ReplyParser::feed(std::string_view& bytes) {
    while (!whole_ && fault_.empty() && !bytes.empty()) {
        if (in_body_) {
            take_body(bytes);
        } else if (!take_line(bytes)) {
            break;
        }
    }
    if (!fault_.empty()) return Outcome::broken;
    if (!whole_) return Outcome::more;
    return is_push_ ? Outcome::push : Outcome::reply;
}

Reply ReplyParser::take() {
    whole_ = is_push_ = false;
    return std::exchange(reply_, {});
}

/// False: the line is not whole yet.
bool ReplyParser::take_line(std::string_view& bytes) {
    const std::size_t end = bytes.find('\n');
    if (line_.size() + std::min(end, bytes.size()) > limits_.line + kLineEndSize) {
        break_off("a line is too long");
        return false;
    }
    if (end == std::string_view::npos) {
        line_.append(std::exchange(bytes, {}));
        return false;
    }
    std::string_view line = bytes.substr(0, end + 1);
    bytes.remove_prefix(end + 1);
    std::string whole;
    if (!line_.empty()) {
        whole = std::exchange(line_, {}).append(line);
        line = whole;
    }
    if (line.size() <= kLineEndSize || line[line.size() - kLineEndSize] != '\r') {
        break_off("a line has no type or no proper end");
        return false;
    }
    line.remove_suffix(kLineEndSize);
    read_line(line);
    return true;
}

void ReplyParser::read_line(std::string_view line) {
    const char type = line.front();
    line.remove_prefix(1);
    switch (type) {
        case '$':
        case '!':
        case '=':
            return open_body(type, line);
        case '*':
        case '%':
        case '~':
        case '>':
        case '|':
            return open_array(type, line);
        default:
            return read_simple(type, line);
    }
}

void ReplyParser::read_simple(char type, std::string_view text) {
    using Kind = Reply::Kind;
    switch (type) {
        case '+':
        case '(':  // a number that fits no integer: as text
            return add_text(Kind::text, text);
        case '-':
            return add_text(Kind::error, text);
        case ':': {
            const auto number = number_of<std::int64_t>(text);
            if (!number) return break_off("no number after ':'");
            if (auto* const node = add(Kind::integer)) node->number = *number;
            break;
        }
        case ',': {
            const auto number = number_of<double>(text);  // knows inf and nan, too
            if (!number) return break_off("no number after ','");
            if (auto* const node = add(Kind::real)) node->real = *number;
            break;
        }
        case '#':
            if (text != "t" && text != "f") return break_off("neither true nor false after '#'");
            if (auto* const node = add(Kind::truth)) node->number = text == "t" ? 1 : 0;
            break;
        case '_':
            if (!text.empty()) return break_off("something after '_'");
            add(Kind::null);
            break;
        default:
            return break_off("a type that RESP does not have");
    }
    if (fault_.empty()) value_is_whole();
}

void ReplyParser::open_body(char type, std::string_view count) {
    const auto size = number_of<std::int64_t>(count);
    if (size == -1 && type == '$') {
        if (add(Reply::Kind::null) != nullptr) value_is_whole();
        return;
    }
    if (!size || *size < 0) return break_off("no length of a text");
    const auto bytes = static_cast<std::uint64_t>(*size);
    if (bytes > limits_.bytes - reply_.bytes_.size()) return break_off("the reply is too large");
    if (type == '=' && bytes < kVerbatimHead)
        return break_off("a verbatim text without its format");
    auto* const node = add(type == '!' ? Reply::Kind::error : Reply::Kind::text);
    if (node == nullptr) return;
    node->from = static_cast<std::uint32_t>(reply_.bytes_.size());
    body_left_ = bytes + kLineEndSize;
    in_body_ = true;
    in_verbatim_ = type == '=';
}

/// The line end is appended with the rest and cut off again: a reply is mostly copied in one piece.
void ReplyParser::take_body(std::string_view& bytes) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, bytes.size()));
    reply_.bytes_.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    body_left_ -= size;
    if (body_left_ > 0) return;
    if (!reply_.bytes_.ends_with("\r\n")) return break_off("a text is longer than was said");
    reply_.bytes_.resize(reply_.bytes_.size() - kLineEndSize);
    auto& node = reply_.nodes_.back();
    if (in_verbatim_) node.from += kVerbatimHead;
    node.size = static_cast<std::uint32_t>(reply_.bytes_.size()) - node.from;
    in_body_ = in_verbatim_ = false;
    value_is_whole();
}

void ReplyParser::open_array(char type, std::string_view count) {
    const auto size = number_of<std::int64_t>(count);
    if (size == -1 && type == '*') {
        if (add(Reply::Kind::null) != nullptr) value_is_whole();
        return;
    }
    if (!size || *size < 0) return break_off("no length of an array");
    auto values = static_cast<std::uint64_t>(*size);
    if (values > limits_.values) return break_off("the reply has too many values");
    if (type == '%' || type == '|') values *= 2;
    if (type == '>' && !open_.empty()) return break_off("a push inside a reply");
    if (open_.size() >= limits_.depth) return break_off("the reply is too deep");
    const auto place = static_cast<std::uint32_t>(reply_.nodes_.size());
    auto* const node = add(Reply::Kind::array);
    if (node == nullptr) return;
    node->size = static_cast<std::uint32_t>(values);
    if (type == '>') is_push_ = true;
    reply_.nodes_.reserve(reply_.nodes_.size() + std::min(values, kMostReserved));
    open_.push_back({place, values, type == '|', static_cast<std::uint32_t>(reply_.bytes_.size())});
    if (values == 0) {
        ++open_.back().left;
        value_is_whole();
    }
}

/// Null: there are too many.
Reply::Node* ReplyParser::add(Reply::Kind kind) {
    if (reply_.nodes_.size() >= limits_.values) {
        break_off("the reply has too many values");
        return nullptr;
    }
    auto& node = reply_.nodes_.emplace_back();
    node.kind = kind;
    node.next = static_cast<std::uint32_t>(reply_.nodes_.size());
    return &node;
}

void ReplyParser::add_text(Reply::Kind kind, std::string_view text) {
    if (text.size() > limits_.bytes - reply_.bytes_.size())
        return break_off("the reply is too large");
    auto* const node = add(kind);
    if (node == nullptr) return;
    node->from = static_cast<std::uint32_t>(reply_.bytes_.size());
    node->size = static_cast<std::uint32_t>(text.size());
    reply_.bytes_.append(text);
    value_is_whole();
}

/// One value more is there; it may be the last of the array it is in, and that of the one around it.
void ReplyParser::value_is_whole() {
    while (!open_.empty()) {
        Open& last = open_.back();
        if (--last.left > 0) return;
        const Open done = last;
        open_.pop_back();
        if (done.attribute) {  // the value that it is about still comes
            reply_.nodes_.resize(done.node);
            reply_.bytes_.resize(done.bytes);
            return;
        }
        reply_.nodes_[done.node].next = static_cast<std::uint32_t>(reply_.nodes_.size());
    }
    whole_ = true;
}

void ReplyParser::break_off(std::string_view fault) {
    fault_ = fault;
}

}  // namespace holdfast::redis
