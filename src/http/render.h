// What several handlers do alike: waiting for a task, pages of tasks, and what came of an act.
#pragma once

#include <string>
#include <vector>

#include "http/call.h"

namespace holdfast::http {

/// A long poll looks this often whether its caller is still there.
inline constexpr Duration kLookAround = std::chrono::seconds{1};
/// engine.get with a wait that ends when the caller has gone.
Async<Result<domain::Record>> patiently(Call call, Uuid id, Duration wait);

/// The parameter `limit`; 100 unless said.
Result<std::size_t> limit_of(const Call& call);
/// The page that limit and cursor ask for.
Async<Result<stores::Page>> page_of(Call call, engine::Search search);
/// The tasks of a page with their bodies, in its order.
Async<Result<std::vector<domain::Record>>> whole_tasks(Call call, stores::Page page);
/// The tasks of a page as far as a list needs them.
std::vector<std::string> headers_json(const stores::Page& page);
/// {"tasks":[…],"next_cursor":…,"scanned":…,"complete":…,"cost":…}
Response task_page(const stores::Page& page, const std::vector<std::string>& tasks, bool indexed);

/// How many tasks a bulk job is about; null: nobody counted them.
Json expected_json(const engine::BulkReport& report);

/// {id,state,version,…}: 202 when a worker has to do the rest.
Response acted(const Uuid& id, const engine::Done& done);

template <class Items, class Text>
void add_list(std::string& out, const Items& items, Text text_of) {
    out += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out += ',';
        out += text_of(items[i]);
    }
    out += ']';
}

}  // namespace holdfast::http
