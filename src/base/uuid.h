// 128-bit ids. Their text is a UUID; twelve of their bits name a virtual partition.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"

namespace holdfast {

/// A virtual partition, 0 to 4095. What one Change touches lives in one of them, so that a store
/// that is spread over machines can apply it in one place. Minted alike on every backend.
enum class Partition : std::uint16_t {};
inline constexpr std::uint16_t kPartitions = 4096;

constexpr Partition partition_of(std::string_view name) {
    return Partition{static_cast<std::uint16_t>(hash64(name) % kPartitions)};
}

/// Layout, most significant bit first: 48 unix milliseconds · 4 version · 12 partition · 2 variant
/// · 62 rest.
struct Uuid {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    constexpr bool is_nil() const { return high == 0 && low == 0; }
    constexpr Partition partition() const {
        return Partition{static_cast<std::uint16_t>(high & 0xfff)};
    }
    /// Only meaningful for ids minted by time, or derived from such a one.
    constexpr Time minted_at() const { return Time{std::chrono::milliseconds{high >> 16}}; }

    std::string text() const;
    static Result<Uuid> parse(std::string_view text);

    /// An id for a thing that has a name: the same partition and name give the same id everywhere.
    static Uuid named(Partition partition, std::string_view name);
    /// A child of `parent`: its partition and its place in time, and always the same for the same
    /// name.
    static Uuid derived(const Uuid& parent, std::string_view name);

    friend constexpr auto operator<=>(const Uuid&, const Uuid&) = default;
};

struct UuidHash {
    using is_avalanching = void;  // lets boost::unordered_flat_map skip its own mixing
    std::size_t operator()(const Uuid& id) const {
        return mix(id.low ^ (id.high * 0x9e3779b97f4a7c15U));
    }
};

/// Mints UUIDv7s. Ids of one mint and one partition strictly increase, also when the clock steps
/// back. Not thread-safe: one mint per thread that needs one.
class UuidMint {
  public:
    explicit UuidMint(Rng rng) : rng_(rng) {}
    Uuid mint(Partition partition, Time now);
    Partition random_partition() {
        return Partition{static_cast<std::uint16_t>(rng_.below(kPartitions))};
    }

  private:
    Rng rng_;
    std::uint64_t last_ms_ = 0;
    std::uint64_t counter_ = 0;  // the 62 low bits; random at each new millisecond, then counted up
};

}  // namespace holdfast
