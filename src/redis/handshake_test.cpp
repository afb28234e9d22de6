#include "redis/handshake.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/reply_parser.h"

namespace holdfast::redis {
namespace {

Reply reply(std::string_view bytes) {
    ReplyParser parser;
    EXPECT_EQ(parser.feed(bytes), ReplyParser::Outcome::reply);
    return parser.take();
}

/// What would be sent, a word after the other.
std::string said(Handshake& handshake) {
    std::string all;
    for (const Command& command : handshake.next()) {
        std::string bytes;
        command.write_to(bytes);
        const Reply words = reply(bytes);
        for (const Value word : words.root()) all.append(word.text()).append(" ");
        all += "; ";
    }
    return all;
}

Result<> answer(Handshake& handshake, const std::vector<std::string_view>& bytes) {
    std::vector<Reply> replies;
    for (const std::string_view one : bytes) replies.push_back(reply(one));
    return handshake.answered(replies);
}

constexpr std::string_view kMaster = "%1\r\n+role\r\n+master\r\n";
constexpr std::string_view kReplica = "%1\r\n+role\r\n+replica\r\n";
constexpr std::string_view kInfo = "=22\r\ntxt:# Server\r\nrun_id:a\r\n\r\n";
constexpr std::string_view kUnknown =
    "-ERR unknown command 'HELLO', with args beginning with: '3'\r\n";
constexpr std::string_view kOk = "+OK\r\n";
constexpr std::string_view kPong = "+PONG\r\n";

TEST(redis_handshake, a_new_server_is_greeted_in_two_steps) {
    Handshake handshake({.user = "mary", .password = "secret", .client_name = "me", .database = 2});
    EXPECT_EQ(said(handshake), "HELLO 3 AUTH mary secret SETNAME me ; ");
    EXPECT_TRUE(answer(handshake, {kMaster}));
    EXPECT_EQ(said(handshake), "PING ; SELECT 2 ; INFO server ; ");
    EXPECT_TRUE(answer(handshake, {kPong, kOk, kInfo}));
    EXPECT_EQ(said(handshake), "");
    EXPECT_EQ(handshake.greeting().protocol, 3);
    EXPECT_EQ(handshake.greeting().run_id, "a");
}

TEST(redis_handshake, an_old_server_is_signed_in_to_in_the_old_way) {
    Handshake handshake({.user = "", .password = "secret", .client_name = "me", .database = 0});
    EXPECT_EQ(said(handshake), "HELLO 3 AUTH default secret SETNAME me ; ");
    EXPECT_TRUE(answer(handshake, {kUnknown}));
    EXPECT_EQ(said(handshake), "AUTH secret ; CLIENT SETNAME me ; ROLE ; ");
    EXPECT_TRUE(answer(handshake, {kOk, kOk, "*1\r\n$6\r\nmaster\r\n"}));
    EXPECT_TRUE(answer(handshake, {kPong, kOk, kInfo}));
    EXPECT_EQ(handshake.greeting().protocol, 2);
}

TEST(redis_handshake, an_old_server_that_refuses_the_password_is_refused) {
    Handshake handshake({.user = "", .password = "secret", .client_name = "me", .database = 0});
    EXPECT_TRUE(answer(handshake, {kUnknown}));
    const auto refused = answer(handshake, {"-WRONGPASS no\r\n", kOk, "-NOAUTH\r\n"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().detail, "signing in: WRONGPASS no");
}

TEST(redis_handshake, a_server_that_is_not_ready_or_takes_no_writes_is_refused) {
    const Introduction nobody{.user = "", .password = "", .client_name = "", .database = 0};
    for (const std::string_view word : {"LOADING", "MASTERDOWN", "NOAUTH"}) {
        Handshake handshake(nobody);
        EXPECT_EQ(said(handshake), "HELLO 3 ; ");
        EXPECT_TRUE(answer(handshake, {kMaster}));
        const auto refused = answer(handshake, {"-" + std::string(word) + " x\r\n", kOk, kInfo});
        ASSERT_FALSE(refused) << word;
        EXPECT_EQ(refused.error().detail, std::string(word) + " x");
    }
    Handshake replica(nobody);
    EXPECT_TRUE(answer(replica, {kReplica}));
    EXPECT_FALSE(answer(replica, {kPong, kOk, kInfo}));
    Introduction any = nobody;
    any.wants_master = any.wants_run_id = false;
    Handshake reading(any);
    EXPECT_TRUE(answer(reading, {kReplica}));
    EXPECT_TRUE(answer(reading, {kPong, kOk}));
}

TEST(redis_handshake, a_user_who_may_ask_little_is_let_in) {
    Handshake handshake({.user = "u", .password = "p", .client_name = "", .database = 0});
    EXPECT_TRUE(answer(handshake, {kMaster}));
    EXPECT_TRUE(answer(handshake, {"-NOPERM ping\r\n", "-NOPERM select\r\n", "-NOPERM info\r\n"}));
    EXPECT_EQ(handshake.greeting().run_id, "");
}

TEST(redis_handshake, a_database_that_cannot_be_chosen_is_named) {
    Handshake handshake({.user = "", .password = "", .client_name = "", .database = 99});
    EXPECT_TRUE(answer(handshake, {kMaster}));
    const auto refused = answer(handshake, {kPong, "-ERR DB index is out of range\r\n", kInfo});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().detail, "choosing database 99: ERR DB index is out of range");
}

TEST(redis_handshake, answers_that_make_no_sense_are_no_crash) {
    Handshake handshake({.user = "", .password = "", .client_name = "", .database = 0});
    EXPECT_TRUE(answer(handshake, {":1\r\n"}));
    EXPECT_TRUE(answer(handshake, {"*0\r\n", "_\r\n", ":5\r\n"}));
}

}  // namespace
}  // namespace holdfast::redis
