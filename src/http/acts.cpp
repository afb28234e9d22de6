// What operators do to tasks: one, or everything that matches.
#include <boost/json/object.hpp>
#include <cmath>
#include <functional>

#include "domain/task_json.h"
#include "http/fields.h"
#include "http/filters.h"
#include "http/handlers.h"
#include "http/render.h"
#include "nodes/nodes.h"

namespace holdfast::http {
namespace {

using engine::BulkAction;
using Act = Async<Result<engine::Done>> (engine::Engine::*)(Uuid id, domain::By by);

/// {reason}
Result<domain::By> by_of(const Call& call) {
    TRY(Fields fields, Fields::of(call));
    TRY(std::string reason, fields.text("reason"));
    TRY_VOID(fields.nothing_left());
    return call.by(std::move(reason));
}

Answer act_on_one(Call call, Act act) {
    CO_TRY(const Uuid id, call.id());
    CO_TRY(domain::By by, by_of(call));
    CO_TRY(const engine::Done done, co_await (call.engine().*act)(id, std::move(by)));
    co_return acted(id, done);
}

Response report_json(const engine::BulkReport& report) {
    JsonObject object;
    if (report.bulk_id) object.add("bulk_id", report.bulk_id->text());
    object.add("state", to_string(report.state));
    boost::json::object reasons;
    for (const auto& [reason, count] : report.refused_by) reasons[reason] = count;
    std::string refused;
    add_list(refused, report.refused, [](const engine::BulkRefusal& r) {
        return JsonObject{}.add("id", r.id.text()).add("reason", r.reason).done().text();
    });
    if (report.bulk_id) object.add("expected", expected_json(report));
    object.add("matched", static_cast<std::int64_t>(report.matched))
        .add("done", static_cast<std::int64_t>(report.done))
        .add("refused_count", static_cast<std::int64_t>(report.refused_count))
        .add("refused_by", Json::of(reasons))
        .add("refused", Json::stored(refused));
    const bool goes_on = report.bulk_id && report.state == domain::State::running;
    return json_response(object.done(), goes_on ? 202 : 200);
}

Answer control(Call call, engine::Engine::BulkControl control) {
    CO_TRY(const Uuid id, call.id());
    CO_TRY(domain::By by, by_of(call));
    CO_TRY(const auto report, co_await call.engine().control_bulk(id, control, std::move(by)));
    Response response = report_json(report);
    response.status = 200;
    co_return response;
}

Result<std::vector<Uuid>> ids_of(Fields& fields) {
    TRY(const auto texts, fields.texts("ids"));
    if (texts.size() > engine::kLargestBatch) return invalid("ids", "has more than 1000 entries");
    std::vector<Uuid> ids;
    for (const std::string& text : texts) {
        auto id = Uuid::parse(text);
        if (!id) return invalid("ids", id.error().detail);
        ids.push_back(*id);
    }
    return ids;
}

/// {ids} or {filter}, of suspended tasks only.
Answer act_on_suspended(Call call, BulkAction action) {
    CO_TRY(Fields fields, Fields::of(call));
    CO_TRY(std::string reason, fields.text("reason"));
    CO_TRY(const auto ids, ids_of(fields));
    const bool has_filter = fields.has("filter");
    CO_TRY(Fields filter_fields, fields.object("filter"));
    CO_TRY(const bool dry_run, fields.flag("dry_run"));
    CO_TRY_VOID(fields.nothing_left());
    if (ids.empty() == !has_filter)
        co_return invalid("ids", "give either ids or a filter; an empty filter means all");
    if (has_filter) {
        engine::BulkRequest request;
        request.action = action;
        request.dry_run = dry_run;
        CO_TRY(request.q, filter_fields.text("q"));
        CO_TRY(request.filter, filter_of(std::move(filter_fields)));
        request.filter.states = {domain::State::suspended};
        request.by = call.by(std::move(reason));
        CO_TRY(const auto report, co_await call.engine().bulk(std::move(request)));
        co_return report_json(report);
    }
    CO_TRY(const auto report,
           co_await call.engine().bulk_ids(action, ids, call.by(std::move(reason)), dry_run,
                                           domain::State::suspended));
    co_return report_json(report);
}

}  // namespace

Answer cancel_task(Call call) {
    return act_on_one(std::move(call), &engine::Engine::cancel);
}

Answer pause_task(Call call) {
    return act_on_one(std::move(call), &engine::Engine::pause);
}

Answer discard_task(Call call) {
    return act_on_one(std::move(call), &engine::Engine::discard);
}

Answer resume_task(Call call) {
    CO_TRY(const Uuid id, call.id());
    CO_TRY(Fields fields, Fields::of(call));
    CO_TRY(std::string reason, fields.text("reason"));
    std::optional<Json> payload = fields.take("payload");
    CO_TRY_VOID(fields.nothing_left());
    CO_TRY(const engine::Done done,
           co_await call.engine().resume(id, call.by(std::move(reason)), std::move(payload)));
    co_return acted(id, done);
}

Answer start_bulk(Call call) {
    engine::BulkRequest request;
    CO_TRY(Fields fields, Fields::of(call));
    CO_TRY(const std::string action, fields.text("action"));
    const auto known = engine::bulk_action_from(action);
    if (!known) co_return invalid("action", "must be one of resume, discard, cancel, pause");
    request.action = *known;
    CO_TRY(const auto ids, ids_of(fields));
    if (fields.has("filter") == !ids.empty())
        co_return invalid("filter",
                          "give either a filter or ids: say what is meant; {} means every task");
    CO_TRY(Fields filter, fields.object("filter"));
    CO_TRY(request.q, filter.text("q"));
    CO_TRY(request.filter, filter_of(std::move(filter)));
    CO_TRY(request.dry_run, fields.flag("dry_run"));
    CO_TRY(const auto limit, fields.number("limit"));
    if (limit && !(*limit >= 1 && *limit <= 1e12 && std::trunc(*limit) == *limit))
        co_return invalid("limit", "must be a whole number from 1");
    if (limit) request.limit = static_cast<std::size_t>(*limit);
    CO_TRY(const auto rate, fields.number("rate"));
    request.rate = rate.value_or(0);
    CO_TRY(std::string reason, fields.text("reason"));
    CO_TRY_VOID(fields.nothing_left());
    request.by = call.by(std::move(reason));
    if (!ids.empty() && (limit || rate))
        co_return invalid(limit ? "limit" : "rate", "cannot be given with ids");
    if (!ids.empty()) {
        CO_TRY(const auto report,
               co_await call.engine().bulk_ids(request.action, ids, request.by, request.dry_run));
        co_return report_json(report);
    }
    CO_TRY(const auto report, co_await call.engine().bulk(std::move(request)));
    co_return report_json(report);
}

Answer get_bulk(Call call) {
    CO_TRY(const Uuid id, call.id());
    CO_TRY(auto report, co_await call.engine().bulk_report(id));
    report.bulk_id = id;
    Response response = report_json(report);
    response.status = 200;
    co_return response;
}

Answer pause_bulk(Call call) {
    return control(std::move(call), engine::Engine::BulkControl::pause);
}

Answer resume_bulk(Call call) {
    return control(std::move(call), engine::Engine::BulkControl::resume);
}

Answer stop_bulk(Call call) {
    return control(std::move(call), engine::Engine::BulkControl::stop);
}

Answer list_suspended(Call call) {
    CO_TRY(engine::Search search, search_of(call, domain::State::suspended));
    const bool indexed = is_indexed(search);
    CO_TRY(const stores::Page page, co_await page_of(call, std::move(search)));
    CO_TRY(const auto tasks, co_await whole_tasks(call, page));
    std::vector<std::string> rendered;
    for (const domain::Record& task : tasks) {
        CO_TRY(const auto history, co_await call.engine().history(task.header.id));
        std::string errors;
        std::vector<std::string> failed;
        for (const domain::Transition& step : history) {
            if (!step.error.empty())
                failed.push_back(call.shown(domain::transition_json(step)).text());
        }
        add_list(errors, failed, std::identity{});
        std::string text = call.shown(task).text();
        text.pop_back();
        rendered.push_back(text + R"(,"errors":)" + errors + '}');
    }
    co_return task_page(page, rendered, indexed);
}

Answer resume_suspended(Call call) {
    return act_on_suspended(std::move(call), BulkAction::resume);
}

Answer discard_suspended(Call call) {
    return act_on_suspended(std::move(call), BulkAction::discard);
}

}  // namespace holdfast::http
