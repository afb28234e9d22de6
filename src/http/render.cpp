#include "http/render.h"

#include <algorithm>
#include <functional>

#include "domain/task_json.h"
#include "http/filters.h"

namespace holdfast::http {
namespace {

constexpr std::size_t kUsualPage = 100;

}  // namespace

Async<Result<domain::Record>> patiently(Call call, Uuid id, Duration wait) {
    for (;;) {
        const Duration slice = std::min(wait, kLookAround);
        auto task = co_await call.engine().get(id, slice);
        wait -= slice;
        if (!task || domain::is_final(task->header.state) || wait <= Duration{0} ||
            call.caller_gone() || call.services->stopping())
            co_return task;
    }
}

Result<std::size_t> limit_of(const Call& call) {
    return call.whole_number("limit", 1, engine::kLargestBatch, kUsualPage);
}

Async<Result<stores::Page>> page_of(Call call, engine::Search search) {
    CO_TRY(const std::size_t limit, limit_of(call));
    const std::string* cursor = call.parameter("cursor");
    co_return co_await call.engine().list(std::move(search), cursor ? *cursor : "", limit);
}

Async<Result<std::vector<domain::Record>>> whole_tasks(Call call, stores::Page page) {
    std::vector<Uuid> ids;
    ids.reserve(page.rows.size());
    for (const stores::ListRow& row : page.rows) ids.push_back(row.header.id);
    if (ids.empty()) co_return std::vector<domain::Record>{};
    co_return co_await call.engine().get_all(std::move(ids));
}

std::vector<std::string> headers_json(const stores::Page& page) {
    std::vector<std::string> rendered;
    rendered.reserve(page.rows.size());
    for (const stores::ListRow& row : page.rows)
        rendered.push_back(domain::task_json({row.header, {}, {}}).text());
    return rendered;
}

Response task_page(const stores::Page& page, const std::vector<std::string>& tasks, bool indexed) {
    Response response;
    std::string& out = response.body;
    out = R"({"tasks":)";
    add_list(out, tasks, std::identity{});
    out += R"(,"next_cursor":)";
    out += page.next.empty() ? "null" : Json::quoted(page.next).text();
    out += R"(,"scanned":)" + std::to_string(page.scanned);
    out += page.complete ? R"(,"complete":true)" : R"(,"complete":false)";
    out += indexed ? R"(,"cost":"index"})" : R"(,"cost":"scan"})";
    return response;
}

Json expected_json(const engine::BulkReport& report) {
    return report.expected ? Json::number(static_cast<double>(*report.expected)) : Json{};
}

Response acted(const Uuid& id, const engine::Done& done) {
    const bool asked = done.cancel_requested || done.pause_requested;
    JsonObject object;
    object.add("id", id.text())
        .add("state", to_string(done.state))
        .add("version", static_cast<std::int64_t>(done.version))
        .add("duplicate", Json::of(done.duplicate));
    if (done.cancel_requested) object.add("cancel_requested", Json::of(true));
    if (done.pause_requested) object.add("pause_requested", Json::of(true));
    return json_response(object.done(), asked ? 202 : 200);
}

}  // namespace holdfast::http
