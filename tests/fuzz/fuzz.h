// What the fuzz targets share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::fuzz {

/// A promise that was broken: the fuzzer keeps the input that broke it.
inline void require(bool promise) {
    if (!promise) __builtin_trap();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace holdfast::fuzz
