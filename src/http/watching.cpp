// For those who look after the place from afar: what happened when, who did what, and what was hidden from sight.
#include "domain/task_json.h"
#include "http/fields.h"
#include "http/handlers.h"
#include "http/render.h"
#include "observe/ports/series_keeper.h"

namespace holdfast::http {
namespace {

std::string text_or_nothing(const Call& call, std::string_view name) {
    const std::string* text = call.parameter(name);
    return text == nullptr ? std::string{} : *text;
}

std::string entry_json(const domain::AuditEntry& entry) {
    const domain::Act& act = entry.act;
    JsonObject object;
    object.add("id", entry.id.text())
        .add("at", format_time(entry.at))
        .add("who", act.by.who)
        .add_some("address", act.by.address)
        .add("action", act.action)
        .add("target", act.target)
        .add("reason", act.by.why.empty() ? Json{} : Json::quoted(act.by.why));
    if (!act.detail.is_null()) object.add("detail", act.detail);
    return object.done().text();
}

}  // namespace

Answer get_series(Call call) {
    std::string range = text_or_nothing(call, "range");
    std::string queue = text_or_nothing(call, "queue");
    if (range.empty()) range = "15m";
    if (!queue.empty()) CO_TRY_VOID(domain::check_name("queue", queue));
    CO_TRY(const Json chart,
           co_await call.services->series.chart(std::move(range), std::move(queue)));
    co_return json_response(chart);
}

Answer list_audit(Call call) {
    CO_TRY(const std::size_t limit, limit_of(call));
    engine::AuditFilter filter{text_or_nothing(call, "who"), text_or_nothing(call, "action"),
                               text_or_nothing(call, "target")};
    CO_TRY(const engine::AuditPage page,
           co_await call.engine().audit(std::move(filter), text_or_nothing(call, "cursor"), limit));
    std::string out = R"({"entries":)";
    add_list(out, page.entries, entry_json);
    out += R"(,"next_cursor":)";
    out += page.next.empty() ? "null" : Json::quoted(page.next).text();
    co_return Response{.body = out + '}'};
}

Answer reveal_task(Call call) {
    CO_TRY(const Uuid id, call.id());
    CO_TRY(Fields fields, Fields::of(call));
    CO_TRY(std::string reason, fields.text("reason"));
    CO_TRY_VOID(fields.nothing_left());
    if (reason.empty()) co_return invalid("reason", "is missing: it is kept in the audit");
    CO_TRY(const domain::Record task, co_await call.engine().get(id));
    CO_TRY_VOID(co_await call.engine().note_act(
        {call.by(std::move(reason)), "task.reveal", "task:" + id.text(), Json{}}));
    co_return json_response(domain::task_json(task));
}

}  // namespace holdfast::http
