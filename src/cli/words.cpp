#include "cli/words.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/nearest.h"

namespace holdfast::cli {
namespace {

/// The next character of `text`, which is then without it. What is no UTF-8 comes byte by byte.
std::uint32_t next_character(std::string_view& text) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead < 0xc0 || text.size() < length) {
        text.remove_prefix(1);
        return lead;
    }
    std::uint32_t code = lead & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i)
        code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
    text.remove_prefix(length);
    return code;
}

struct Range {
    std::uint32_t first, last;
};
constexpr std::array kWide{Range{0x1100, 0x115f},  Range{0x2e80, 0x303e}, Range{0x3041, 0xa4cf},
                           Range{0xac00, 0xd7a3},  Range{0xf900, 0xfaff}, Range{0xfe30, 0xfe6f},
                           Range{0xff00, 0xff60},  Range{0xffe0, 0xffe6}, Range{0x1f300, 0x1faff},
                           Range{0x20000, 0x3fffd}};
constexpr std::array kZero{Range{0x0300, 0x036f}, Range{0x200b, 0x200f}, Range{0xfe00, 0xfe0f}};

template <class Ranges>
bool within(const Ranges& ranges, std::uint32_t code) {
    return std::ranges::any_of(
        ranges, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

bool is_control(std::uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    while (!text.empty()) {
        auto rest = text;
        const auto code = next_character(rest);
        const auto character = text.substr(0, text.size() - rest.size());
        text = rest;
        if (code == '\n' || code == '\t') {
            out += ' ';
        } else if (is_control(code) || (character.size() == 1 && code >= 0x80)) {
            const auto byte = code & 0xff;
            out.append("\\x").append({kHex[byte >> 4], kHex[byte & 15]});
        } else {
            out.append(character);
        }
    }
    return out;
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const auto code = next_character(text);
        if (!within(kZero, code)) width += within(kWide, code) ? 2 : 1;
    }
    return width;
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
    for (const auto& candidate : known) {
        if (word.size() > 1 && candidate.starts_with(word)) return candidate;
    }
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    return std::string(holdfast::nearest(word, candidates).value_or(""));
}

bool use_colour(const Io& io, bool is_terminal) {
    if (!is_terminal) return false;
    const auto* off = io.environment("NO_COLOR");
    if (off != nullptr && *off != '\0') return false;
    const auto* term = io.environment("TERM");
    return term == nullptr || std::string_view(term) != "dumb";
}

std::string mark(const Io& io) {
    if (!io.err_is_terminal) return "holdfast: ";
    return use_colour(io, true) ? "\x1b[31m✕\x1b[0m " : "✕ ";
}

}  // namespace holdfast::cli
