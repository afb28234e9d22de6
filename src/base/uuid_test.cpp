#include "base/uuid.h"

#include <gtest/gtest.h>

#include <set>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

const Time kNow{std::chrono::milliseconds{1'794'785'831'042}};
constexpr Partition kHome{0xabc};

TEST(Uuid, a_minted_id_has_the_layout_of_a_uuid_v7_with_its_partition) {
    UuidMint mint{Rng(1)};
    for (std::uint16_t p = 0; p < kPartitions; ++p) {
        const Uuid id = mint.mint(Partition{p}, kNow);
        ASSERT_EQ((id.high >> 12) & 0xf, 7U);
        ASSERT_EQ(id.low >> 62, 0b10U);
        ASSERT_EQ(id.partition(), Partition{p});
        ASSERT_EQ(id.minted_at(), kNow);
    }
}

TEST(Uuid, ids_of_one_partition_grow_within_a_millisecond_and_when_the_clock_steps_back) {
    UuidMint mint{Rng(2)};
    Rng rng(3);
    Uuid last;
    Time now = kNow;
    for (int i = 0; i < 20'000; ++i) {
        if (rng.chance(0.1)) now += 1ms;
        if (rng.chance(0.01)) now -= 3s;
        const Uuid id = mint.mint(kHome, now);
        ASSERT_LT(last, id) << i;
        last = id;
    }
}

TEST(Uuid, ids_of_one_millisecond_cannot_be_guessed_by_counting) {
    UuidMint mint{Rng(4)};
    const Uuid first = mint.mint(kHome, kNow);
    std::set<std::uint64_t> gaps;
    Uuid last = first;
    for (int i = 0; i < 100; ++i) {
        const Uuid id = mint.mint(kHome, kNow);
        gaps.insert(id.low - last.low);
        last = id;
    }
    EXPECT_GT(gaps.size(), 90U);
}

TEST(Uuid, text_and_back_is_the_same_id) {
    Rng rng(5);
    for (int i = 0; i < 1000; ++i) {
        const Uuid id{rng(), rng()};
        ASSERT_EQ(id.text().size(), 36U);
        const auto back = Uuid::parse(id.text());
        ASSERT_TRUE(back);
        ASSERT_EQ(*back, id);
    }
    const Uuid id{0x0123456789abcdef, 0xfedcba9876543210};
    EXPECT_EQ(id.text(), "01234567-89ab-cdef-fedc-ba9876543210");
    EXPECT_EQ(Uuid::parse("01234567-89AB-CDEF-FEDC-BA9876543210"), id);
}

TEST(Uuid, what_is_no_uuid_is_refused) {
    for (const std::string_view text :
         {"", "0193", "01234567-89ab-cdef-fedc-ba987654321",
          "01234567-89ab-cdef-fedc-ba98765432100", "01234567089ab-cdef-fedc-ba9876543210",
          "g1234567-89ab-cdef-fedc-ba9876543210", "01234567-89ab-cdef-fedc-ba987654321 ",
          "0123456789abcdeffedcba9876543210----", "{1234567-89ab-cdef-fedc-ba987654321}",
          "01234567-89ab-cdef-fedc-ba9876543-10", "01234567-89ab-cdef-fedc-ba987654321`",
          "01234567-89ab-cdef-fedc-ba987654321G"}) {
        const auto parsed = Uuid::parse(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, Code::invalid_argument);
    }
}

TEST(Uuid, a_named_id_is_the_same_everywhere_and_keeps_its_partition) {
    const Uuid id = Uuid::named(kHome, "queue/default");
    EXPECT_EQ(id, Uuid::named(kHome, "queue/default"));
    EXPECT_NE(id, Uuid::named(kHome, "queue/other"));
    EXPECT_NE(id, Uuid::named(Partition{1}, "queue/default"));
    EXPECT_EQ(id.partition(), kHome);
    EXPECT_EQ((id.high >> 12) & 0xf, 8U);
    EXPECT_EQ(id.low >> 62, 0b10U);
    // Stored by the million: this must never change.
    EXPECT_EQ(id.text(), "a92a11ac-7501-8abc-828a-071617897c2a");
}

TEST(Uuid, a_derived_id_lives_where_and_when_its_parent_does) {
    UuidMint mint{Rng(6)};
    const Uuid parent = mint.mint(kHome, kNow);
    const Uuid child = Uuid::derived(parent, "child/7");
    EXPECT_EQ(child, Uuid::derived(parent, "child/7"));
    EXPECT_NE(child, Uuid::derived(parent, "child/8"));
    EXPECT_NE(child, Uuid::derived(mint.mint(kHome, kNow), "child/7"));
    EXPECT_EQ(child.partition(), kHome);
    EXPECT_EQ(child.minted_at(), parent.minted_at());
    EXPECT_EQ((child.high >> 12) & 0xf, 8U);
}

TEST(Uuid, only_the_empty_id_is_nil) {
    EXPECT_TRUE(Uuid{}.is_nil());
    EXPECT_FALSE((Uuid{1, 0}.is_nil()));
    EXPECT_FALSE((Uuid{0, 1}.is_nil()));
}

TEST(Uuid, names_spread_over_all_partitions_and_stay_where_they_are) {
    std::set<Partition> seen;
    for (int i = 0; i < 100'000; ++i) seen.insert(partition_of("tenant-" + std::to_string(i)));
    EXPECT_EQ(seen.size(), kPartitions);
    EXPECT_EQ(partition_of("acme"), Partition{2031});
}

TEST(Uuid, random_partitions_are_in_range) {
    UuidMint mint{Rng(8)};
    std::set<Partition> seen;
    for (int i = 0; i < 1000; ++i) seen.insert(mint.random_partition());
    EXPECT_LT(*seen.rbegin(), Partition{kPartitions});
    EXPECT_GT(seen.size(), 500U);
}

TEST(Uuid, hashes_of_neighbours_differ) {
    UuidMint mint{Rng(9)};
    std::set<std::size_t> hashes;
    for (int i = 0; i < 10'000; ++i) hashes.insert(UuidHash{}(mint.mint(kHome, kNow)));
    EXPECT_EQ(hashes.size(), 10'000U);
}

}  // namespace
}  // namespace holdfast
