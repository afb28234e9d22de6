// Stable hashes: the same text gives the same number on every machine and in every version.
// They place records (partitions), spread retries (jitter) and group failures (fingerprints); none
// of them guards against an attacker: see base/sha256.h for that.
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast {

constexpr std::uint64_t mix(std::uint64_t x) {  // the finaliser of SplitMix64
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9U;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebU;
    x ^= x >> 31;
    return x;
}

constexpr std::uint64_t hash64(std::string_view text, std::uint64_t seed = 0) {
    std::uint64_t h = 0xcbf29ce484222325U ^ seed;  // FNV-1a
    for (const char c : text) {
        h ^= static_cast<unsigned char>(c);
        h *= 0x100000001b3U;
    }
    return mix(h);
}

}  // namespace holdfast
