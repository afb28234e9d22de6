// Every way we know to send nonsense: each is refused, and the error names the field.
#include <gtest/gtest.h>

#include "domain/submission.h"

namespace holdfast::domain {
namespace {

using namespace std::chrono_literals;

constexpr Time kToday{std::chrono::sys_days{std::chrono::November / 15 / 2026}};

struct Row {
    std::string field;   ///< what the error must name
    std::string member;  ///< beside a good type
};

const std::string kLong(65, 'x');
const std::string kLongText(300, 'x');

std::string labels(int count) {
    std::string text = R"("labels":{)";
    for (int i = 0; i < count; ++i) text += "\"l" + std::to_string(i) + "\":\"v\",";
    text.back() = '}';
    return text;
}

std::string schedule(int count) {
    std::string text = R"("retry":{"policy":{"schedule":[)";
    for (int i = 0; i < count; ++i) text += "\"1s\",";
    text.back() = ']';
    return text + "}}";
}

const std::vector<Row> kRows{
    // names
    {"queue", R"("queue":"")"},
    {"queue", R"("queue":")" + kLong + '"'},
    {"queue", R"("queue":"a b")"},
    {"queue", R"("queue":"a/b")"},
    {"queue", R"("queue":"a:b")"},
    {"queue", R"("queue":"\u0000")"},
    {"queue", R"("queue":"größe")"},
    {"queue", R"("queue":5)"},
    {"queue", R"("queue":null)"},
    {"queue", R"("queue":["default"])"},
    {"tenant", R"("tenant":")" + kLong + '"'},
    {"tenant", R"("tenant":"../etc")"},
    {"tenant", R"("tenant":{})"},
    // priorities
    {"priority", R"("priority":-1)"},
    {"priority", R"("priority":10)"},
    {"priority", R"("priority":5.5)"},
    {"priority", R"("priority":5.0)"},
    {"priority", R"("priority":"5")"},
    {"priority", R"("priority":18446744073709551615)"},
    {"priority", R"("priority":99999999999999999999)"},
    {"priority", R"("priority":true)"},
    {"priority", R"("priority":null)"},
    // what nobody knows
    {"colour", R"("colour":"red")"},
    {"Type", R"("Type":"t")"},
    {"state", R"("state":"succeeded")"},
    {"epoch", R"("epoch":1)"},
    {"lane_by_type", R"("lane_by_type":true)"},
    {"", R"("":1)"},
    // durations
    {"delay", R"("delay":"-5s")"},
    {"delay", R"("delay":"1.5s")"},
    {"delay", R"("delay":"5")"},
    {"delay", R"("delay":5)"},
    {"delay", R"("delay":"")"},
    {"delay", R"("delay":"3651d")"},
    {"delay", R"("delay":"99999999999999999999d")"},
    {"delay", R"("delay":"5 minutes")"},
    {"delay", R"("delay":null)"},
    {"timeout", R"("timeout":"0s")"},
    {"timeout", R"("timeout":"forever")"},
    {"timeout", R"("timeout":-1)"},
    {"timeout", R"("timeout":"3651d")"},
    {"lease", R"("lease":"0s")"},
    {"lease", R"("lease":"999ms")"},
    {"lease", R"("lease":"24h1s")"},
    {"lease", R"("lease":30)"},
    {"lease", R"("lease":"1h-1m")"},
    // times
    {"run_at", R"("run_at":"tomorrow")"},
    {"run_at", R"("run_at":"2026-02-30T00:00:00Z")"},
    {"run_at", R"("run_at":"2026-12-01")"},
    {"run_at", R"("run_at":"2026-12-01T00:00:00")"},
    {"run_at", R"("run_at":"1969-12-31T23:59:59Z")"},
    {"run_at", R"("run_at":"2099-01-01T00:00:00Z")"},
    {"run_at", R"("run_at":1794785831)"},
    {"delay", R"("delay":"1s","run_at":"2026-12-01T00:00:00Z")"},
    // labels
    {"labels", R"("labels":[])"},
    {"labels", R"("labels":"k=v")"},
    {"labels", labels(17)},
    {"labels.k", R"("labels":{"k":1})"},
    {"labels.k", R"("labels":{"k":null})"},
    {"labels.k", R"("labels":{"k":"a\nb"})"},
    {"labels.k", R"("labels":{"k":"\u007f"})"},
    {"labels.k", R"("labels":{"k":")" + kLongText + "\"}"},
    {"labels.", R"("labels":{"":"v"})"},
    {"labels.a=b", R"("labels":{"a=b":"v"})"},
    {"labels.a\n", R"("labels":{"a\n":"v"})"},
    {"labels." + kLong.substr(0, 64), R"("labels":{")" + kLong + R"(":"v"})"},
    // idempotency and tracing
    {"idempotency_key", R"("idempotency_key":")" + kLongText + '"'},
    {"idempotency_key", R"("idempotency_key":"a\tb")"},
    {"idempotency_key", R"("idempotency_key":7)"},
    {"traceparent", R"("traceparent":"00-4bf92f")"},
    {"traceparent", R"("traceparent":"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01")"},
    {"traceparent", R"("traceparent":"00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01")"},
    {"traceparent", R"("traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0z")"},
    {"traceparent", R"("traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0:")"},
    {"traceparent", R"("traceparent":{})"},
    // retry
    {"retry", R"("retry":"wrokflow")"},
    {"retry", R"("retry":3)"},
    {"retry", R"("retry":[])"},
    {"retry.count", R"("retry":{"count":0})"},
    {"retry.max", R"("retry":{"max":-1})"},
    {"retry.max", R"("retry":{"max":1001})"},
    {"retry.max", R"("retry":{"max":2.5})"},
    {"retry.max", R"("retry":{"max":"3"})"},
    {"retry.max", R"("retry":{"max":1e300})"},
    {"retry.policy", R"("retry":{"policy":"nope"})"},
    {"retry.policy", R"("retry":{"policy":7})"},
    {"retry.policy", R"("retry":{"policy":{}})"},
    {"retry.policy", R"("retry":{"policy":{"jitter":0.1}})"},
    {"retry.policy", R"("retry":{"policy":{"schedule":["1s"],"base":"1s"}})"},
    {"retry.policy.schedule", R"("retry":{"policy":{"schedule":[]}})"},
    {"retry.policy.schedule", R"("retry":{"policy":{"schedule":"1s"}})"},
    {"retry.policy.schedule", R"("retry":{"policy":{"schedule":["1s",5]}})"},
    {"retry.policy.schedule", R"("retry":{"policy":{"schedule":["-1s"]}})"},
    {"retry.policy.schedule", R"("retry":{"policy":{"schedule":["31d"]}})"},
    {"retry.policy.schedule", schedule(33)},
    {"retry.policy.base", R"("retry":{"policy":{"base":1}})"},
    {"retry.policy.base", R"("retry":{"policy":{"base":"31d"}})"},
    {"retry.policy.max", R"("retry":{"policy":{"max":"x"}})"},
    {"retry.policy.max", R"("retry":{"policy":{"base":"1s","max":"31d"}})"},
    {"retry.policy.factor", R"("retry":{"policy":{"factor":0.5}})"},
    {"retry.policy.factor", R"("retry":{"policy":{"factor":101}})"},
    {"retry.policy.factor", R"("retry":{"policy":{"factor":"2"}})"},
    {"retry.policy.jitter", R"("retry":{"policy":{"schedule":["1s"],"jitter":1.5}})"},
    {"retry.policy.jitter", R"("retry":{"policy":{"schedule":["1s"],"jitter":-1}})"},
    {"retry.policy.jitter", R"("retry":{"policy":{"schedule":["1s"],"jitter":null}})"},
    {"retry.policy.cap", R"("retry":{"policy":{"cap":"1s"}})"},
    // endings
    {"on_exhausted", R"("on_exhausted":"explode")"},
    {"on_exhausted", R"("on_exhausted":1)"},
    {"on_timeout", R"("on_timeout":"FAIL")"},
    {"on_outage", R"("on_outage":"wait")"},
    {"on_outage", R"("on_outage":false)"},
    // concurrency
    {"concurrency", R"("concurrency":"k")"},
    {"concurrency", R"("concurrency":{})"},
    {"concurrency", R"("concurrency":{"limit":1})"},
    {"concurrency", R"("concurrency":{"key":""})"},
    {"concurrency.key", R"("concurrency":{"key":"a b"})"},
    {"concurrency.key", R"("concurrency":{"key":5})"},
    {"concurrency.limit", R"("concurrency":{"key":"k","limit":0})"},
    {"concurrency.limit", R"("concurrency":{"key":"k","limit":100001})"},
    {"concurrency.limit", R"("concurrency":{"key":"k","limit":1.5})"},
    {"concurrency.queue", R"("concurrency":{"key":"k","queue":"q"})"},
};

/// What the door does with a request's object.
Result<> admit(std::string_view text) {
    TRY(const Json json, Json::parse(text));
    TRY(const Submission s, read_submission(json));
    return validate(s, kToday);
}

TEST(BadInput, is_refused_with_the_field_to_look_at) {
    EXPECT_GE(kRows.size(), 60U);
    EXPECT_TRUE(admit(R"({"type":"t"})"));
    for (const Row& row : kRows) {
        const std::string text = R"({"type":"t",)" + row.member + '}';
        const auto result = admit(text);
        ASSERT_FALSE(result) << text;
        EXPECT_EQ(result.error().code, Code::invalid_argument) << text;
        EXPECT_EQ(result.error().field, row.field) << text << '\n' << result.error().detail;
        EXPECT_TRUE(result.error().detail.starts_with(row.field + ": ")) << result.error().detail;
    }
}

TEST(BadInput, without_a_good_type_is_refused) {
    for (const std::string& text :
         {std::string("{}"), std::string(R"({"type":""})"), std::string(R"({"type":null})"),
          std::string(R"({"type":"a b"})"), R"({"type":")" + kLong + "\"}"}) {
        const auto result = admit(text);
        ASSERT_FALSE(result) << text;
        EXPECT_EQ(result.error().field, "type") << text;
    }
}

