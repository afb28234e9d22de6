#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "redis/command.h"
#include "redis/reply_parser.h"

namespace holdfast::redis {
namespace {

std::string shown(Value value) {
    switch (value.kind()) {
        case Reply::Kind::null:
            return "null";
        case Reply::Kind::integer:
            return std::to_string(value.integer());
        case Reply::Kind::real:
            return "r" + std::to_string(value.real());
        case Reply::Kind::truth:
            return value.integer() == 1 ? "yes" : "no";
        case Reply::Kind::text:
            return "'" + std::string(value.text()) + "'";
        case Reply::Kind::error:
            return "!" + std::string(value.text());
        case Reply::Kind::array: {
            std::string all = "[";
            for (const Value inner : value) all += shown(inner) + " ";
            return all + "]" + std::to_string(value.size());
        }
    }
    return "?";
}

/// Every reply in `bytes`, fed in two pieces; pushes are marked, and so is what is broken or not whole.
std::string read(std::string_view bytes, std::size_t split, ReplyLimits limits = {}) {
    ReplyParser parser(limits);
    std::string all;
    ReplyParser::Outcome last = ReplyParser::Outcome::reply;
    for (std::string_view piece : {bytes.substr(0, split), bytes.substr(split)}) {
        while (!piece.empty()) {
            last = parser.feed(piece);
            if (last == ReplyParser::Outcome::more) break;
            if (last == ReplyParser::Outcome::broken)
                return all + "broken: " + std::string(parser.fault());
            all += last == ReplyParser::Outcome::push ? ">" : "";
            const Reply reply = parser.take();
            all += shown(reply.root()) + ";";
        }
    }
    return all + (last == ReplyParser::Outcome::more ? "more" : "");
}

/// The same wherever the bytes are torn apart.
void expect_read(std::string_view bytes, std::string_view expected, ReplyLimits limits = {}) {
    for (std::size_t split = 0; split <= bytes.size(); ++split)
        EXPECT_EQ(read(bytes, split, limits), expected) << bytes << " torn at " << split;
}

TEST(redis_reply, every_kind_of_resp2_is_read_the_same_torn_anywhere) {
    expect_read("+OK\r\n", "'OK';");
    expect_read("-ERR no\r\n", "!ERR no;");
    expect_read(":-42\r\n", "-42;");
    expect_read("$5\r\nhe\r\no\r\n", "'he\r\no';");
    expect_read("$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n", "'';null;null;[]0;");
    expect_read("*3\r\n*2\r\n:1\r\n:2\r\n*0\r\n$1\r\nx\r\n:7\r\n", "[[1 2 ]2 []0 'x' ]3;7;");
}

TEST(redis_reply, every_kind_of_resp3_is_read_the_same_torn_anywhere) {
    expect_read("_\r\n#t\r\n#f\r\n,1.5\r\n,-inf\r\n", "null;yes;no;r1.500000;r-inf;");
    expect_read("(3492890328409238509324850943850943825024385\r\n",
                "'3492890328409238509324850943850943825024385';");
    expect_read("!5\r\nERR x\r\n=7\r\ntxt:abc\r\n=4\r\nmkd:\r\n", "!ERR x;'abc';'';");
    expect_read("%2\r\n+a\r\n:1\r\n+b\r\n%0\r\n~2\r\n:1\r\n:2\r\n", "['a' 1 'b' []0 ]4;[1 2 ]2;");
    expect_read(">2\r\n+message\r\n+hi\r\n:1\r\n", ">['message' 'hi' ]2;1;");
}

TEST(redis_reply, an_attribute_leaves_no_trace) {
    expect_read("|1\r\n+ttl\r\n*2\r\n:1\r\n$3\r\nabc\r\n*2\r\n+a\r\n|0\r\n+b\r\n", "['a' 'b' ]2;");
}

TEST(redis_reply, what_is_not_whole_waits) {
    expect_read("*2\r\n:1\r\n", "more");
    expect_read("$3\r\nab", "more");
    expect_read(":12", "more");
}

TEST(redis_reply, a_broken_protocol_is_said_so_and_never_guessed_at) {
    for (const std::string_view bytes :
         {"hello\r\n", "\r\n", "\n", "+OK\n", ":1x\r\n", ":\r\n", ",one\r\n", "#x\r\n", "_x\r\n",
          "$-2\r\n", "$x\r\n", "$1\r\nab\r\n", "*-2\r\n", "%-1\r\n", "=3\r\nabc\r\n", "*?\r\n",
          "*1\r\n>1\r\n:1\r\n", ":99999999999999999999\r\n"}) {
        for (std::size_t split = 0; split <= bytes.size(); ++split)
            EXPECT_TRUE(read(bytes, split).starts_with("broken: ")) << bytes;
    }
}

TEST(redis_reply, a_reply_beyond_the_limits_is_refused_before_memory_is_taken_for_it) {
    const ReplyLimits limits{.depth = 3, .values = 8, .bytes = 16, .line = 10};
    expect_read("*1\r\n*1\r\n*1\r\n:1\r\n", "[[[1 ]1 ]1 ]1;", limits);
    expect_read("*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "broken: the reply is too deep", limits);
    expect_read("*9\r\n", "broken: the reply has too many values", limits);
    expect_read("%4\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n",
                "broken: the reply has too many values", limits);
    expect_read("$17\r\n", "broken: the reply is too large", limits);
    expect_read("*2\r\n$9\r\n123456789\r\n$8\r\n", "broken: the reply is too large", limits);
    expect_read("+123456789\r\n", "'123456789';", limits);
    expect_read("+12345678901234\r\n", "broken: a line is too long", limits);
}

TEST(redis_reply, a_huge_count_costs_nothing_until_its_values_come) {
    expect_read("*4000000\r\n:1\r\n", "more");
    expect_read("*9000000000000000000\r\n", "broken: the reply has too many values");
    expect_read("$9000000000000000000\r\n", "broken: the reply is too large");
}

TEST(redis_reply, a_value_of_another_kind_is_zero_or_empty) {
    ReplyParser parser;
    std::string_view bytes = "*4\r\n$2\r\n17\r\n+1.5\r\n:3\r\n_\r\n";
    ASSERT_EQ(parser.feed(bytes), ReplyParser::Outcome::reply);
    const Reply reply = parser.take();
    const Value root = reply.root();
    EXPECT_EQ(root[0].integer(), 17);
    EXPECT_EQ(root[1].integer(), 0);
    EXPECT_EQ(root[1].real(), 1.5);
    EXPECT_EQ(root[2].real(), 3.0);
    EXPECT_EQ(root[2].text(), "");
    EXPECT_EQ(root[2].size(), 0U);
    EXPECT_EQ(root[2].begin(), root[2].end());
    EXPECT_TRUE(root[3].is_null());
    EXPECT_TRUE(root[4].is_null()) << "beyond the end there is nothing";
    EXPECT_TRUE(root[4][1].is_null());
    EXPECT_TRUE(Reply{}.root().is_null());
    EXPECT_EQ(root.integer(), 0);
}

TEST(redis_reply, a_moved_reply_is_still_whole) {
    ReplyParser parser;
    std::string_view bytes = "*2\r\n$20\r\nlonger than a string\r\n:1\r\n";
    ASSERT_EQ(parser.feed(bytes), ReplyParser::Outcome::reply);
    std::vector<Reply> kept;
    kept.push_back(parser.take());
    kept.emplace_back();
    kept.reserve(100);
    EXPECT_EQ(kept.front().root()[0].text(), "longer than a string");
}

std::string written(const Command& command) {
    std::string out;
    command.write_to(out);
    EXPECT_LE(out.size(), command.most_bytes());
    return out;
}

TEST(redis_command, words_are_written_as_they_are) {
    const std::string key = "k\r\n";
    EXPECT_EQ(written(Command("SET", key, "")), "*3\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$0\r\n\r\n");
    Command command("ZADD", "z", -17);
    command.add(std::uint64_t{18446744073709551615U}).add("m");
    EXPECT_EQ(
        written(command),
        "*5\r\n$4\r\nZADD\r\n$1\r\nz\r\n$3\r\n-17\r\n$20\r\n18446744073709551615\r\n$1\r\nm\r\n");
    EXPECT_EQ(command.words(), 5U);
}

TEST(redis_command, another_head_leaves_the_rest) {
    const Command command("EVALSHA", "0123456789abcdef", 1, "key", "");
    EXPECT_EQ(written(command.with_head("EVAL", "return 1")),
              written(Command("EVAL", "return 1", 1, "key", "")));
    EXPECT_EQ(written(Command("A", "b").with_head("C", "")), written(Command("C", "")));
}

}  // namespace
}  // namespace holdfast::redis
