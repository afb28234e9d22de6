#include "base/nearest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace holdfast {
namespace {

TEST(EditDistance, counts_what_must_be_changed) {
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("listen", "listen"), 0U);
    EXPECT_EQ(edit_distance("lisen", "listen"), 1U);
    EXPECT_EQ(edit_distance("litsen", "listen"), 1U) << "neighbours swapped";
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
    EXPECT_EQ(edit_distance("sitting", "kitten"), 3U);
}

TEST(Nearest, is_what_was_meant_or_nothing) {
    constexpr std::array<std::string_view, 4> kWords{"listen", "drain", "store", "submit"};
    EXPECT_EQ(nearest("lisen", kWords), "listen");
    EXPECT_EQ(nearest("dran", kWords), "drain");
    EXPECT_EQ(nearest("sumbit", kWords), "submit");
    EXPECT_EQ(nearest("colour", kWords), std::nullopt);
    EXPECT_EQ(nearest("", kWords), std::nullopt);
    EXPECT_EQ(nearest(std::string(100'000, 'x'), kWords), std::nullopt);
    EXPECT_EQ(nearest("listen", {}), std::nullopt);
}

}  // namespace
}  // namespace holdfast
