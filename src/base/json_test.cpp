#include "base/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast {
namespace {

std::string nested(std::size_t depth, std::string_view open, std::string_view close) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += open;
    text += "1";
    for (std::size_t i = 0; i < depth; ++i) text += close;
    return text;
}

Json parsed(std::string_view text) {
    const auto result = Json::parse(text);
    EXPECT_TRUE(result) << text;
    return result.value_or(Json{});
}

TEST(Json, parsing_keeps_the_exact_text_without_the_blanks_around_it) {
    EXPECT_EQ(parsed(" \t\r\n {\"b\" : 1.50,\n\"a\":[ ]} \n").text(), "{\"b\" : 1.50,\n\"a\":[ ]}");
    EXPECT_EQ(parsed("123456789012345678901234567890").text(), "123456789012345678901234567890");
    EXPECT_EQ(parsed("\"\\u00e9\"").text(), "\"\\u00e9\"");
    EXPECT_EQ(parsed("\"é\"").text(), "\"é\"");
}

TEST(Json, what_is_not_json_is_refused) {
    for (const std::string_view text : {"",
                                        " ",
                                        "{",
                                        "}",
                                        "{\"a\":1,}",
                                        "[1,]",
                                        "{'a':1}",
                                        "{a:1}",
                                        "nul",
                                        "NaN",
                                        "Infinity",
                                        "01",
                                        "+1",
                                        ".5",
                                        "1.",
                                        "\"\t\"",
                                        "\"\\x\"",
                                        "1 2",
                                        "{} {}",
                                        "// c\n1",
                                        "\"\\ud800\"",
                                        "\"\xff\"",
                                        "\"\xc0\xaf\"",
                                        "\"\xed\xa0\x80\"",
                                        "\xef\xbb\xbf{}",
                                        "[1}",
                                        "\"abc"}) {
        const auto result = Json::parse(text);
        ASSERT_FALSE(result) << text;
        EXPECT_EQ(result.error().code, Code::invalid_argument) << text;
    }
}

TEST(Json, numbers_out_of_the_range_of_a_double_are_refused) {
    EXPECT_FALSE(Json::parse("1e400"));
    EXPECT_FALSE(Json::parse("{\"a\":[-1e999]}"));
    EXPECT_TRUE(Json::parse("1e-400"));
    EXPECT_TRUE(Json::parse("1.7976931348623157e308"));
}

TEST(Json, a_duplicate_key_is_refused_however_it_is_written) {
    for (const std::string_view text :
         {R"({"a":1,"a":2})", R"({"a":1,"\u0061":2})", R"([{"x":{"a":1,"b":2,"a":1}}])"}) {
        const auto result = Json::parse(text);
        ASSERT_FALSE(result) << text;
        EXPECT_NE(result.error().detail.find("duplicate"), std::string::npos);
    }
    EXPECT_TRUE(Json::parse(R"({"a":{"a":1},"b":[{"a":1},{"a":1}],"c:d":"x:\":y"})"));
}

