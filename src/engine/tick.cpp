// Doing what is due: promotions, lost leases, deadlines, and whatever other kinds of records want.
#include <algorithm>

#include "engine/engine.h"

namespace holdfast::engine {

Async<Result<std::size_t>> Engine::tick(std::size_t limit) {
    CO_TRY(auto due, co_await store_.due(limit));
    const std::size_t count = due.size();
    std::vector<Ask> asks;
    std::vector<domain::Record> tasks;
    Time
        asked_at;  // the store's own time of this call: ours might be ahead of it, and end a lease too early
    for (domain::Record& record : due) {
        if (record.header.kind == domain::Kind::task) {
            asked_at = record.header.wake_at - stores::kDuePush;
            asks.push_back({record.header.id, domain::Tick{}});
            held_.erase(record.header.id);
            tasks.push_back(std::move(record));
        } else if (const auto handler = due_handlers_.find(record.header.kind);
                   handler != due_handlers_.end()) {
            co_await handler->second(std::move(record));
        }
    }
    const Each<Done> answers = co_await step(std::move(asks), std::move(tasks), asked_at);
    // What could not be done now rings again after kDuePush; only a silent store is worth a word.
    for (const Result<Done>& answer : answers) {
        if (!answer && answer.error().code == Code::unavailable)
            co_return std::unexpected(answer.error());
    }
    co_return count;
}

}  // namespace holdfast::engine
