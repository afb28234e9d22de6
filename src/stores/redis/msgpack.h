// As much of MessagePack as the scripts and this store say to one another: numbers, texts, arrays, false.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::stores::redis {

class MsgWriter {
  public:
    MsgWriter& array(std::size_t size) {
        if (size < 16) return byte(0x90 | size);
        return byte(0xdc).big_endian(size, 2);
    }
    MsgWriter& number(std::int64_t n) {
        const auto bits = static_cast<std::uint64_t>(n);
        if (n >= -32 && n < 128) return byte(bits & 0xff);
        if (n >= 0 && n <= UINT8_MAX) return byte(0xcc).big_endian(bits, 1);
        if (n >= 0 && n <= UINT16_MAX) return byte(0xcd).big_endian(bits, 2);
        if (n >= 0 && n <= UINT32_MAX) return byte(0xce).big_endian(bits, 4);
        return byte(0xd3).big_endian(bits, 8);
    }
    MsgWriter& real(float f) { return byte(0xca).big_endian(std::bit_cast<std::uint32_t>(f), 4); }
    MsgWriter& text(std::string_view text) {
        if (text.size() < 32)
            byte(0xa0 | text.size());
        else if (text.size() <= UINT16_MAX)
            byte(0xda).big_endian(text.size(), 2);
        else
            byte(0xdb).big_endian(text.size(), 4);
        out_.append(text);
        return *this;
    }
    MsgWriter& flag(bool set) { return byte(set ? 0xc3 : 0xc2); }
    MsgWriter& none() { return flag(false); }

    std::string take() { return std::move(out_); }

  private:
    MsgWriter& byte(std::uint64_t b) {
        out_.push_back(static_cast<char>(b));
        return *this;
    }
    MsgWriter& big_endian(std::uint64_t n, unsigned bytes) {
        while (bytes-- > 0) byte((n >> (8 * bytes)) & 0xff);
        return *this;
    }
    std::string out_;
};

/// Reads what MsgWriter or cmsgpack wrote. After damage everything read is zero or empty.
class MsgReader {
  public:
    explicit MsgReader(std::string_view in) : in_(in) {}

    bool ok() const { return ok_; }
    bool done() const { return in_.empty(); }
    bool at_text() const {
        return !in_.empty() && (is_fixed_text() || (head() >= 0xd9 && head() <= 0xdb));
    }

    std::size_t array();
    std::int64_t number() { return static_cast<std::int64_t>(real_or_number().whole); }
    double real();
    std::string_view text();
    /// Whether a false stands here; then it is read.
    bool none();

  private:
    struct Number {
        std::int64_t whole = 0;
        double real = 0;
        bool is_real = false;
    };
    unsigned head() const { return static_cast<unsigned char>(in_.front()); }
    bool is_fixed_text() const { return head() >= 0xa0 && head() <= 0xbf; }
    Number real_or_number();
    unsigned byte();
    std::uint64_t big_endian(unsigned bytes);
    void give_up();

    std::string_view in_;
    bool ok_ = true;
};

}  // namespace holdfast::stores::redis
