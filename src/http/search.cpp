// For those who look for something among many tasks: facets, failure groups, bulk jobs.
#include <charconv>

#include "http/fields.h"
#include "http/filters.h"
#include "http/handlers.h"
#include "http/render.h"
#include "http/stats_json.h"

namespace holdfast::http {
namespace {

constexpr std::size_t kUsualGroups = 50;

Json time_json(Time t) {
    return is_set(t) ? Json::quoted(format_time(t)) : Json{};
}

Json text_or_null(std::string_view text) {
    return text.empty() ? Json{} : Json::quoted(text);
}

Json facet_json(const std::vector<engine::FacetCount>& counts) {
    std::string out;
    add_list(out, counts, [](const engine::FacetCount& facet) {
        return JsonObject{}
            .add("value", facet.value)
            .add("count", static_cast<std::int64_t>(facet.count))
            .done()
            .text();
    });
    return Json::stored(out);
}

Json group_json(const engine::FailureGroup& group, bool with_stack) {
    JsonObject object;
    object.add("fingerprint", fingerprint_text(group.fingerprint))
        .add("message", group.message)
        .add("sample", group.sample)
        .add("kind", group.kind)
        .add("code", text_or_null(group.code))
        .add("type", group.type)
        .add("queue", group.queue)
        .add("tasks", counts_json(group.by_state))
        .add("open", static_cast<std::int64_t>(group.open))
        .add("failed", static_cast<std::int64_t>(group.failed))
        .add("first_seen", time_json(group.first_seen))
        .add("last_seen", time_json(group.last_seen))
        .add("tenants", static_cast<std::int64_t>(group.tenants))
        .add("sample_task",
             group.sample_task.is_nil() ? Json{} : Json::quoted(group.sample_task.text()));
    if (with_stack) object.add("stack", text_or_null(group.stack));
    return object.done();
}

Json filter_json(const stores::Filter& filter) {
    JsonObject object;
    const auto add_texts = [&](std::string_view name, const auto& texts, auto text_of) {
        if (texts.empty()) return;
        std::string out;
        add_list(out, texts, [&](const auto& t) { return Json::quoted(text_of(t)).text(); });
        object.add(name, Json::stored(out));
    };
    add_texts("state", filter.states, [](domain::State s) { return to_string(s); });
    object.add_some("queue", filter.queue)
        .add_some("type", filter.type)
        .add_some("tenant", filter.tenant);
    add_texts("label", filter.labels, [](const std::string& l) { return std::string_view(l); });
    if (filter.fingerprint != 0) object.add("fingerprint", fingerprint_text(filter.fingerprint));
    if (is_set(filter.since)) object.add("since", format_time(filter.since));
    if (is_set(filter.until)) object.add("until", format_time(filter.until));
    return object.done();
}

Json job_json(const engine::BulkView& job) {
    return JsonObject{}
        .add("bulk_id", job.report.bulk_id ? job.report.bulk_id->text() : "")
        .add("action", to_string(job.request.action))
        .add("filter", filter_json(job.request.filter))
        .add("q", text_or_null(job.request.q))
        .add("who", job.request.by.who)
        .add("reason", text_or_null(job.request.by.why))
        .add("rate", Json::number(job.request.rate))
        .add("state", to_string(job.report.state))
        .add("expected", expected_json(job.report))
        .add("matched", static_cast<std::int64_t>(job.report.matched))
        .add("done", static_cast<std::int64_t>(job.report.done))
        .add("refused_count", static_cast<std::int64_t>(job.report.refused_count))
        .add("created_at", time_json(job.created_at))
        .add("updated_at", time_json(job.updated_at))
        .add("finished_at", time_json(job.finished_at))
        .done();
}

}  // namespace

Answer get_facets(Call call) {
    CO_TRY(engine::Search search, search_of(call));
    CO_TRY(const engine::Facets facets, co_await call.engine().facets(std::move(search)));
    JsonObject lists;
    lists.add("state", facet_json(facets.state))
        .add("queue", facet_json(facets.queue))
        .add("type", facet_json(facets.type));
    if (facets.has_tenants) lists.add("tenant", facet_json(facets.tenant));
    co_return json_response(JsonObject{}
                                .add("total", static_cast<std::int64_t>(facets.total))
                                .add("exact", Json::of(facets.exact))
                                .add("scanned", static_cast<std::int64_t>(facets.scanned))
                                .add("facets", lists.done())
                                .done());
}

Answer list_failures(Call call) {
    CO_TRY(engine::Search search, search_of(call));
    CO_TRY(const std::size_t limit,
           call.whole_number("limit", 1, engine::kMostGroups, kUsualGroups));
    CO_TRY(const engine::Failures failures,
           co_await call.engine().failures(std::move(search), limit));
    std::string groups;
    add_list(groups, failures.groups,
             [](const engine::FailureGroup& group) { return group_json(group, false).text(); });
    co_return json_response(JsonObject{}
                                .add("groups", Json::stored(groups))
                                .add("total", static_cast<std::int64_t>(failures.total))
                                .add("exact", Json::of(failures.exact))
                                .add("scanned", static_cast<std::int64_t>(failures.scanned))
                                .done());
}

Answer get_failure(Call call) {
    CO_TRY(const std::uint64_t fingerprint, fingerprint_of(call.params[0]));
    CO_TRY(const engine::FailureGroup group, co_await call.engine().failure(fingerprint));
    co_return json_response(group_json(group, true));
}

Answer list_bulk(Call call) {
    CO_TRY(const auto jobs, co_await call.engine().bulk_jobs());
    std::string out = R"({"jobs":)";
    add_list(out, jobs, [](const engine::BulkView& job) { return job_json(job).text(); });
    co_return Response{.body = out + '}'};
}

}  // namespace holdfast::http
