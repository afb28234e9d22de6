#include <array>

#include "redis/slot_map.h"

namespace holdfast::redis {
namespace {

/// CRC16/XMODEM, byte by byte.
constexpr std::array<std::uint16_t, 256> kTable = [] {
    constexpr unsigned kPolynomial = 0x1021;
    std::array<std::uint16_t, 256> table{};
    for (unsigned byte = 0; byte < table.size(); ++byte) {
        unsigned sum = byte << 8U;
        for (int bit = 0; bit < 8; ++bit)
            sum = (sum & 0x8000U) != 0 ? (sum << 1U) ^ kPolynomial : sum << 1U;
        table[byte] = static_cast<std::uint16_t>(sum);
    }
    return table;
}();

/// Empty braces count as none.
std::string_view hashed_part(std::string_view key) {
    const std::size_t open = key.find('{');
    if (open == std::string_view::npos) return key;
    const std::size_t close = key.find('}', open + 1);
    if (close == std::string_view::npos || close == open + 1) return key;
    return key.substr(open + 1, close - open - 1);
}

}  // namespace

std::uint16_t slot_of(std::string_view key) {
    unsigned sum = 0;
    for (const char c : hashed_part(key))
        sum =
            ((sum << 8U) ^ kTable[((sum >> 8U) ^ static_cast<unsigned char>(c)) & 0xffU]) & 0xffffU;
    return static_cast<std::uint16_t>(sum % kSlots);
}

}  // namespace holdfast::redis
