// Looking.
#include <algorithm>

#include "engine/engine.h"

namespace holdfast::engine {
namespace {

Error no_such_task(const TaskId& id) {
    return {Code::not_found, "there is no task " + id.text(), {}};
}

}  // namespace

Result<> check_filter(const stores::Filter& f) {
    if (!f.queue.empty()) TRY_VOID(domain::check_name("queue", f.queue));
    if (!f.type.empty()) TRY_VOID(domain::check_name("type", f.type));
    if (!f.tenant.empty()) TRY_VOID(domain::check_name("tenant", f.tenant));
    if (f.labels.size() > domain::kMostLabels)
        return invalid("label", "is given more than 16 times");
    for (const std::string& label : f.labels) {
        const std::size_t equals = label.find('=');
        if (equals == std::string::npos || !domain::is_name(label.substr(0, equals)) ||
            label.size() - equals - 1 > domain::kLongestLabelValue)
            return invalid("label", "must be key=value");
    }
    return {};
}

Engine::Engine(stores::Store& store, Clock& clock, asio::any_io_executor executor, Options options)
    : store_(store),
      clock_(clock),
      executor_(std::move(executor)),
      options_(options),
      rng_(options.seed == 0 ? Rng::from_system() : Rng(options.seed)),
      mint_(Rng(rng_())),
      queues_(store, clock, options.settings_fresh_for),
      waiters_(clock, executor_, options.most_waiters) {
    on_due(domain::Kind::bulk, [this](domain::Record job) { return run_bulk(std::move(job)); });
}

Async<Result<domain::Record>> Engine::get(TaskId id, Duration wait) {
    if (wait < Duration{0} || wait > kLongestWait)
        co_return invalid("wait", "must be between 0s and 60s");
    const Time deadline = now() + wait;
    for (;;) {
        CO_TRY(auto found, co_await store_.load({{domain::Kind::task, id}}));
        if (!found.front()) co_return std::unexpected(no_such_task(id));
        if (domain::is_final(found.front()->header.state) || now() >= deadline)
            co_return *std::move(found.front());
        std::vector<std::string> names(1, id.text());
        CO_TRY_VOID(co_await waiters_.wait(
            std::move(names), std::min(deadline, now() + options_.poll_interval) - offset_));
    }
}

Async<Result<std::vector<domain::Record>>> Engine::get_all(std::vector<TaskId> ids) {
    std::vector<domain::Key> keys;
    keys.reserve(ids.size());
    for (const TaskId& id : ids) keys.push_back({domain::Kind::task, id});
    CO_TRY(auto found, co_await store_.load(std::move(keys)));
    std::vector<domain::Record> records;
    records.reserve(found.size());
    for (auto& record : found) {
        if (record) records.push_back(*std::move(record));
    }
    co_return records;
}

Async<Result<std::vector<domain::Transition>>> Engine::history(TaskId id) {
    CO_TRY(auto rows, co_await store_.history({domain::Kind::task, id}));
    if (rows.empty()) co_return std::unexpected(no_such_task(id));
    co_return rows;
}

Async<Result<domain::Explanation>> Engine::explain(TaskId id) {
    CO_TRY(const auto found, co_await store_.load({{domain::Kind::task, id}}));
    if (!found.front()) co_return std::unexpected(no_such_task(id));
    const domain::Header& h = found.front()->header;
    CO_TRY(const QueueSettings settings, co_await queues_.get(h.queue));
    const std::string queue_permit = domain::queue_permit(h.queue);
    std::vector<stores::Tally> tallies{{stores::Tally::Of::permit, h.id.partition(), queue_permit}};
    if (!h.gate.empty()) tallies.push_back({stores::Tally::Of::permit, h.id.partition(), h.gate});
    CO_TRY(const auto counts, co_await store_.count(std::move(tallies)));
    const domain::QueueView view{.paused = settings.paused,
                                 .closed = settings.closed,
                                 .concurrency = settings.concurrency,
                                 .held = static_cast<std::uint32_t>(counts.front())};
    co_return domain::explain(h, view, h.gate.empty() ? 0 : counts.back(), now());
}

Async<Result<std::vector<stores::LogEntry>>> Engine::revisions(TaskId id) {
    CO_TRY(const auto found, co_await store_.load({{domain::Kind::task, id}}));
    if (!found.front()) co_return std::unexpected(no_such_task(id));
    co_return co_await store_.log(std::string(domain::kRevisionLog), id, 0, domain::kMostLogged);
}

Async<Result<stores::Stats>> Engine::stats() {
    return store_.stats();
}

Async<Result<stores::FeedPage>> Engine::feed(std::string cursor, std::size_t limit) {
    if (limit < 1 || limit > kLargestBatch)
        co_return invalid("limit", "must be between 1 and 1000");
    co_return co_await store_.feed(std::move(cursor), limit);
}

Async<Result<>> Engine::sync_clock() {
    const Time before = clock_.now();
    CO_TRY(const Time store_now, co_await store_.clock());
    const Time after = clock_.now();
    offset_ = store_now - (before + (after - before) / 2);
    co_return Result<>{};
}

}  // namespace holdfast::engine