TEST(Json, depth_is_limited_to_what_was_said) {
    EXPECT_TRUE(Json::parse(nested(64, "[", "]")));
    const auto deep = Json::parse(nested(65, "[", "]"));
    ASSERT_FALSE(deep);
    EXPECT_NE(deep.error().detail.find("64"), std::string::npos);
    EXPECT_FALSE(Json::parse(nested(65, "{\"a\":", "}")));
    EXPECT_FALSE(Json::parse(nested(500'000, "[", "]")));
    EXPECT_FALSE(Json::parse(nested(3, "[", "]"), {.depth = 2}));
}

TEST(Json, size_and_number_of_keys_are_limited) {
    const std::string big = '"' + std::string(1 << 20, 'x') + '"';
    EXPECT_FALSE(Json::parse(big));
    EXPECT_TRUE(Json::parse(big, {.bytes = 2 << 20}));
    std::string keys = "{";
    for (int i = 0; i < 10'001; ++i) keys += '"' + std::to_string(i) + "\":0,";
    keys.back() = '}';
    const auto many = Json::parse(keys);
    ASSERT_FALSE(many);
    EXPECT_NE(many.error().detail.find("10000 keys"), std::string::npos);
    EXPECT_TRUE(Json::parse(keys, {.keys = 10'001}));
}

TEST(Json, members_keep_their_own_exact_text) {
    const auto members =
        parsed("{ \"a\" : 1.50 , \"b\":[1, {\"x\":\"]}\"}],\"q\\\"\\u0041\":\"\\\\\", \"e\":{ } }")
            .members();
    ASSERT_EQ(members.size(), 4U);
    EXPECT_EQ(members[0].name, "a");
    EXPECT_EQ(members[0].value.text(), "1.50");
    EXPECT_EQ(members[1].value.text(), "[1, {\"x\":\"]}\"}]");
    EXPECT_EQ(members[2].name, "q\"A");
    EXPECT_EQ(members[2].value.text(), "\"\\\\\"");
    EXPECT_EQ(members[3].value.text(), "{ }");
}

TEST(Json, only_an_object_has_members) {
    for (const std::string_view text : {"null", "1", "[{\"a\":1}]", "\"{\"", "{}"}) {
        EXPECT_TRUE(parsed(text).members().empty()) << text;
    }
    Json moved = parsed(R"({"a":1})");
    const Json taken = std::move(moved);
    EXPECT_TRUE(moved.members().empty());  // NOLINT(bugprone-use-after-move): must not crash
    EXPECT_EQ(taken.members().size(), 1U);
}

TEST(Json, a_missing_member_is_null) {
    const Json object = parsed(R"({"id":98765432109876543210987,"n":null})");
    EXPECT_EQ(object.member("id").text(), "98765432109876543210987");
    EXPECT_TRUE(object.member("n").is_null());
    EXPECT_TRUE(object.member("other").is_null());
    EXPECT_TRUE(Json{}.is_null());
}

TEST(Json, quoted_text_reads_back_as_it_was) {
    for (const std::string& text :
         {std::string("plain"), std::string("q\"\\/"), std::string("é 漢 😀"),
          std::string("\0\x1f\x7f\n", 4), std::string()}) {
        const Json quoted = Json::quoted(text);
        ASSERT_TRUE(Json::parse(quoted.text())) << quoted.text();
        EXPECT_EQ(std::string_view(quoted.value().get_string()), text);
    }
}

TEST(Json, quoting_what_is_no_utf8_still_gives_valid_json) {
    const std::string fffd = "\xef\xbf\xbd";
    const std::pair<std::string, std::string> rows[] = {
        {"half an \xc3", "half an " + fffd},              // cut in the middle of a character
        {"\xff\xfe", fffd + fffd},                        // no UTF-8 at all
        {"\xc0\xaf", fffd + fffd},                        // overlong
        {"\xe0\x80\x80", fffd + fffd + fffd},             // overlong in three
        {"\xf0\x80\x80\x80", fffd + fffd + fffd + fffd},  // and in four bytes
        {"\xed\xa0\x80", fffd + fffd + fffd},             // a surrogate
        {"\xf4\x90\x80\x80", fffd + fffd + fffd + fffd},  // beyond U+10FFFF
        {"\xf5", fffd},
        {"\xe6\xbc", fffd + fffd},
        {"\xe6\xbcz", fffd + fffd + "z"},
        {"\xe6z\xa2", fffd + "z" + fffd},
        {"\x80é\xed\x9f\xbf\xf4\x8f\xbf\xbf", fffd + "é\xed\x9f\xbf\xf4\x8f\xbf\xbf"},
    };
    for (const auto& [text, expected] : rows) {
        const auto back = Json::parse(Json::quoted(text).text());
        ASSERT_TRUE(back) << text;
        EXPECT_EQ(std::string_view(back->value().get_string()), expected);
    }
}

TEST(Json, stored_text_that_was_damaged_reads_as_null) {
    EXPECT_EQ(Json::stored("{\"a\":1}").text(), "{\"a\":1}");
    EXPECT_TRUE(Json::stored("{\"a\":").is_null());
    EXPECT_TRUE(Json::stored("").is_null());
    EXPECT_EQ(Json::stored(nested(100, "[", "]")).text(), nested(100, "[", "]"));
}

TEST(Json, a_payload_of_full_depth_can_be_read_inside_our_envelope) {
    const Json body = JsonObject{}.add("payload", parsed(nested(64, "[", "]"))).done();
    EXPECT_EQ(Json::stored(body.text()), body);
    EXPECT_TRUE(body.value().is_object());
}

TEST(Json, an_object_is_written_member_by_member_with_values_as_they_are) {
    const Json object = JsonObject{}
                            .add("n", std::int64_t{-5})
                            .add("t", "a\"b")
                            .add_some("empty", "")
                            .add_some("some", "x")
                            .add("exact", parsed("1.50"))
                            .done();
    EXPECT_EQ(object.text(), R"({"n":-5,"t":"a\"b","some":"x","exact":1.50})");
    EXPECT_EQ(JsonObject{}.done().text(), "{}");
    EXPECT_EQ(Json::of(boost::json::array{1, "x", nullptr}).text(), R"([1,"x",null])");
}

TEST(Json, numbers_are_written_as_a_person_would) {
    EXPECT_EQ(Json::number(0.2).text(), "0.2");
    EXPECT_EQ(Json::number(0.3F).text(), "0.3");
    EXPECT_EQ(Json::number(2.0).text(), "2");
    EXPECT_EQ(Json::number(-1.5F).text(), "-1.5");
    for (const double number : {1e300, 5e-324, -1e-7, 0.1 + 0.2})
        EXPECT_EQ(Json::parse(Json::number(number).text())->value().to_number<double>(), number);
    EXPECT_TRUE(Json::number(std::numeric_limits<double>::infinity()).is_null());
    EXPECT_TRUE(Json::number(std::numeric_limits<float>::quiet_NaN()).is_null());
}

TEST(Json, canonical_text_does_not_depend_on_order_blanks_or_escapes) {
    const std::string expected = R"({"":[],"A":"é","a b":1,"a":[1,{"x":null,"y":true}],"z":{}})";
    EXPECT_EQ(
        canonical(parsed(
            R"( {"z" : { } , "a":[ 1 , {"y":true,"x":null} ] ,"\u0041":"\u00e9","a b":1,"":[ ]} )")),
        R"({"":[],"A":"é","a":[1,{"x":null,"y":true}],"a b":1,"z":{}})");
    EXPECT_EQ(canonical(parsed(expected)),
              R"({"":[],"A":"é","a":[1,{"x":null,"y":true}],"a b":1,"z":{}})");
    EXPECT_EQ(canonical(parsed("\"\\/\"")), canonical(parsed("\"/\"")));
    EXPECT_EQ(canonical(parsed("[1.50]")), "[1.5]");
    EXPECT_EQ(canonical(parsed("[ 15e-1 ]")), "[1.5]");
    EXPECT_EQ(canonical(parsed("[0, -0, 0.0, -0.0, 0e5]")), "[0,0,0,0,0]");
    EXPECT_EQ(canonical(parsed("21.988434631145374")), "21.988434631145374");
    EXPECT_EQ(canonical(parsed("1e-400")), "1e-400") << "too small for a machine word";
}

TEST(Json, canonical_text_tells_long_integers_apart) {
    EXPECT_EQ(canonical(parsed("[100000000000000000000001]")), "[100000000000000000000001]");
    EXPECT_NE(canonical(parsed("100000000000000000000001")),
              canonical(parsed("100000000000000000000002")));
    EXPECT_EQ(canonical(parsed("18446744073709551615")), "18446744073709551615");
    EXPECT_EQ(canonical(parsed("-9223372036854775808")), "-9223372036854775808");
}

TEST(Json, canonical_text_is_its_own_canonical_text) {
    for (const std::string_view text :
         {R"({"b":[1,2.5,"x"],"a":{"d":null,"c":false}})", "[[],[[]],{}]", "\"\\n\"", "1e300"}) {
        const std::string once = canonical(parsed(text));
        EXPECT_EQ(canonical(parsed(once)), once);
    }
}

}  // namespace
TEST(Json, the_elements_of_an_array_keep_their_own_text) {
    const Json array = Json::parse(R"( [ 1.50 , {"a": [2, "]"]} ,"x,]" , [] ] )").value();
    std::vector<std::string> texts;
    for (const Json& element : array.elements()) texts.push_back(element.text());
    EXPECT_EQ(texts, (std::vector<std::string>{"1.50", R"({"a": [2, "]"]})", R"("x,]")", "[]"}));
    EXPECT_TRUE(Json::parse("[]").value().elements().empty());
    EXPECT_TRUE(Json::parse("{}").value().elements().empty());
    EXPECT_EQ(array.keys(), 1U);
}

}  // namespace holdfast
