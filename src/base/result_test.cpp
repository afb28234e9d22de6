#include "base/result.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

Result<int> half(int n) {
    if (n % 2 != 0) return invalid("n", "is odd");
    return n / 2;
}

Result<int> quarter(int n) {
    TRY(const int once, half(n));
    TRY(const int twice, half(once));
    return twice;
}

Result<> check_quarter(int n) {
    TRY_VOID(quarter(n));
    return {};
}

TEST(Result, try_goes_on_with_the_value_or_returns_the_error) {
    EXPECT_EQ(quarter(12), 3);
    EXPECT_EQ(quarter(6), std::unexpected(Error{Code::invalid_argument, "n: is odd", "n"}));
    EXPECT_TRUE(check_quarter(12));
    EXPECT_EQ(check_quarter(3).error().field, "n");
}

TEST(Result, try_void_is_one_statement) {
    const auto guarded = [](bool look) -> Result<> {
        if (look) TRY_VOID(half(1));
        return {};
    };
    EXPECT_TRUE(guarded(false));
    EXPECT_FALSE(guarded(true));
}

TEST(Result, every_code_has_the_name_the_api_uses) {
    EXPECT_EQ(to_string(Code::invalid_argument), "invalid_argument");
    EXPECT_EQ(to_string(Code::not_found), "not_found");
    EXPECT_EQ(to_string(Code::wrong_state), "wrong_state");
    EXPECT_EQ(to_string(Code::stale_lease), "stale_lease");
    EXPECT_EQ(to_string(Code::conflict), "conflict");
    EXPECT_EQ(to_string(Code::overloaded), "overloaded");
    EXPECT_EQ(to_string(Code::unavailable), "unavailable");
    EXPECT_EQ(to_string(Code::forbidden), "forbidden");
}

TEST(Result, a_field_of_any_length_is_repeated_only_so_far) {
    const Result<> refused = invalid(std::string(100'000, 'x'), "is unknown");
    EXPECT_EQ(refused.error().field, std::string(128, 'x'));
    EXPECT_EQ(refused.error().detail, std::string(128, 'x') + ": is unknown");
}

TEST(Result, a_refusal_has_a_code_and_no_field) {
    const Result<> refused = refuse(Code::overloaded, "later");
    EXPECT_EQ(refused.error(), (Error{Code::overloaded, "later", ""}));
}

}  // namespace
}  // namespace holdfast
