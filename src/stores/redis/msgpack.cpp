#include "stores/redis/msgpack.h"

namespace holdfast::stores::redis {

void MsgReader::give_up() {
    ok_ = false;
    in_ = {};
}

unsigned MsgReader::byte() {
    if (in_.empty()) {
        give_up();
        return 0xc2;
    }
    const unsigned b = head();
    in_.remove_prefix(1);
    return b;
}

std::uint64_t MsgReader::big_endian(unsigned bytes) {
    std::uint64_t n = 0;
    while (bytes-- > 0) n = n << 8 | byte();
    return n;
}

std::size_t MsgReader::array() {
    const unsigned b = byte();
    if (b >= 0x90 && b <= 0x9f) return b & 0x0fU;
    if (b == 0xdc) return big_endian(2);
    if (b == 0xdd) return big_endian(4);
    give_up();
    return 0;
}

MsgReader::Number MsgReader::real_or_number() {
    const unsigned b = byte();
    if (b < 0x80) return {.whole = b};
    if (b >= 0xe0) return {.whole = static_cast<std::int8_t>(b)};
    switch (b) {
        case 0xcc:
            return {.whole = static_cast<std::int64_t>(big_endian(1))};
        case 0xcd:
            return {.whole = static_cast<std::int64_t>(big_endian(2))};
        case 0xce:
            return {.whole = static_cast<std::int64_t>(big_endian(4))};
        case 0xcf:
            return {.whole = static_cast<std::int64_t>(big_endian(8))};
        case 0xd0:
            return {.whole = static_cast<std::int8_t>(big_endian(1))};
        case 0xd1:
            return {.whole = static_cast<std::int16_t>(big_endian(2))};
        case 0xd2:
            return {.whole = static_cast<std::int32_t>(big_endian(4))};
        case 0xd3:
            return {.whole = static_cast<std::int64_t>(big_endian(8))};
        case 0xca: {
            const auto bits = static_cast<std::uint32_t>(big_endian(4));
            return {.real = std::bit_cast<float>(bits), .is_real = true};
        }
        case 0xcb:
            return {.real = std::bit_cast<double>(big_endian(8)), .is_real = true};
        default:
            give_up();
            return {};
    }
}

double MsgReader::real() {
    const Number n = real_or_number();
    return n.is_real ? n.real : static_cast<double>(n.whole);
}

bool MsgReader::none() {
    if (in_.empty() || head() != 0xc2) return false;
    in_.remove_prefix(1);
    return true;
}

std::string_view MsgReader::text() {
    const unsigned b = byte();
    std::uint64_t size = 0;
    if (b >= 0xa0 && b <= 0xbf)
        size = b & 0x1fU;
    else if (b >= 0xd9 && b <= 0xdb)
        size = big_endian(1U << (b - 0xd9));
    else
        give_up();
    if (size > in_.size()) {
        give_up();
        return {};
    }
    const std::string_view text = in_.substr(0, size);
    in_.remove_prefix(size);
    return text;
}

}  // namespace holdfast::stores::redis
