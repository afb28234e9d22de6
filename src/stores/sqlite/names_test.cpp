#include "stores/sqlite/names.h"

#include <gtest/gtest.h>

namespace holdfast::stores::sqlite {
namespace {

TEST(Names, a_text_keeps_its_number_and_is_given_to_the_disk_once) {
    Names names;
    const Names::Number ann = names.number("ann");
    EXPECT_NE(ann, 0);
    EXPECT_EQ(names.number("ann"), ann);
    const Names::Number bob = names.number("bob");
    EXPECT_NE(bob, ann);
    EXPECT_EQ(names.text(ann).view(), "ann");
    EXPECT_EQ(names.find("bob"), bob);
    const auto fresh = names.take_fresh();
    ASSERT_EQ(fresh.size(), 2U);
    EXPECT_EQ(fresh[0].text, "ann");
    EXPECT_EQ(fresh[1].number, bob);
    names.number("ann");
    EXPECT_TRUE(names.take_fresh().empty());
}

TEST(Names, the_empty_text_and_an_unknown_number_are_nothing) {
    Names names;
    EXPECT_EQ(names.number(""), 0U);
    EXPECT_EQ(names.find("nobody"), 0U);
    EXPECT_EQ(names.text(0).view(), "");
    EXPECT_EQ(names.text(4'000'000'000).view(), "");
    EXPECT_TRUE(names.take_fresh().empty());
}

TEST(Names, numbers_go_on_behind_those_that_were_read) {
    Names names;
    names.add(3, "ann");
    names.add(7, "bob");
    EXPECT_TRUE(names.take_fresh().empty()) << "they are on disk already";
    EXPECT_EQ(names.number("bob"), 7U);
    EXPECT_EQ(names.number("eve"), 8U);
    EXPECT_EQ(names.text(3).view(), "ann");
    EXPECT_EQ(names.text(4).view(), "");
}

TEST(Names, views_stay_good_while_many_are_added) {
    Names names;
    for (int i = 0; i < 10'000; ++i) names.number("name " + std::to_string(i));
    for (int i = 0; i < 10'000; ++i)
        ASSERT_EQ(names.text(names.find("name " + std::to_string(i))).view(),
                  "name " + std::to_string(i));
}

TEST(Families, are_told_apart_by_kind_queue_and_type) {
    Families families;
    const auto task = families.number(domain::Kind::task, "a", "bc");
    EXPECT_NE(task, 0U);
    EXPECT_EQ(families.number(domain::Kind::task, "a", "bc"), task);
    EXPECT_NE(families.number(domain::Kind::task, "ab", "c"), task);
    EXPECT_NE(families.number(domain::Kind::plan, "a", "bc"), task);
    EXPECT_EQ(families.row(task).type, "bc");
    EXPECT_EQ(families.take_fresh().size(), 3U);
    EXPECT_TRUE(families.take_fresh().empty());
    EXPECT_EQ(families.row(999).number, 0U);
}

TEST(Families, keep_the_numbers_they_have_on_disk) {
    Families families;
    families.add({2, domain::Kind::task, "a", "b"});
    families.add({5, domain::Kind::task, "c", "d"});
    EXPECT_EQ(families.number(domain::Kind::task, "a", "b"), 2U);
    EXPECT_EQ(families.row(5).queue, "c");
    EXPECT_EQ(families.row(5).number, 5U);
    EXPECT_EQ(families.row(3).number, 0U) << "a row that is not there is none";
    EXPECT_EQ(families.number(domain::Kind::task, "e", "f"), 6U);
    EXPECT_EQ(families.take_fresh().size(), 1U);
}

}  // namespace
}  // namespace holdfast::stores::sqlite
