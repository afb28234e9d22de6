// A compact binary form for rows that are kept by the million: numbers as varints, texts with their
// length.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast {

class Packer {
  public:
    explicit Packer(std::string& out) : out_(out) {}

    Packer& number(std::uint64_t value) {
        std::array<char, 10>
            bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled as far as read
        std::size_t size = 0;
        while (value >= 0x80) {
            bytes[size++] = static_cast<char>(value | 0x80);
            value >>= 7;
        }
        bytes[size++] = static_cast<char>(value);
        out_.append(bytes.data(), size);
        return *this;
    }
    Packer& text(std::string_view value) {
        number(value.size());
        out_.append(value);
        return *this;
    }

  private:
    std::string& out_;
};

/// Reads what Packer wrote. After damage `ok()` is false and everything read is zero or empty.
class Unpacker {
  public:
    explicit Unpacker(std::string_view in) : in_(in) {}

    bool ok() const { return ok_; }
    bool done() const { return in_.empty() || !ok_; }

    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !in_.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(in_.front());
            in_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) return value;
        }
        give_up();
        return 0;
    }
    std::string_view text() {
        const std::uint64_t size = number();
        if (size > in_.size()) {
            give_up();
            return {};
        }
        const std::string_view value = in_.substr(0, size);
        in_.remove_prefix(size);
        return value;
    }

  private:
    void give_up() {
        ok_ = false;
        in_ = {};
    }

    std::string_view in_;
    bool ok_ = true;
};

}  // namespace holdfast
