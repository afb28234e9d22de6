#include "http/fields.h"

#include <gtest/gtest.h>

#include "http/events.h"
#include "http/filters.h"
#include "http/problem.h"

namespace holdfast::http {
namespace {

struct Sent {
    explicit Sent(std::string body, std::string_view query = {}) {
        request.body = std::move(body);
        call.request = &request;
        call.query = parse_query(query).value();
    }
    Request request;
    Call call;
};

std::string field_of(const auto& result) {
    return result ? "ok" : result.error().field;
}

TEST(Fields, each_is_taken_once_and_what_is_left_is_named) {
    const Sent sent(R"({"a":"x","b":2,"c":null})");
    Fields fields = Fields::of(sent.call).value();
    EXPECT_EQ(fields.text("a").value(), "x");
    EXPECT_EQ(fields.number("b").value(), 2);
    EXPECT_EQ(fields.text("c").value(), "");
    EXPECT_EQ(field_of(fields.nothing_left()), "ok");
    Fields again = Fields::of(sent.call).value();
    EXPECT_EQ(field_of(again.nothing_left()), "a");
}

TEST(Fields, a_wrong_type_is_named_with_its_path) {
    const Sent sent(R"({"filter":{"queue":7,"since":"yesterday","label":[1]}})");
    Fields fields = Fields::of(sent.call).value();
    Fields inner = fields.object("filter").value();
    EXPECT_EQ(field_of(inner.text("queue")), "filter.queue");
    EXPECT_EQ(field_of(inner.time("since")), "filter.since");
    EXPECT_EQ(field_of(inner.texts("label")), "filter.label");
}

TEST(Fields, an_empty_body_is_an_empty_object_and_anything_else_must_be_one) {
    EXPECT_TRUE(Fields::of(Sent("").call));
    EXPECT_EQ(field_of(Fields::of(Sent("[]").call)), "body");
    EXPECT_EQ(field_of(Fields::of(Sent("{").call)), "body");
}

TEST(Filters, are_read_from_a_query_and_from_a_body_alike) {
    const Sent query("", "state=queued,running&state=failed&queue=q&label=a%3Db&fingerprint=ff");
    const auto by_query = filter_of(query.call).value();
    const Sent body(
        R"({"state":["queued","running","failed"],"queue":"q","label":"a=b","fingerprint":"ff"})");
    const auto by_body = filter_of(Fields::of(body.call).value()).value();
    for (const auto* filter : {&by_query, &by_body}) {
        EXPECT_EQ(filter->states.size(), 3U);
        EXPECT_EQ(filter->queue, "q");
        EXPECT_EQ(filter->labels, std::vector<std::string>{"a=b"});
        EXPECT_EQ(filter->fingerprint, 255U);
    }
    EXPECT_EQ(field_of(filter_of(Sent("", "state=asleep").call)), "state");
    EXPECT_EQ(field_of(filter_of(Fields::of(Sent(R"({"colour":"red"})").call).value())), "colour");
}

TEST(EventFilter, wants_what_all_its_clauses_want) {
    EventFilter filter;
    ASSERT_TRUE(read_event_filter("queue:a state:failed", filter));
    domain::FeedEvent event;
    event.queue = "a";
    event.to = domain::State::failed;
    EXPECT_TRUE(filter.wants(event));
    event.to = domain::State::queued;
    EXPECT_FALSE(filter.wants(event));
    EXPECT_EQ(field_of(read_event_filter("colour:red", filter)), "filter");
    EXPECT_EQ(field_of(read_event_filter("state:asleep", filter)), "filter");
}

TEST(Problem, says_what_is_wrong_and_whether_to_try_again) {
    const Response busy = problem({Code::overloaded, "too much", {}}, "req_1");
    EXPECT_EQ(busy.status, 503);
    EXPECT_EQ(busy.headers.front().first, "Retry-After");
    EXPECT_EQ(busy.body,
              R"({"type":"urn:holdfast:error:overloaded","title":"Overloaded","status":503,)"
              R"("code":"overloaded","detail":"too much","retryable":true,"request_id":"req_1"})");
    EXPECT_EQ(problem({Code::stale_lease, "", {}}, "r").status, 409);
    EXPECT_EQ(problem({Code::forbidden, "", {}}, "r").status, 403);
}

}  // namespace
}  // namespace holdfast::http
