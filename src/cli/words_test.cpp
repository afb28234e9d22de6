#include "cli/words.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/table.h"

namespace holdfast::cli {
namespace {

TEST(Words, text_of_others_cannot_steer_the_terminal) {
    EXPECT_EQ(printable("plain ünï 漢"), "plain ünï 漢");
    EXPECT_EQ(printable("a\x1b[31mb\x07"), "a\\x1b[31mb\\x07");
    EXPECT_EQ(printable("two\nlines\tand a tab"), "two lines and a tab");
    EXPECT_EQ(printable("\xff"), "\\xff");
    EXPECT_EQ(printable("\xe2\x80\xae"), "\\x2e") << "text that turns the direction round";
}

TEST(Words, wide_characters_count_twice_and_marks_not_at_all) {
    EXPECT_EQ(display_width("abc"), 3U);
    EXPECT_EQ(display_width("漢字"), 4U);
    EXPECT_EQ(display_width("e\xcc\x81"), 1U);
}

TEST(Words, a_typo_finds_what_was_meant_and_nonsense_finds_nothing) {
    const std::vector<std::string> known{"submit", "suspended", "resume", "list"};
    EXPECT_EQ(nearest("sumbit", known), "submit");
    EXPECT_EQ(nearest("resum", known), "resume");
    EXPECT_EQ(nearest("susp", known), "suspended");
    EXPECT_EQ(nearest("xyzzy", known), "");
}

struct TableTest : ::testing::Test {
    std::istringstream in;
    std::ostringstream out, err;
    Io io{.in = in, .out = out, .err = err, .environment = [](const char*) { return nullptr; }};
    Table table{{{.name = "ID", .worth = 9},
                 {.name = "N", .worth = 1, .right = true},
                 {.name = "TEXT", .worth = 5, .cut = true}}};
};

TEST_F(TableTest, without_a_terminal_it_is_tab_separated_and_has_no_head) {
    table.add({"a", "1", "x\ty"});
    table.print(io);
    EXPECT_EQ(out.str(), "a\t1\tx y\n");
}

TEST_F(TableTest, on_a_terminal_columns_are_aligned) {
    table.add({"long-id", "1", "x"});
    table.add({"漢", "12", "y"});
    EXPECT_EQ(table.lines(80),
              (std::vector<std::string>{"ID        N  TEXT", "long-id   1  x", "漢       12  y"}));
}

TEST_F(TableTest, what_does_not_fit_is_dropped_by_worth_and_ids_are_never_cut) {
    table.add({"0193a1b2-aaaa-7000-8000-000000000001", "12345", "a long message that is cut"});
    const auto lines = table.lines(52);
    EXPECT_EQ(lines[1], "0193a1b2-aaaa-7000-8000-000000000001  a long messag…");
    EXPECT_EQ(table.lines(10)[1], "0193a1b2-aaaa-7000-8000-000000000001");
}

TEST_F(TableTest, an_empty_table_prints_nothing) {
    table.print(io);
    io.out_is_terminal = true;
    table.print(io);
    EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace holdfast::cli
