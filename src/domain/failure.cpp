#include "domain/failure.h"

#include <algorithm>

#include "base/hash.h"
#include "base/uuid.h"

namespace holdfast::domain {
namespace {

constexpr std::size_t kFingerprintedBytes = 256;
constexpr std::size_t kUuidSize = 36;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Cuts at `limit` bytes without leaving half a UTF-8 character.
void cut(std::string& text, std::size_t limit) {
    if (text.size() <= limit) return;
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0U) == 0x80U) --limit;
    text.resize(limit);
}

/// The word, or the UUID, that begins `message`; empty when neither does.
std::string_view leading_word(std::string_view message) {
    if (Uuid::parse(message.substr(0, kUuidSize))) return message.substr(0, kUuidSize);
    const auto end = std::ranges::find_if_not(message, is_word);
    return message.substr(0, static_cast<std::size_t>(end - message.begin()));
}

/// A UUID, "0x…", or eight or more hexadecimal digits with a digit among them.
bool looks_like_id(std::string_view word) {
    if (word.starts_with("0x"))
        word.remove_prefix(2);
    else if (word.size() < 8)
        return false;
    return std::ranges::all_of(word, [](char c) { return is_hex(c) || c == '-'; }) &&
           std::ranges::any_of(word, is_digit);
}

/// How long the quoted text is that begins `message`; 0 when none does.
std::size_t quoted_length(std::string_view message) {
    if (message.front() != '"' && message.front() != '\'') return 0;
    const std::size_t close = message.find(message.front(), 1);
    return close == std::string_view::npos ? 0 : close + 1;
}

/// "v12ms" → "v#ms", and an id → "#".
void append_word(std::string& out, std::string_view word) {
    if (looks_like_id(word)) word = "0";
    for (const char c : word) {
        if (!is_digit(c)) {
            out += c;
        } else if (out.empty() || out.back() != '#') {
            out += '#';
        }
    }
}

}  // namespace

std::optional<ErrorKind> error_kind_from(std::string_view name) {
    const auto found = std::ranges::find(kErrorKindNames, name);
    if (found == kErrorKindNames.end()) return std::nullopt;
    return static_cast<ErrorKind>(found - kErrorKindNames.begin());
}

Failure truncated(Failure failure) {
    cut(failure.message, kLongestMessage);
    cut(failure.stack, kLongestStack);
    cut(failure.code, kLongestCode);
    return failure;
}

Json to_json(const Failure& failure) {
    return JsonObject{}
        .add("kind", to_string(failure.kind))
        .add("message", failure.message)
        .add_some("code", failure.code)
        .add_some("stack", failure.stack)
        .done();
}

std::string normalised(std::string_view message) {
    message = message.substr(0, message.find('\n')).substr(0, kFingerprintedBytes);
    std::string out;
    while (!message.empty()) {
        const std::string_view word = leading_word(message);
        const bool apostrophe = message.front() == '\'' && !out.empty() && is_word(out.back());
        std::size_t taken = 1;
        if (!word.empty()) {
            append_word(out, word);
            taken = word.size();
        } else if (const std::size_t quoted = apostrophe ? 0 : quoted_length(message)) {
            out += '*';
            taken = quoted;
        } else {
            out += message.front();
        }
        message.remove_prefix(taken);
    }
    return out;
}

std::uint64_t fingerprint(std::string_view task_type, const Failure& failure) {
    const std::uint64_t h =
        hash64(normalised(failure.message),
               hash64(failure.code, hash64(to_string(failure.kind), hash64(task_type))));
    return std::max<std::uint64_t>(h, 1);
}

}  // namespace holdfast::domain
