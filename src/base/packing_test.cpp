#include "base/packing.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/bytes.h"
#include "base/rng.h"

namespace holdfast {
namespace {

TEST(Packing, numbers_and_texts_come_back_in_order) {
    std::string packed;
    Packer(packed).number(0).number(127).number(128).text("").text("hold\0fast").number(UINT64_MAX);
    Unpacker in(packed);
    EXPECT_EQ(in.number(), 0U);
    EXPECT_EQ(in.number(), 127U);
    EXPECT_EQ(in.number(), 128U);
    EXPECT_EQ(in.text(), "");
    EXPECT_EQ(in.text(), "hold\0fast");
    EXPECT_FALSE(in.done());
    EXPECT_EQ(in.number(), UINT64_MAX);
    EXPECT_TRUE(in.done());
    EXPECT_TRUE(in.ok());
}

TEST(Packing, random_rows_come_back) {
    Rng rng(1);
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t number = rng() >> rng.below(64);
        std::string text(rng.below(300), '\0');
        for (char& c : text) c = static_cast<char>(rng());
        std::string packed;
        Packer(packed).number(number).text(text);
        Unpacker in(packed);
        ASSERT_EQ(in.number(), number);
        ASSERT_EQ(in.text(), text);
        ASSERT_TRUE(in.done() && in.ok());
    }
}

TEST(Packing, small_numbers_take_one_byte) {
    std::string packed;
    Packer(packed).number(127);
    EXPECT_EQ(packed.size(), 1U);
    Packer(packed).number(128);
    EXPECT_EQ(packed.size(), 3U);
}

TEST(Packing, after_damage_nothing_but_zeros_and_empty_texts_is_read) {
    std::string packed;
    Packer(packed).number(1000);  // a length that the rest does not have
    packed += "\x05\x05\x05";
    Unpacker in(packed);
    EXPECT_EQ(in.text(), "");
    EXPECT_FALSE(in.ok());
    EXPECT_TRUE(in.done());
    EXPECT_EQ(in.number(), 0U);
    EXPECT_EQ(in.text(), "");
    EXPECT_FALSE(in.ok());
}

TEST(Packing, a_cut_or_endless_number_is_damage) {
    for (const std::string& bytes :
         {std::string(1, '\x80'), std::string(20, '\xff'), std::string()}) {
        Unpacker in(bytes);
        EXPECT_EQ(in.number(), 0U);
        EXPECT_FALSE(in.ok());
        EXPECT_EQ(in.number(), 0U);
    }
}

TEST(Bytes, empty_ones_hold_nothing_and_equality_is_by_content) {
    EXPECT_TRUE(Bytes().empty());
    EXPECT_TRUE(Bytes("").empty());
    EXPECT_EQ(Bytes(""), Bytes());
    const Bytes a("body");
    Bytes b("body");
    EXPECT_EQ(a, b);
    EXPECT_EQ(a.size(), 4U);
    EXPECT_FALSE(a.empty());
    b = Bytes("other");
    EXPECT_NE(a, b);
}

TEST(Bytes, copies_share_one_text_that_outlives_the_first_holder) {
    Bytes first(std::string(1000, 'x'));
    Bytes second = first;
    EXPECT_EQ(first.view().data(), second.view().data());
    const Bytes third = std::move(first);
    EXPECT_EQ(third.view().data(), second.view().data());
    second = Bytes();
    EXPECT_EQ(third.view(), std::string(1000, 'x'));
}

TEST(Text, copies_share_their_letters_and_compare_by_them) {
    const Text a = std::string("a policy that a million tasks carry");
    const Text b = a;
    EXPECT_EQ(a.view().data(), b.view().data());
    EXPECT_EQ(a, Text("a policy that a million tasks carry"));
    EXPECT_NE(a, Text(std::string_view("another")));
    EXPECT_TRUE(Text().empty());
    EXPECT_EQ(Text(), Text(""));
    EXPECT_EQ(std::string("<") + b, "<a policy that a million tasks carry");
}

}  // namespace
}  // namespace holdfast
