#include "domain/redact.h"

#include <gtest/gtest.h>

namespace holdfast::domain {
namespace {

const Redaction kUsual({"api_key", "token", "password", "authorization", "cookie"});

std::string shown(std::string_view text) {
    bool hid = false;
    return kUsual.apply(Json::parse(text).value(), hid).text();
}

TEST(Redaction, a_key_is_known_however_it_is_written) {
    for (const std::string_view key :
         {"api_key", "apiKey", "API-KEY", "ApiKey", "apikey", "openai_api_key", "X-Api-Key",
          "access_token", "accessToken", "userPassword", "Authorization", "Set-Cookie",
          "auth.token", "Api Key"})
        EXPECT_TRUE(kUsual.hides(key)) << key;
}

TEST(Redaction, a_capital_begins_a_word_behind_a_digit_and_a_sign_as_well) {
    EXPECT_TRUE(kUsual.hides("oauth2Token"));
    EXPECT_TRUE(kUsual.hides("$Token"));
    EXPECT_FALSE(kUsual.hides("NOTOKEN")) << "a capital behind a capital begins none";
}

TEST(Redaction, what_only_resembles_a_key_is_shown) {
    for (const std::string_view key : {"api_keys", "max_tokens", "token_count", "passwords_tried",
                                       "authorized", "key", "monkey", "", "-"})
        EXPECT_FALSE(kUsual.hides(key)) << key;
}

TEST(Redaction, values_are_hidden_at_any_depth_and_whatever_they_are) {
    EXPECT_EQ(shown(R"({"a":[{"token":"x","n":1}],"password":{"old":"y"}})"),
              R"({"a":[{"token":"[redacted]","n":1}],"password":"[redacted]"})");
    EXPECT_EQ(shown(R"({"token":null})"), R"({"token":null})");
    EXPECT_EQ(shown(R"({"token":7})"), R"({"token":"[redacted]"})");
}

TEST(Redaction, what_hides_nothing_stays_as_it_was_to_the_letter) {
    for (const std::string_view text :
         {R"({"n":123456789012345678901234567890,"list":[1, 2]})", "null", "\"token\"", "[]", "{}"})
        EXPECT_EQ(shown(text), Json::parse(text)->text());
}

TEST(Redaction, large_numbers_and_odd_names_beside_a_secret_keep_their_text) {
    EXPECT_EQ(shown(R"({"n":123456789012345678901234567890,"a\"b":1,"token":"x"})"),
              R"({"n":123456789012345678901234567890,"a\"b":1,"token":"[redacted]"})");
}

TEST(Redaction, of_a_task_only_what_people_brought_is_looked_at) {
    const auto task = Json::parse(
        R"({"id":"1","labels":{"token":"kept"},"payload":{"token":"x"},"result":null})");
    EXPECT_EQ(
        kUsual.apply_to_task(*task).text(),
        R"({"id":"1","labels":{"token":"kept"},"payload":{"token":"[redacted]"},"result":null,"redacted":true})");
    const auto plain = Json::parse(R"({"id":"1","payload":{"size":3}})");
    EXPECT_EQ(kUsual.apply_to_task(*plain), *plain);
}

TEST(Redaction, without_keys_nothing_is_hidden) {
    EXPECT_FALSE(Redaction{}.hides("password"));
}

TEST(Redaction, a_key_without_a_letter_hides_nothing) {
    const Redaction blank({"", "-_"});
    for (const std::string_view key : {"", "-", "_a", "password"})
        EXPECT_FALSE(blank.hides(key)) << key;
}

}  // namespace
}  // namespace holdfast::domain
