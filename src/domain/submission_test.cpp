#include "domain/submission.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace holdfast::domain {
namespace {

using namespace std::chrono_literals;

constexpr Time kMidnight{std::chrono::sys_days{std::chrono::November / 15 / 2026}};

/// What the door does with a request's object.
Result<Submission> enter(std::string_view text) {
    TRY(const Json json, Json::parse(text));
    TRY(Submission s, read_submission(json));
    TRY_VOID(validate(s, kMidnight));
    return s;
}

Submission entered(std::string_view text) {
    auto s = enter(text);
    EXPECT_TRUE(s) << text << ": " << s.error().detail;
    return s.value_or(Submission{});
}

TEST(Submission, takes_every_field_a_client_may_set) {
    const Submission s = entered(R"({
        "type":"image.resize", "queue":"images", "tenant":"acme", "payload":{"w":1},
        "priority":9, "labels":{"k":"v=1","empty":""}, "idempotency_key":"order 7",
        "traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "user":{"id":1}, "placeholder":"m-1", "delay":"5m", "timeout":"1h", "lease":"2m",
        "retry":"ingest", "on_exhausted":"fail", "on_timeout":"fail", "on_outage":"hold",
        "concurrency":{"key":"printer","limit":2}})");
    EXPECT_EQ(s.type, "image.resize");
    EXPECT_EQ(s.queue, "images");
    EXPECT_EQ(s.tenant, "acme");
    EXPECT_EQ(s.payload.text(), R"({"w":1})");
    EXPECT_EQ(s.priority, 9);
    EXPECT_EQ(s.labels.size(), 2U);
    EXPECT_EQ(s.labels.front(), (std::pair<std::string, std::string>("k", "v=1")));
    EXPECT_EQ(s.idempotency_key, "order 7");
    EXPECT_EQ(s.user.text(), R"({"id":1})");
    EXPECT_EQ(s.placeholder.text(), "\"m-1\"");
    EXPECT_EQ(s.delay, 5min);
    EXPECT_EQ(s.lease, 2min);
    EXPECT_EQ(s.policy.timeout, 1h);
    EXPECT_EQ(s.policy.max, 10);
    EXPECT_EQ(s.policy.on_exhausted, Ending::fail);
    EXPECT_EQ(s.policy.on_timeout, Ending::fail);
    EXPECT_EQ(s.policy.on_outage, OnOutage::hold);
    EXPECT_EQ(s.gate, "printer");
    EXPECT_EQ(s.gate_limit, 2U);
}

TEST(Submission, needs_a_type_and_nothing_else) {
    const Submission s = entered(R"({"type":"t"})");
    EXPECT_EQ(s.queue, "default");
    EXPECT_EQ(s.priority, 5);
    EXPECT_TRUE(s.payload.is_null());
    EXPECT_EQ(s.policy, Policy{});
    EXPECT_EQ(entered(R"({"type":"t","run_at":"2026-11-16T00:00:00+01:00"})").run_at,
              kMidnight + 23h);
    EXPECT_EQ(entered(R"({"type":"t","concurrency":{"key":"k"}})").gate_limit, 1U);
    EXPECT_EQ(entered(R"({"type":"t","on_exhausted":"suspend","on_outage":"count"})").policy,
              Policy{});
    EXPECT_EQ(entered(R"({"type":"t","tenant":"","delay":"0s"})").tenant, "");
}

TEST(Submission, a_preset_never_undoes_a_more_particular_field) {
    for (
        const std::string_view text :
        {R"({"type":"t","on_outage":"count","timeout":"5m","retry":"external","on_timeout":"suspend"})",
         R"({"type":"t","retry":"external","on_timeout":"suspend","timeout":"5m","on_outage":"count"})"}) {
        const Policy p = entered(text).policy;
        EXPECT_EQ(p.on_outage, OnOutage::count);
        EXPECT_EQ(p.on_timeout, Ending::suspend);
        EXPECT_EQ(p.timeout, 5min);
        EXPECT_EQ(p.max, 0);
    }
}

TEST(Submission, a_payload_keeps_its_exact_text) {
    const std::string_view payload = R"({ "id": 123456789012345678901234567890, "x": 1.10 })";
    const Submission s = entered(R"({"type":"t","payload":)" + std::string(payload) + "}");
    EXPECT_EQ(s.payload.text(), payload);
    EXPECT_EQ(payload_of(make_body(s)).text(), payload);
    EXPECT_EQ(payload_of(with_payload(make_body(s), s.payload)).text(), payload);
}

TEST(Submission, the_body_holds_payload_context_and_placeholder) {
    Submission s =
        entered(R"({"type":"t","payload":[1],"idempotency_key":"k","user":"u","placeholder":7})");
    EXPECT_EQ(make_body(s).view(),
              R"({"payload":[1],"context":{"idempotency_key":"k","user":"u"},"placeholder":7})");
    EXPECT_EQ(with_payload(make_body(s), Json{}).view(),
              R"({"payload":null,"context":{"idempotency_key":"k","user":"u"},"placeholder":7})");
    EXPECT_EQ(make_body(entered(R"({"type":"t"})")).view(), R"({"payload":null,"context":{}})");
    EXPECT_TRUE(payload_of(Bytes("damaged")).is_null());
}

