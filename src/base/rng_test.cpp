#include "base/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "base/sha256.h"

namespace holdfast {
namespace {

TEST(Rng, a_seed_replays_the_same_numbers) {
    Rng a(42);
    Rng b(42);
    Rng c(43);
    bool differs = false;
    for (int i = 0; i < 100; ++i) {
        const auto number = a();
        ASSERT_EQ(number, b());
        differs = differs || number != c();
    }
    EXPECT_TRUE(differs);
}

TEST(Rng, the_sequence_of_a_seed_is_splitmix64_on_every_machine) {
    Rng rng(1234567);  // the reference values of SplitMix64
    EXPECT_EQ(rng(), 6457827717110365317U);
    EXPECT_EQ(rng(), 3203168211198807973U);
    EXPECT_EQ(rng(), 9817491932198370423U);
}

TEST(Rng, below_stays_below_and_reaches_everything) {
    Rng rng(1);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1000; ++i) seen.insert(rng.below(7));
    EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(rng.below(0), 0U);
    EXPECT_EQ(rng.below(1), 0U);
}

TEST(Rng, chance_is_as_likely_as_asked) {
    Rng rng(2);
    int hits = 0;
    for (int i = 0; i < 100'000; ++i) hits += rng.chance(0.25) ? 1 : 0;
    EXPECT_NEAR(hits, 25'000, 1'000);
    EXPECT_FALSE(rng.chance(0));
    EXPECT_TRUE(rng.chance(1));
}

TEST(Rng, unit_lies_between_zero_and_one_and_never_is_one) {
    Rng rng(3);
    double least = 1;
    double most = 0;
    for (int i = 0; i < 100'000; ++i) {
        const double x = rng.unit();
        least = std::min(least, x);
        most = std::max(most, x);
    }
    EXPECT_GE(least, 0);
    EXPECT_LT(least, 0.001);
    EXPECT_LT(most, 1);
    EXPECT_GT(most, 0.999);
}

TEST(Rng, the_system_gives_each_start_another_seed) {
    std::set<std::uint64_t> firsts;
    for (int i = 0; i < 16; ++i) firsts.insert(Rng::from_system()());
    EXPECT_EQ(firsts.size(), 16U);
}

TEST(Hash, is_the_same_on_every_machine_and_in_every_version) {
    // Partitions of stored records follow from it: these values must never change.
    static_assert(hash64("acme") == 0x130a76222d4427efU);
    static_assert(hash64("acme") != hash64("acmf"));
    static_assert(hash64("acme") != hash64("acme", 1));
    static_assert(hash64("") == mix(0xcbf29ce484222325U));
}

TEST(Sha256, is_the_one_everybody_knows) {
    const auto hex = [](const Sha256& digest) {
        std::string text;
        for (const std::uint8_t byte : digest) {
            text += "0123456789abcdef"[byte >> 4];
            text += "0123456789abcdef"[byte & 0xf];
        }
        return text;
    };
    EXPECT_EQ(hex(sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace holdfast
