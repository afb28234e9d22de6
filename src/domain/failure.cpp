#include "domain/failure.h"

#include <algorithm>

#include "base/hash.h"

namespace holdfast::domain {
namespace {

constexpr std::size_t kFingerprintedBytes = 256;

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

/// A word that is an id rather than a word: eight or more hexadecimal digits with a digit among
/// them.
bool looks_like_id(std::string_view word) {
    return word.size() >= 8 && std::ranges::all_of(word, is_hex) &&
           std::ranges::any_of(word, is_digit);
}

/// "v12ms" → "v#ms".
void append_without_numbers(std::string& out, std::string_view word) {
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
        const char c = message.front();
        if (c == '"' || c == '\'') {
            const std::size_t close = message.find(c, 1);
            if (close != std::string_view::npos) {
                out += '*';
                message.remove_prefix(close + 1);
                continue;
            }
        }
        const auto length =
            static_cast<std::size_t>(std::ranges::find_if_not(message, is_word) - message.begin());
        if (length == 0) {
            out += c;
            message.remove_prefix(1);
            continue;
        }
        const std::string_view word = message.substr(0, length);
        if (looks_like_id(word)) {
            out += '#';
        } else {
            append_without_numbers(out, word);
        }
        message.remove_prefix(length);
    }
    return out;
}

std::uint64_t fingerprint(std::string_view task_type, const Failure& failure) {
    const std::uint64_t h =
        hash64(normalised(failure.message),
               hash64(failure.code, hash64(to_string(failure.kind), hash64(task_type))));
    return h == 0 ? 1 : h;
}

}  // namespace holdfast::domain
