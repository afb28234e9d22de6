#include "base/sha256.h"

#include <openssl/sha.h>

namespace holdfast {

Sha256 sha256(std::string_view text) {
    Sha256 digest{};
    // reinterpret_cast: OpenSSL takes bytes as unsigned char.
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    return digest;
}

}  // namespace holdfast
