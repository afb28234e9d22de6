#include "stores/memory/interner.h"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::stores::memory {
namespace {

TEST(Interner, the_same_text_has_the_same_number_and_the_empty_text_has_none) {
    Interner names;
    const auto a = names.hold("a"), b = names.hold("b");
    EXPECT_NE(a, b);
    EXPECT_NE(a, 0U);
    EXPECT_EQ(names.hold("a"), a);
    EXPECT_EQ(names.hold_again(a), a);
    EXPECT_EQ(names.text(a).view(), "a");
    EXPECT_EQ(names.find("b"), b);
    EXPECT_EQ(names.find("c"), 0U);
    EXPECT_EQ(names.hold(""), 0U);
    EXPECT_EQ(names.hold_again(0), 0U);
    EXPECT_EQ(names.text(0).view(), "");
    names.release(0);
}

TEST(Interner, a_text_lives_as_long_as_somebody_holds_it) {
    Interner names;
    const auto a = names.hold("a");
    names.hold("a");
    names.hold_again(a);
    names.release(a);
    names.release(a);
    EXPECT_EQ(names.find("a"), a) << "two of three holders left";
    names.release(a);
    EXPECT_EQ(names.find("a"), 0U);
}

TEST(Interner, a_number_that_nobody_holds_is_given_to_the_next_text) {
    Interner names;
    const auto a = names.hold("a"), b = names.hold("b");
    names.release(a);
    const auto c = names.hold("c");
    EXPECT_EQ(c, a);
    EXPECT_EQ(names.text(c).view(), "c");
    EXPECT_EQ(names.text(b).view(), "b");
    EXPECT_EQ(names.find("a"), 0U);
}

TEST(Interner, texts_stay_in_their_place_while_many_come_and_go) {
    Interner names;
    const auto kept = names.hold("kept, and longer than any small string would be");
    std::vector<Interner::Number> numbers;
    for (int i = 0; i < 10'000; ++i) numbers.push_back(names.hold("text " + std::to_string(i)));
    for (std::size_t i = 0; i < numbers.size(); i += 2) names.release(numbers[i]);
    for (int i = 0; i < 5'000; ++i) numbers.push_back(names.hold("more " + std::to_string(i)));
    EXPECT_EQ(*std::ranges::max_element(numbers), 10'001U) << "numbers are used again";
    EXPECT_EQ(names.find("kept, and longer than any small string would be"), kept);
    for (std::size_t i = 1; i < 10'000; i += 2)
        ASSERT_EQ(names.text(numbers[i]).view(), "text " + std::to_string(i));
}

}  // namespace
}  // namespace holdfast::stores::memory
