#include "domain/task_json.h"

#include <gtest/gtest.h>

#include "domain/sample_tasks.h"

namespace holdfast::domain {
namespace {

using namespace samples;

Submission full() {
    Submission s = submission();
    s.tenant = "acme";
    s.payload = Json::parse(R"({"n":123456789012345678901234567890})").value();
    s.labels = {{"k", "v=1"}, {"a.b", ""}, {"quoted", "\"é\""}};
    s.idempotency_key = "order-7";
    s.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    s.user = Json::parse(R"({"id":1})").value();
    s.policy.timeout = 1h;
    return s;
}

TEST(TaskJson, is_the_task_of_the_api_field_by_field) {
    EXPECT_EQ(
        task_json(submitted(full())).text(),
        R"({"schema":1,"id":"01933b1c-5a00-7abc-8000-000000000001","type":"image.resize",)"
        R"("queue":"default","tenant":"acme","state":"queued",)"
        R"("payload":{"n":123456789012345678901234567890},"result":null,"error":null,"priority":5,)"
        R"("labels":{"a.b":"","k":"v=1","quoted":"\"é\""},)"
        R"("context":{"idempotency_key":"order-7",)"
        R"("traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","user":{"id":1}},)"
        R"("retry":{"count":0,"max":3,"next_attempt_at":null,)"
        R"("policy":{"schedule":["1m","5m","15m"],"jitter":0.2}},)"
        R"("attempt":0,"progress":null,"note":null,"worker":null,"lease_until":null,)"
        R"("fingerprint":null,"revision":0,"pause_requested":false,"cancel_requested":false,)"
        R"("run_at":null,"deadline":"2026-11-16T00:00:00.000Z",)"
        R"("version":1,"created_at":"2026-11-15T23:00:00.000Z",)"
        R"("updated_at":"2026-11-15T23:00:00.000Z","started_at":null,"finished_at":null})");
}

TEST(TaskJson, has_exactly_the_fields_of_the_api_and_its_version) {
    // API.md, "A task".
    const Json api =
        Json::parse(R"({ "id":"0193…", "type":"image.resize", "queue":"default", "tenant":"acme",
            "state":"queued", "payload":{}, "result":null, "error":null, "priority":5,
            "labels":{"k":"v"}, "context":{"idempotency_key":"…","traceparent":"…","user":{}},
            "retry":{"count":0,"max":3,"next_attempt_at":null,
                     "policy":{"schedule":["1m","5m","15m"],"jitter":0.2}},
            "attempt":0, "progress":null, "note":null, "worker":null, "lease_until":null,
            "fingerprint":null, "revision":0, "pause_requested":false, "cancel_requested":false,
            "run_at":null, "deadline":null, "version":1,
            "created_at":"…","updated_at":"…","started_at":null,"finished_at":null })")
            .value();
    const auto names = [](const Json& object) {
        std::vector<std::string> all;
        for (const auto& member : object.members()) all.push_back(member.name);
        return all;
    };
    const Json task = task_json(submitted());
    std::vector<std::string> expected = names(api);
    expected.insert(expected.begin(), "schema");
    EXPECT_EQ(names(task), expected);
    for (const std::string_view part : {"context", "retry"})
        EXPECT_EQ(names(task.member(part)), names(api.member(part)));
    EXPECT_EQ(names(task.member("retry").member("policy")),
              names(api.member("retry").member("policy")));
}

TEST(TaskJson, a_bare_task_shows_nulls_and_empty_objects) {
    Submission s;
    s.type = "t";
    const Json task = task_json(submitted(s));
    EXPECT_TRUE(task.member("tenant").is_null());
    EXPECT_TRUE(task.member("payload").is_null());
    EXPECT_EQ(task.member("labels").text(), "{}");
    EXPECT_EQ(task.member("context").text(),
              R"({"idempotency_key":null,"traceparent":null,"user":null})");
    EXPECT_TRUE(task.member("deadline").is_null());
}

TEST(TaskJson, a_retrying_task_shows_its_error_and_when_it_is_tried_again) {
    const Record task = running();
    Fail fail = failure(task);
    fail.retry_after = 10s;
    const Record retrying = after(task, fail);
    const Json json = task_json(retrying);
    EXPECT_EQ(json.member("state").text(), "\"retrying\"");
    EXPECT_EQ(json.member("error").text(), R"({"kind":"transient","message":"no route to host"})");
    EXPECT_EQ(json.member("retry").member("count").text(), "1");
    EXPECT_EQ(json.member("retry").member("next_attempt_at").text(),
              "\"2026-11-15T23:00:10.000Z\"");
    EXPECT_EQ(json.member("started_at").text(), "\"2026-11-15T23:00:00.000Z\"");
    EXPECT_EQ(json.member("attempt").text(), "1");
}

