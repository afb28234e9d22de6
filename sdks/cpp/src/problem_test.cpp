#include "problem.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "bodies.h"

namespace holdfast::client {
namespace {

TEST(Problem, an_error_carries_all_that_the_server_said) {
    const auto error = problem(422, boost::json::parse(R"({"status":422,"code":"invalid_argument",
        "detail":"retry.max: at most 100","field":"retry.max","retryable":false,"request_id":"r1"})"),
                               "", "ignored");
    EXPECT_EQ(error.code, Code::invalid_argument);
    EXPECT_EQ(error.status, 422);
    EXPECT_EQ(error.detail, "retry.max: at most 100");
    EXPECT_STREQ(error.what(), "retry.max: at most 100");
    EXPECT_EQ(error.field, "retry.max");
    EXPECT_EQ(error.request_id, "r1");
    EXPECT_FALSE(error.retryable);
    EXPECT_FALSE(error.retry_after);
}

TEST(Problem, overload_says_when_to_come_again) {
    const auto error =
        problem(503, boost::json::parse(R"({"code":"overloaded","retryable":true})"), "2");
    EXPECT_EQ(error.code, Code::overloaded);
    EXPECT_TRUE(error.retryable);
    EXPECT_EQ(error.retry_after, std::chrono::seconds(2));
}

TEST(Problem, an_answer_that_is_no_problem_is_judged_by_its_status) {
    const std::pair<int, Code> rows[]{
        {400, Code::invalid_argument}, {401, Code::unauthorized}, {403, Code::unauthorized},
        {404, Code::not_found},        {409, Code::conflict},     {413, Code::invalid_argument},
        {429, Code::overloaded},       {500, Code::other},        {502, Code::unavailable},
        {503, Code::unavailable},      {504, Code::unavailable}};
    for (const auto& [status, code] : rows)
        EXPECT_EQ(problem(status, nullptr).code, code) << status;
    EXPECT_EQ(problem(502, "<html>").detail, "the server answered with status 502");
    EXPECT_FALSE(problem(503, nullptr, "Wed, 21 Oct").retry_after);
}

TEST(Problem, every_code_has_a_name_that_reads_back) {
    for (int i = 0; i <= static_cast<int>(Code::other); ++i)
        EXPECT_EQ(code_from(to_string(static_cast<Code>(i))), static_cast<Code>(i));
    EXPECT_EQ(code_from("nonsense"), Code::other);
}

TEST(Bodies, a_submission_names_only_what_was_said) {
    EXPECT_EQ(boost::json::value(body_of(Submission{.type = "t"})),
              boost::json::parse(R"({"type":"t"})"));
    const Submission full{.type = "t",
                          .payload = {{"a", 1}},
                          .queue = "q",
                          .idempotency_key = "k",
                          .priority = 9,
                          .labels = {{"l", "v"}},
                          .delay = Milliseconds{1500},
                          .retry = {{"max", 2}},
                          .on_exhausted = "fail"};
    EXPECT_EQ(boost::json::value(body_of(full)),
              boost::json::parse(R"({"type":"t","payload":{"a":1},
        "queue":"q","idempotency_key":"k","priority":9,"labels":{"l":"v"},"delay":"1500ms",
        "retry":{"max":2},"on_exhausted":"fail"})"));
}

TEST(Bodies, a_filter_becomes_a_query) {
    EXPECT_EQ(
        query_of({.states = {"queued", "running"}, .queue = "a b", .labels = {"k=v"}}, 10, "c"),
        "?state=queued&state=running&queue=a%20b&label=k%3Dv&limit=10&cursor=c");
}

TEST(Bodies, an_item_of_a_batch_is_a_receipt_or_an_error) {
    const auto good =
        receipt_of(boost::json::parse(R"({"id":"x","state":"queued","duplicate":true})"));
    EXPECT_EQ(good.id, "x");
    EXPECT_TRUE(good.duplicate);
    EXPECT_FALSE(good.error);
    const auto bad =
        receipt_of(boost::json::parse(R"({"status":409,"code":"conflict","detail":"other body"})"));
    ASSERT_TRUE(bad.error);
    EXPECT_EQ(bad.error->code, Code::conflict);
    EXPECT_EQ(bad.error->status, 409);
}

}  // namespace
}  // namespace holdfast::client
