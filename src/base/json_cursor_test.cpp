#include "base/json_cursor.h"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast {
namespace {

Json json(std::string_view text) {
    return Json::parse(text).value();
}

TEST(JsonCursor, walks_members_in_order_and_gives_each_value_its_own_letters) {
    const Json object = json(
        "{ \"a\" : 1.50 , \"b\":{\"x\":[1, 2],\"y\":\"}\\\"]\"} ,\n\"c\":[ "
        "],\"d\":\"\\\\\",\"e\":true}");
    JsonCursor cursor(object);
    ASSERT_TRUE(cursor.is_object());
    cursor.enter();
    std::vector<std::string> seen;
    while (const auto name = cursor.next_member()) {
        seen.emplace_back(*name);
        seen.emplace_back(cursor.take_text());
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"a", "1.50", "b", R"({"x":[1, 2],"y":"}\"]"})", "c",
                                              "[ ]", "d", R"("\\")", "e", "true"}));
}

TEST(JsonCursor, goes_into_arrays_and_out_of_them_again) {
    const Json object = json(R"({"empty":[],"items":[ {} , {"n":-7},{"n":8} ],"last":9})");
    JsonCursor cursor(object);
    cursor.enter();
    std::int64_t sum = 0;
    std::size_t items = 0;
    while (const auto name = cursor.next_member()) {
        if (*name == "last") {
            sum += 100 * cursor.take_integer().value();
            continue;
        }
        ASSERT_TRUE(cursor.is_array());
        cursor.enter();
        while (cursor.next_item()) {
            ++items;
            cursor.enter();
            while (cursor.next_member()) sum += cursor.take_integer().value();
        }
    }
    EXPECT_EQ(items, 3U);
    EXPECT_EQ(sum, 901);
}

TEST(JsonCursor, names_and_strings_are_unescaped) {
    const Json object = json(R"({"\u0069d":"a\n\"b\u00e9"})");
    JsonCursor cursor(object);
    cursor.enter();
    EXPECT_EQ(cursor.next_member(), "id");
    EXPECT_EQ(cursor.take_string(), "a\n\"b\xc3\xa9");
    EXPECT_EQ(cursor.next_member(), std::nullopt);
}

TEST(JsonCursor, an_integer_is_whole_and_fits) {
    const Json numbers = json("[12,-3,1.0,1e3,9223372036854775807,9223372036854775808]");
    JsonCursor cursor(numbers);
    cursor.enter();
    std::vector<std::optional<std::int64_t>> read;
    while (cursor.next_item()) read.push_back(cursor.take_integer());
    EXPECT_EQ(read, (std::vector<std::optional<std::int64_t>>{12, -3, std::nullopt, std::nullopt,
                                                              INT64_MAX, std::nullopt}));
}

TEST(JsonCursor, knows_what_it_stands_before) {
    const Json values = json(R"([null,true,0.5,"x",{},[]])");
    JsonCursor cursor(values);
    cursor.enter();
    std::string kinds;
    while (cursor.next_item()) {
        kinds += cursor.is_null()     ? 'n'
                 : cursor.is_bool()   ? 'b'
                 : cursor.is_number() ? '0'
                 : cursor.is_string() ? 's'
                 : cursor.is_object() ? 'o'
                 : cursor.is_array()  ? 'a'
                                      : '?';
        cursor.skip();
    }
    EXPECT_EQ(kinds, "nb0soa");
}

TEST(JsonCursor, what_is_taken_is_json_again) {
    const Json object = json(R"({"result":{"n":1e5, "t":"x"}})");
    JsonCursor cursor(object);
    cursor.enter();
    cursor.next_member();
    EXPECT_EQ(cursor.take(), json(R"({"n":1e5, "t":"x"})"));
}

}  // namespace
}  // namespace holdfast