TEST(TaskJson, a_held_task_shows_by_whom_and_until_when) {
    Record task = running();
    task.header.fingerprint = 0xe7f1c0de;
    task.header.note = "page 3";
    task.header.cancel_requested = true;
    const Json json = task_json(task);
    EXPECT_EQ(json.member("worker").text(), "\"w-1\"");
    EXPECT_EQ(json.member("lease_until").text(), "\"2026-11-15T23:00:30.000Z\"");
    EXPECT_EQ(json.member("fingerprint").text(), "\"e7f1c0de\"");
    EXPECT_EQ(json.member("note").text(), "\"page 3\"");
    EXPECT_EQ(json.member("cancel_requested").text(), "true");
    EXPECT_EQ(json.member("pause_requested").text(), "false");
}

TEST(TaskJson, a_finished_task_shows_its_result) {
    const Record done =
        after(running(), Complete{running().header.fence(), Json::quoted("r")}, kNow + 1s);
    const Json json = task_json(done);
    EXPECT_EQ(json.member("result").text(), "\"r\"");
    EXPECT_TRUE(json.member("error").is_null());
    EXPECT_EQ(json.member("progress").text(), "1");
    EXPECT_EQ(json.member("finished_at").text(), "\"2026-11-15T23:00:01.000Z\"");
}

TEST(TaskJson, progress_is_written_as_it_was_reported) {
    Record task = running();
    task.header.progress = 0.3F;
    EXPECT_EQ(task_json(task).member("progress").text(), "0.3");
    task.header.progress = 0;
    EXPECT_EQ(task_json(task).member("progress").text(), "0");
}

TEST(TaskJson, a_placeholder_is_shown_to_whoever_gave_one) {
    Submission s = submission();
    s.placeholder = Json::quoted("m-1");
    s.run_at = kNow + 1h;
    EXPECT_EQ(task_json(submitted(s)).member("placeholder").text(), "\"m-1\"");
    EXPECT_EQ(task_json(submitted(s)).member("run_at").text(), "\"2026-11-16T00:00:00.000Z\"");
}

TEST(TaskJson, is_valid_json_in_every_state_and_without_a_body) {
    Record row = running(full());
    row.body = {};
    EXPECT_TRUE(Json::parse(task_json(row).text()));
    EXPECT_TRUE(task_json(row).member("payload").is_null());
    row.header.labels = "\nno value\n\n=\nend";
    EXPECT_TRUE(task_json(row).member("labels").text().starts_with('{'));
    EXPECT_TRUE(Json::parse(task_json(Record{}).text()));
}

TEST(TransitionJson, shows_what_happened_by_whom_and_why) {
    const auto change = decide(submitted(), Cancel{{"ann", "not needed"}}, kNow);
    ASSERT_TRUE(change);
    EXPECT_EQ(
        transition_json(change->puts.front().transition).text(),
        R"({"event":"cancelled","from":"queued","to":"cancelled","attempt":0,)"
        R"("message":"not needed","actor":"ann","at":"2026-11-15T23:00:00.000Z","error":null})");
}

TEST(TransitionJson, of_the_first_row_comes_from_nowhere_by_the_engine_itself) {
    const Json row =
        transition_json(decide_submit(submission(), kId, kNow).puts.front().transition);
    EXPECT_TRUE(row.member("from").is_null());
    EXPECT_TRUE(row.member("actor").is_null());
    EXPECT_EQ(row.member("to").text(), "\"queued\"");
}

TEST(TransitionJson, of_a_failure_carries_its_error) {
    const auto change = decide(running(), failure(running()), kNow);
    ASSERT_TRUE(change);
    const Json row = transition_json(change->puts.front().transition);
    EXPECT_EQ(row.member("error").text(), R"({"kind":"transient","message":"no route to host"})");
    EXPECT_EQ(row.member("actor").text(), "\"w-1\"");
    EXPECT_EQ(row.member("attempt").text(), "1");
}

}  // namespace
}  // namespace holdfast::domain