TEST(BadInput, that_is_no_object_is_refused) {
    for (const std::string_view text :
         {"null", "[]", "7", "\"{}\"", "[{\"type\":\"t\"}]", "true"}) {
        const auto result = admit(text);
        ASSERT_FALSE(result) << text;
        EXPECT_EQ(result.error().field, "body") << text;
    }
}

TEST(BadInput, that_is_no_json_never_gets_to_the_fields) {
    const std::string bomb = R"({"type":"t","payload":)" + std::string(100'000, '[');
    const std::string deep =
        R"({"type":"t","payload":)" + std::string(64, '[') + std::string(64, ']') + "}";
    for (const std::string& text :
         {std::string(), std::string("{"), bomb, deep, std::string(R"({"type":"t","type":"u"})"),
          std::string(R"({"type":"t","payload":{"a":1,"a":2}})"),
          std::string("{\"type\":\"\xff\"}"), std::string(R"({"type":"t","payload":1e999})"),
          R"({"type":"t","payload":")" + std::string(1 << 20, 'x') + "\"}"}) {
        const auto result = admit(text);
        ASSERT_FALSE(result) << text.substr(0, 60);
        EXPECT_EQ(result.error().code, Code::invalid_argument);
    }
}

TEST(BadInput, in_an_error_can_be_answered_as_json) {
    const auto result = admit(R"({"type":"t","delay":"xéééééééééééééééééééééééééééé"})");
    ASSERT_FALSE(result);
    EXPECT_TRUE(Json::parse(Json::quoted(result.error().detail).text()))
        << "the text is cut in the middle of a character";
}

TEST(BadInput, made_in_cpp_is_held_to_the_same_rules) {
    const auto field = [](auto change) {
        Submission s;
        s.type = "t";
        change(s);
        const auto result = validate(s, kToday);
        return result ? std::string() : result.error().field;
    };
    EXPECT_EQ(field([](Submission&) {}), "");
    EXPECT_EQ(field([](Submission& s) { s.priority = 10; }), "priority");
    EXPECT_EQ(field([](Submission& s) { s.lease = 1ms; }), "lease");
    EXPECT_EQ(field([](Submission& s) { s.delay = -1s; }), "delay");
    EXPECT_EQ(field([](Submission& s) { s.delay = std::chrono::days{3651}; }), "delay");
    EXPECT_EQ(field([](Submission& s) { s.policy.timeout = -1s; }), "timeout");
    EXPECT_EQ(field([](Submission& s) { s.policy.backoff.jitter = 7; }), "retry.policy.jitter");
    EXPECT_EQ(field([](Submission& s) { s.gate_limit = kLargestGate + 1; }), "concurrency.limit");
    const Json much = Json::quoted(std::string(1 << 20, 'x'));
    EXPECT_EQ(field([&](Submission& s) { s.payload = much; }), "payload");
    EXPECT_EQ(field([&](Submission& s) { s.user = much; }), "user");
    EXPECT_EQ(field([&](Submission& s) { s.placeholder = much; }), "placeholder");
    EXPECT_EQ(field([](Submission& s) { s.lease = 1min; }), "");
    EXPECT_EQ(field([](Submission& s) { s.run_at = kToday + std::chrono::days{3650}; }), "");
}

}  // namespace
}  // namespace holdfast::domain
