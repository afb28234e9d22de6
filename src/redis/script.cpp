#include <openssl/sha.h>

#include <array>

#include "redis/redis.h"

namespace holdfast::redis {
namespace {

std::string sha1_in_hex(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
    SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    std::string hex;
    for (const unsigned byte : digest) {
        hex += kDigits[byte >> 4U];
        hex += kDigits[byte & 15U];
    }
    return hex;
}

}  // namespace

Script::Script(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)), digest_(sha1_in_hex(text_)) {}

}  // namespace holdfast::redis
