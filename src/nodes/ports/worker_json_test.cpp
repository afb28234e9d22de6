#include "nodes/ports/worker_json.h"

#include <gtest/gtest.h>

#include "testing/engine_fixture.h"

namespace holdfast::nodes {
namespace {

using namespace holdfast::testing;

constexpr std::string_view kId = "01930000-0000-7000-8000-000000000001";
const std::string kRef = R"("id":"01930000-0000-7000-8000-000000000001","attempt":2,"epoch":77)";
const TaskId kTask = Uuid::parse(kId).value();
constexpr Fence kFence{2, domain::Epoch{77}};

/// "ok", or what is wrong and where.
template <class T>
std::string said(const Result<T>& result) {
    return result ? "ok" : result.error().detail;
}

std::string items(const std::string& inside) {
    return R"({"items":[)" + inside + "]}";
}
std::string item(const std::string& more = {}) {
    return '{' + kRef + (more.empty() ? "" : ',' + more) + '}';
}

TEST(WorkerJson, a_result_keeps_its_exact_letters) {
    const auto read = read_completions(
        json(items(item(R"("result":{"n" : 1.50,"big":12345678901234567890123})"))));
    ASSERT_EQ(said(read), "ok");
    EXPECT_EQ(read->at(0).id, kTask);
    EXPECT_EQ(read->at(0).fence, kFence);
    EXPECT_EQ(read->at(0).result.text(), R"({"n" : 1.50,"big":12345678901234567890123})");
}

TEST(WorkerJson, fields_come_in_any_order_and_escaped_as_one_likes) {
    const auto read = read_completions(json(
        R"({"items":[{"result":[1],"\u0065poch":77,"id":"01930000-0000-7000-8000-00000000000\u0031","attempt":2}]})"));
    ASSERT_EQ(said(read), "ok");
    EXPECT_EQ(read->at(0).id, kTask);
    EXPECT_EQ(read->at(0).fence, kFence);
}

TEST(WorkerJson, a_result_that_is_not_given_is_null) {
    EXPECT_TRUE(read_completions(json(items(item())))->at(0).result.is_null());
}

TEST(WorkerJson, what_is_wrong_with_a_completion_is_said_with_its_place) {
    const struct {
        std::string body, complaint;
    } cases[] = {
        {"[]", "body: must be a JSON object"},
        {"{}", "items: is missing: send a list, at most 1000 at once"},
        {R"({"items":{}})", "items: must be a list"},
        {R"({"items":[],"foo":1})", "foo: is not a field of this request"},
        {R"({"worker":"w","items":[]})", "worker: is not a field of this request"},
        {items(item() + ",7"), "items[1]: must be an object"},
        {items(item() + "," + item(R"("foo":1)")), "items[1].foo: is not a field of such an item"},
        {items(item(R"("stage":"s")")), "items[0].stage: is not a field of such an item"},
        {items(R"({"attempt":1,"epoch":1})"), "items[0].id: is missing"},
        {items(R"({"id":"01930000-0000-7000-8000-000000000001","epoch":1})"),
         "items[0].attempt: is missing: send back the one the task came with"},
        {items(R"({"id":"01930000-0000-7000-8000-000000000001","attempt":1})"),
         "items[0].epoch: is missing: send back the one the task came with"},
        {items(R"({"id":7,"attempt":1,"epoch":1})"),
         "items[0].id: must be a text, the id of a task"},
        {items(R"({"id":"x","attempt":1,"epoch":1})"),
         "items[0].id: 'x' is not an id (a UUID of 36 characters)"},
        {items(R"({"attempt":"1"})"),
         "items[0].attempt: must be a whole number from 0 to 4294967295"},
        {items(R"({"attempt":1.5})"),
         "items[0].attempt: must be a whole number from 0 to 4294967295"},
        {items(R"({"attempt":4294967296})"),
         "items[0].attempt: must be a whole number from 0 to 4294967295"},
        {items(R"({"epoch":-1})"),
         "items[0].epoch: must be a whole number from 0 to 9223372036854775807"},
        {items(R"({"epoch":null})"),
         "items[0].epoch: must be a whole number from 0 to 9223372036854775807"},
    };
    for (const auto& [body, complaint] : cases)
        EXPECT_EQ(said(read_completions(json(body))), complaint) << body;
}

TEST(WorkerJson, the_field_of_an_error_is_its_path) {
    const auto read = read_completions(json(items(item() + ',' + item(R"("foo":1)"))));
    EXPECT_EQ(read.error().field, "items[1].foo");
    EXPECT_EQ(read.error().code, Code::invalid_argument);
}

TEST(WorkerJson, a_thousand_items_are_read_and_one_more_is_refused) {
    std::string many = item();
    for (int i = 1; i < 1000; ++i) many += ',' + item();
    EXPECT_EQ(read_completions(json(items(many)))->size(), 1000U);
    EXPECT_EQ(said(read_completions(json(items(many + ',' + item())))),
              "items: has more than 1000 entries");
}

TEST(WorkerJson, a_failure_is_read_whole) {
    const auto read = read_failures(json(items(item(
        R"("error":{"kind":"dependency_down","message":"m\n","stack":"s","code":"E1"},"retry_after":"1m30s")"))));
    ASSERT_EQ(said(read), "ok");
    const engine::FailureReport& report = read->at(0);
    EXPECT_EQ(report.failure,
              (domain::Failure{domain::ErrorKind::dependency_down, "m\n", "s", "E1"}));
    EXPECT_EQ(report.retry_after, 90s);
}

TEST(WorkerJson, what_is_wrong_with_the_other_items_is_said_with_its_place) {
    const auto failure = [](const std::string& more) {
        return said(read_failures(json(items(item(more)))));
    };
    EXPECT_EQ(failure(""), "items[0].error: is missing");
    EXPECT_EQ(failure(R"("error":"oops")"),
              "items[0].error: must be an object with kind, message, stack and code");
    EXPECT_EQ(failure(R"("error":{"kind":"crash"})"),
              "items[0].error.kind: must be transient, permanent, dependency_down or timeout");
    EXPECT_EQ(failure(R"("error":{"reason":"x"})"),
              "items[0].error.reason: is not a field of an error");
    EXPECT_EQ(failure(R"("error":{"message":7})"), "items[0].error.message: must be a text");
    EXPECT_EQ(failure(R"("error":{},"retry_after":60)"),
              "items[0].retry_after: must be a duration like \"30s\"");
    EXPECT_EQ(said(read_stages(json(items(item(R"("data":1)"))))), "items[0].stage: is missing");
    EXPECT_EQ(said(read_stages(json(items(item(R"("stage":null)"))))),
              "items[0].stage: must be a text");
    EXPECT_EQ(said(read_yields(json(items(item(R"("until_signal":1)"))))),
              "items[0].until_signal: must be true or false");
    EXPECT_EQ(said(read_yields(json(items(item(R"("after":"soon")"))))).substr(0, 41),
              "items[0].after: 'soon' is not a duration;");
    const auto beat = [](const std::string& more) {
        return said(read_heartbeats(json(R"({"worker":"w","items":[)" + item(more) + "]}")));
    };
    EXPECT_EQ(beat(R"("progress":"half")"), "items[0].progress: must be a number between 0 and 1");
    EXPECT_EQ(beat(R"("value":0.5)"), "items[0].value: is not a field of such an item");
    EXPECT_EQ(beat(R"("note":1)"), "items[0].note: must be a text");
}

TEST(WorkerJson, stages_yields_and_heartbeats_are_read) {
    const auto stages = read_stages(json(items(item(R"("stage":"one","data":{"a": 1})"))));
    EXPECT_EQ(stages->at(0).stage, "one");
    EXPECT_EQ(stages->at(0).data.text(), R"({"a": 1})");
    const auto yields = read_yields(json(items(item(R"("after":"5m","until_signal":true)"))));
    EXPECT_EQ(yields->at(0).after, 5min);
    EXPECT_TRUE(yields->at(0).until_signal);
    const auto beats = read_heartbeats(
        json(R"({"worker":"w","items":[)" + item(R"("progress":0.25,"note":"half way")") + "]}"));
    EXPECT_EQ(beats->worker, "w");
    EXPECT_EQ(beats->items.at(0).progress, 0.25F);
    EXPECT_EQ(beats->items.at(0).note, "half way");
    EXPECT_EQ(said(read_heartbeats(json(R"({"items":[]})"))),
              "worker: must be 1 to 128 printable characters without blanks");
}

TEST(WorkerJson, a_claim_is_read_whole) {
    const auto read = read_claim(json(
        R"({"queues":["a","b"],"worker":"w","max":7,"lease":"1m","wait":"30s","types":["t"],"acks":true})"));
    ASSERT_EQ(said(read), "ok");
    EXPECT_EQ(read->queues, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(read->types, (std::vector<std::string>{"t"}));
    EXPECT_EQ(read->worker, "w");
    EXPECT_EQ(read->max, 7U);
    EXPECT_EQ(read->lease, 1min);
    EXPECT_EQ(read->wait, 30s);
    EXPECT_TRUE(read->acks);
    EXPECT_EQ(read_claim(json(R"({"queues":["a"],"worker":"w"})"))->max, 1U);
}

TEST(WorkerJson, what_is_wrong_with_a_claim_is_said) {
    const auto claim = [](const std::string& body) { return said(read_claim(json(body))); };
    EXPECT_EQ(claim("7"), "body: must be a JSON object");
    EXPECT_EQ(claim(R"({"worker":"w"})"), "queues: must name 1 to 100 queues");
    EXPECT_EQ(claim(R"({"queues":["a"]})"),
              "worker: must be 1 to 128 printable characters without blanks");
    EXPECT_EQ(claim(R"({"queues":"a"})"), "queues: must be a list of texts");
    EXPECT_EQ(claim(R"({"queues":["a",1]})"), "queues[1]: must be a text");
    EXPECT_EQ(claim(R"({"max":0})"), "max: must be a whole number from 1 to 1000");
    EXPECT_EQ(claim(R"({"lease":"1ms"})"), "lease: must be between 1s and 24h");
    EXPECT_EQ(claim(R"({"queue":"a"})"), "queue: is not a field of a claim");
}

class WorkerJsonWriting : public EngineTest {};

TEST_F(WorkerJsonWriting, a_task_shows_all_that_a_worker_needs) {
    domain::Submission s = work("q", "type");
    s.tenant = "acme";
    s.payload = json(R"({"n" : 1.50})");
    s.labels = {{"a", "1"}, {"b", "x\"y"}};
    s.idempotency_key = "key";
    s.user = json(R"({"u":[1]})");
    s.policy.max = 5;
    s.policy.timeout = 1h;
    const domain::Header first = running(s);
    run(engine.checkpoint({{first.id, first.fence(), "one", json("1")}}));
    run(engine.checkpoint({{first.id, first.fence(), "two", json(R"({"k":2})")}}));
    run(engine.signal(first.id, "sig", json("\"hi\"")));
    run(engine.yield({{first.id, first.fence(), {}, false}}));
    const auto tasks = claim(claim_call("q"));
    const domain::Header& h = tasks.at(0).record.header;
    EXPECT_EQ(
        tasks_json(tasks),
        R"({"tasks":[{"id":")" + h.id.text() + R"(","attempt":2,"epoch":)" +
            std::to_string(static_cast<std::int64_t>(h.epoch)) +
            R"(,"type":"type","queue":"q","tenant":"acme","payload":{"n" : 1.50},)"
            R"("context":{"idempotency_key":"key","traceparent":null,"user":{"u":[1]}},)"
            R"("lease_until":"2026-01-05T00:00:30.000Z","priority":5,"labels":{"a":"1","b":"x\"y"},)"
            R"("retry":{"count":0,"max":5},"deadline":"2026-01-05T01:00:00.000Z",)"
            R"("checkpoint":{"stage":"two","data":{"k":2}},)"
            R"("checkpoints":[{"stage":"one","data":1},{"stage":"two","data":{"k":2}}],)"
            R"("signals":[{"id":"sig","data":"hi"}]}]})");
}

TEST_F(WorkerJsonWriting, many_tasks_are_one_list_each_with_its_own_lease) {
    domain::Submission slow = work();
    slow.lease = 1h;
    slow.policy.max = 9;
    submit();
    submit(slow);
    submit();
    const Json all = json(tasks_json(claim(claim_call("default", 3))));
    std::string leases;
    for (const auto& task : all.value().at("tasks").as_array())
        leases += std::string(task.at("lease_until").as_string()) + ' ' +
                  std::to_string(task.at("retry").at("max").as_int64()) + '\n';
    EXPECT_EQ(
        leases,
        "2026-01-05T00:00:30.000Z 3\n2026-01-05T01:00:00.000Z 9\n2026-01-05T00:00:30.000Z 3\n");
    EXPECT_EQ(tasks_json({}), R"({"tasks":[]})");
}

TEST(WorkerJson, outcomes_say_ok_duplicate_or_why_not) {
    const std::vector<Ref> refs(5, Ref{kTask, kFence});
    const engine::Each<engine::Done> answers{
        engine::Done{State::succeeded},
        engine::Done{.state = State::succeeded, .duplicate = true, .version = 1},
        refuse(Code::stale_lease, "gone"), refuse(Code::wrong_state, "the task is paused"),
        refuse(Code::not_found, "none")};
    EXPECT_EQ(outcomes_json(Of::done, refs, answers),
              items(item(R"("outcome":"ok")") + ',' + item(R"("outcome":"ok","duplicate":true)") +
                    ',' + item(R"("outcome":"stale_lease")") + ',' +
                    item(R"("outcome":"wrong_state","detail":"the task is paused")") + ',' +
                    item(R"("outcome":"not_found")")));
}

TEST(WorkerJson, a_checkpoint_says_whether_to_go_on) {
    const std::vector<Ref> refs(3, Ref{kTask, kFence});
    const engine::Each<engine::Done> answers{
        engine::Done{State::running}, engine::Done{State::paused}, engine::Done{State::cancelled}};
    EXPECT_EQ(outcomes_json(Of::checkpoint, refs, answers),
              items(item(R"("outcome":"ok")") + ',' + item(R"("outcome":"pause")") + ',' +
                    item(R"("outcome":"cancel")")));
    EXPECT_EQ(outcomes_json(Of::yield, refs, answers),
              items(item(R"("outcome":"ok")") + ',' + item(R"("outcome":"ok")") + ',' +
                    item(R"("outcome":"ok")")))
        << "whoever gives it back has no use for it";
}

TEST(WorkerJson, a_heartbeat_is_answered_with_the_lease_and_what_is_asked_for) {
    const std::vector<Ref> refs(2, Ref{kTask, kFence});
    const engine::Each<engine::Beat> answers{engine::Beat{ManualClock::kStart, true, false},
                                             refuse(Code::stale_lease, "gone")};
    EXPECT_EQ(
        beats_json(refs, answers),
        items(
            item(
                R"("lease_until":"2026-01-05T00:00:00.000Z","cancel_requested":true,"pause_requested":false)") +
            ',' + item(R"("outcome":"stale_lease")")));
}

TEST(WorkerJson, text_is_quoted_however_broken_it_is) {
    std::string out;
    append_quoted(out, "a\"\n\xff");
    EXPECT_EQ(out, "\"a\\\"\\n\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace holdfast::nodes