TEST(Submission, a_payload_of_full_depth_survives_its_envelope) {
    std::string deep = "1";
    for (int i = 0; i < 63; ++i) deep = "[" + deep + "]";
    const Submission s = entered(R"({"type":"t","payload":)" + deep + "}");
    EXPECT_EQ(payload_of(make_body(s)).text(), deep);
    content_hash(s);
    EXPECT_FALSE(enter(R"({"type":"t","payload":[)" + deep + "]}"));
}

TEST(ContentHash, does_not_depend_on_key_order_or_blanks) {
    const auto hash = [](std::string_view text) { return content_hash(entered(text)); };
    const auto one = hash(R"({"type":"t","payload":{"a":1,"b":[1,{"x":"é","y":2}]}})");
    EXPECT_EQ(one,
              hash(R"({ "payload" : { "b":[ 1,{"y":2 ,"x":"\u00e9"} ], "a":1 } , "type":"t"})"));
    EXPECT_EQ(one, hash(R"({"type":"t","payload":{"a":1,"b":[1,{"x":"é","y":2}]},
                            "priority":1,"labels":{"l":"1"},"idempotency_key":"k"})"))
        << "only type, queue, payload and run_at count";
}

TEST(ContentHash, tells_other_content_apart) {
    const std::string_view texts[] = {
        R"({"type":"t","payload":{"a":1}})",
        R"({"type":"u","payload":{"a":1}})",
        R"({"type":"t","queue":"q","payload":{"a":1}})",
        R"({"type":"t","payload":{"a":2}})",
        R"({"type":"t","payload":{"a":"1"}})",
        R"({"type":"t","payload":{"a":[1]}})",
        R"({"type":"t","payload":[{"a":1}]})",
        R"({"type":"t"})",
        R"({"type":"t","payload":{"a":1},"run_at":"2026-12-01T00:00:00Z"})",
        R"({"type":"t","payload":{"a":100000000000000000000001}})",
        R"({"type":"t","payload":{"a":100000000000000000000002}})",
    };
    std::set<Sha256> hashes;
    for (const std::string_view text : texts) hashes.insert(content_hash(entered(text)));
    EXPECT_EQ(hashes.size(), std::size(texts));
}

TEST(ContentHash, is_the_sha256_of_the_sorted_key_json) {
    EXPECT_EQ(
        content_hash(entered(R"({"type":"t","queue":"q","payload":{"b":1,"a":null},
                                       "run_at":"2026-12-01T01:00:00+01:00"})")),
        sha256(
            R"({"payload":{"a":null,"b":1},"queue":"q","run_at":"2026-12-01T00:00:00.000Z","type":"t"})"));
    EXPECT_EQ(content_hash(entered(R"({"type":"t"})")),
              sha256(R"({"payload":null,"queue":"default","run_at":null,"type":"t"})"));
}

TEST(HomePartition, follows_tenant_then_key_then_concurrency) {
    Submission s;
    EXPECT_FALSE(home_partition(s));
    s.gate = "printer";
    EXPECT_EQ(home_partition(s), partition_of("printer"));
    s.idempotency_key = "k";
    EXPECT_EQ(home_partition(s), partition_of("k"));
    s.tenant = "acme";
    EXPECT_EQ(home_partition(s), partition_of("acme"));
}

TEST(Names, are_short_and_plain) {
    for (const std::string_view name : {"a", "image.resize", "A-Z_0.9", "..."})
        EXPECT_TRUE(check_name("f", name)) << name;
    EXPECT_TRUE(is_name(std::string(64, 'x')));
    for (const std::string_view name : {"", "a b", "a/b", "é", "a\n", "a:b", "{a}", "a*"})
        EXPECT_EQ(check_name("f", name).error().field, "f") << name;
    EXPECT_FALSE(is_name(std::string(65, 'x')));
    EXPECT_FALSE(is_name(std::string_view("a\0", 2)));
}

TEST(Tokens, are_printable_without_blanks) {
    EXPECT_TRUE(check_token("worker", "host:1234/pid~7"));
    EXPECT_TRUE(check_token("worker", std::string(128, 'x')));
    for (const std::string& token : {std::string(), std::string(129, 'x'), std::string("a b"),
                                     std::string("a\x7f"), std::string("é"), std::string("\t")})
        EXPECT_EQ(check_token("worker", token).error().field, "worker");
}

TEST(Leases, last_from_a_second_to_a_day) {
    EXPECT_TRUE(check_lease("lease", 1s));
    EXPECT_TRUE(check_lease("lease", 24h));
    EXPECT_FALSE(check_lease("lease", 1s - 1us));
    EXPECT_FALSE(check_lease("lease", 24h + 1us));
    EXPECT_EQ(check_lease("lease", 0s).error().field, "lease");
}

}  // namespace
}  // namespace holdfast::domain
