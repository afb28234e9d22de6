// For those who submit tasks and want to know what became of them.
#include "domain/task_json.h"
#include "http/fields.h"
#include "http/filters.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "http/render.h"

namespace holdfast::http {
namespace {

Result<domain::Submission> read_one(const Json& json, const Call& call) {
    if (json.keys() > JsonLimits{}.keys) return invalid("body", "has more than 10000 keys");
    TRY(domain::Submission submission, domain::read_submission(json));
    if (submission.traceparent.empty()) submission.traceparent = call.traceparent;
    return submission;
}

void add_receipt(std::string& out, const engine::Receipt& receipt, const Call& call) {
    out += R"({"id":")";
    out += receipt.id.text();
    out += R"(","state":")";
    out += to_string(receipt.state);
    out += receipt.duplicate ? R"(","duplicate":true,"durability":")"
                             : R"(","duplicate":false,"durability":")";
    out += call.services->durability();
    out += R"("})";
}

Answer submit_many(Call call, Json batch) {
    if (call.parameter("wait") != nullptr)
        co_return invalid("wait", "cannot be given with an array: ask for each task by its id");
    if (!call.request->header("idempotency-key").empty())
        co_return invalid("Idempotency-Key",
                          "cannot be given with an array: give each item an idempotency_key");
    const std::vector<Json> items = batch.elements();
    if (items.size() > engine::kLargestBatch) co_return invalid("body", "has more than 1000 tasks");

    engine::Each<engine::Receipt> answers(items.size());
    std::vector<domain::Submission> good;
    std::vector<std::size_t> places;
    good.reserve(items.size());
    places.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        auto submission = read_one(items[i], call);
        if (submission) {
            good.push_back(*std::move(submission));
            places.push_back(i);
        } else {
            answers[i] = std::unexpected(std::move(submission).error());
        }
    }
    auto receipts = co_await call.engine().submit(std::move(good));
    bool none_taken = !receipts.empty();
    for (std::size_t i = 0; i < places.size(); ++i) {
        none_taken = none_taken && !receipts[i] && is_retryable(receipts[i].error().code);
        answers[places[i]] = std::move(receipts[i]);
    }
    // Nothing was taken because of us, not of what was sent: the whole batch is to come again.
    if (none_taken) co_return std::unexpected(answers[places.front()].error());

    Response response{.status = 202};
    std::string& out = response.body;
    out.reserve(16 + answers.size() * 112);
    out += R"({"tasks":[)";
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (i > 0) out += ',';
        if (answers[i]) {
            add_receipt(out, *answers[i], call);
        } else {
            const Error& error = answers[i].error();
            out += problem_json(error, status_of(error.code), call.request_id).text();
        }
    }
    out += "]}";
    co_return response;
}

}  // namespace

Answer submit(Call call) {
    CO_TRY(Json json, parse_body(call));
    if (json.text().starts_with('[')) co_return co_await submit_many(call, std::move(json));
    CO_TRY(domain::Submission submission, read_one(json, call));
    if (const std::string_view key = call.request->header("idempotency-key"); !key.empty()) {
        if (Json::quoted(key).value().as_string() != key)
            co_return invalid("Idempotency-Key", "must be UTF-8");
        if (!submission.idempotency_key.empty() && submission.idempotency_key != key)
            co_return invalid("Idempotency-Key", "is not the body's idempotency_key");
        submission.idempotency_key = std::string(key);
    }
    CO_TRY(const Duration wait, call.wait());
    std::vector<domain::Submission> one;
    one.push_back(std::move(submission));
    const auto receipts = co_await call.engine().submit(std::move(one));
    CO_TRY(const engine::Receipt receipt, receipts.front());
    if (wait > Duration{0}) {
        auto task = co_await patiently(call, receipt.id, wait);
        if (task && domain::is_final(task->header.state))
            co_return json_response(call.shown(*task));
    }
    Response response{.status = 202};
    add_receipt(response.body, receipt, call);
    co_return response;
}

Answer get_task(Call call) {
    CO_TRY(const Uuid id, call.id());
    CO_TRY(const Duration wait, call.wait());
    CO_TRY(const domain::Record task, co_await patiently(call, id, wait));
    co_return json_response(call.shown(task));
}

Answer get_history(Call call) {
    CO_TRY(const Uuid id, call.id());
    CO_TRY(const auto rows, co_await call.engine().history(id));
    std::string out = R"({"id":")" + id.text() + R"(","history":)";
    add_list(out, rows,
             [&](const auto& row) { return call.shown(domain::transition_json(row)).text(); });
    co_return Response{.body = out + '}'};
}

Answer get_explanation(Call call) {
    CO_TRY(const Uuid id, call.id());
    CO_TRY(const auto explanation, co_await call.engine().explain(id));
    co_return json_response(to_json(explanation));
}

Answer get_revisions(Call call) {
    CO_TRY(const Uuid id, call.id());
    CO_TRY(const auto revisions, co_await call.engine().revisions(id));
    std::string out = R"({"id":")" + id.text() + R"(","revisions":)";
    add_list(out, revisions, [&](const stores::LogEntry& entry) {
        return JsonObject{}
            .add("revision", entry.key)
            .add("payload", call.shown(domain::payload_of(entry.bytes)))
            .done()
            .text();
    });
    co_return Response{.body = out + '}'};
}

Answer list_tasks(Call call) {
    CO_TRY(engine::Search search, search_of(call));
    const bool indexed = is_indexed(search);
    const std::string* fields = call.parameter("fields");
    if (fields != nullptr && *fields != "all" && *fields != "header")
        co_return invalid("fields", "must be all or header");
    CO_TRY(const stores::Page page, co_await page_of(call, std::move(search)));
    if (fields != nullptr && *fields == "header")
        co_return task_page(page, headers_json(page), indexed);
    CO_TRY(auto tasks, co_await whole_tasks(call, page));
    std::vector<std::string> rendered;
    rendered.reserve(tasks.size());
    for (const domain::Record& task : tasks) rendered.push_back(call.shown(task).text());
    co_return task_page(page, rendered, indexed);
}

Answer signal_task(Call call) {
    CO_TRY(const Uuid id, call.id());
    CO_TRY(Fields fields, Fields::of(call));
    CO_TRY(std::string signal_id, fields.text("id"));
    const Json data = fields.take("data").value_or(Json{});
    CO_TRY_VOID(fields.nothing_left());
    // Without an id of its own every signal is a new one.
    if (signal_id.empty()) signal_id = call.request_id;
    CO_TRY(const engine::Done done,
           co_await call.engine().signal(id, signal_id, data, call.by({})));
    co_return acted(id, done);
}

}  // namespace holdfast::http
