#include "base/uuid.h"

#include <array>

namespace holdfast {
namespace {

constexpr std::uint64_t kVariant = std::uint64_t{0b10} << 62;
constexpr std::uint64_t kLowMask = (std::uint64_t{1} << 62) - 1;
constexpr std::string_view kHex = "0123456789abcdef";

constexpr std::uint64_t high_bits(std::uint64_t ms, std::uint64_t version, Partition partition) {
    return (ms << 16) | (version << 12) | static_cast<std::uint64_t>(partition);
}

int nibble(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

constexpr bool dash_at(std::size_t i) {
    return i == 8 || i == 13 || i == 18 || i == 23;
}

}  // namespace

std::string Uuid::text() const {
    std::string out(36, '-');
    unsigned shift = 64;
    const std::uint64_t* half = &high;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (dash_at(i)) continue;
        if (shift == 0) {
            half = &low;
            shift = 64;
        }
        shift -= 4;
        out[i] = kHex[(*half >> shift) & 0xf];
    }
    return out;
}

Result<Uuid> Uuid::parse(std::string_view text) {
    const auto bad = [&] {
        return refuse(Code::invalid_argument, "'" + std::string(text.substr(0, 40)) +
                                                  "' is not an id (a UUID of 36 characters)");
    };
    if (text.size() != 36) return bad();
    Uuid id;
    std::uint64_t* half = &id.high;
    int nibbles = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (dash_at(i)) {
            if (text[i] != '-') return bad();
            continue;
        }
        const int value = nibble(text[i]);
        if (value < 0) return bad();
        if (nibbles++ == 16) half = &id.low;
        *half = (*half << 4) | static_cast<std::uint64_t>(value);
    }
    return id;
}

Uuid Uuid::named(Partition partition, std::string_view name) {
    const std::uint64_t first = hash64(name, 0x6e616d65);
    return {high_bits(first >> 16, 8, partition), kVariant | (hash64(name, first) & kLowMask)};
}

Uuid Uuid::derived(const Uuid& parent, std::string_view name) {
    return {high_bits(parent.high >> 16, 8, parent.partition()),
            kVariant | (hash64(name, mix(parent.high) ^ parent.low) & kLowMask)};
}

Uuid UuidMint::mint(Partition partition, Time now) {
    const auto ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count());
    if (ms > last_ms_) {
        last_ms_ = ms;
        counter_ = rng_() & (kLowMask >> 1);  // headroom to count up within the millisecond
    } else {
        counter_ += 1 + (rng_() & 0xffff);
    }
    return {high_bits(last_ms_, 7, partition), kVariant | (counter_ & kLowMask)};
}

}  // namespace holdfast
