// Handing tasks out, at once or as soon as there are some.
#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "engine/engine.h"

namespace holdfast::engine {
namespace {

constexpr std::size_t kMostQueues = 100;

Result<> check(const ClaimCall& call) {
    TRY_VOID(domain::check_token("worker", call.worker));
    if (call.queues.empty() || call.queues.size() > kMostQueues)
        return invalid("queues", "must name 1 to 100 queues");
    for (const std::string& queue : call.queues) TRY_VOID(domain::check_name("queues", queue));
    if (call.types.size() > kMostQueues) return invalid("types", "must name at most 100 types");
    for (const std::string& type : call.types) TRY_VOID(domain::check_name("types", type));
    if (call.max < 1 || call.max > kLargestBatch)
        return invalid("max", "must be between 1 and 1000");
    if (call.lease != Duration{0}) TRY_VOID(domain::check_lease("lease", call.lease));
    if (call.wait < Duration{0} || call.wait > kLongestWait)
        return invalid("wait", "must be between 0s and 60s");
    return {};
}

}  // namespace

/// Asks for what the operators allow now: a paused queue is left out, limits go along.
Async<Result<stores::ClaimRequest>> Engine::claim_request(ClaimCall call) {
    CO_TRY(const auto settings, co_await queues_.get(call.queues));
    stores::ClaimRequest request;
    request.worker = std::move(call.worker);
    request.to = call.acks ? State::dispatched : State::running;
    request.max = call.max;
    request.lease = call.lease;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        const QueueSettings& queue = settings[i];
        if (!call.types.empty() && !queue.lanes_by_type)
            co_return invalid("types", "queue " + call.queues[i] + " does not keep lanes by type");
        if (queue.paused) continue;
        const std::uint32_t most = queues_.allowance(call.queues[i], queue.rate);
        if (most > 0)
            request.queues.push_back({call.queues[i], call.types, most, queue.concurrency});
    }
    co_return request;
}

Async<Result<std::vector<ClaimedTask>>> Engine::claim(ClaimCall call) {
    // Whoever is told to leave leaves the waiting room with nothing, but never drops what it was just handed:
    // such tasks would stay with nobody until their leases end.
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    auto tasks = co_await claim_or_wait(std::move(call));
    co_await asio::this_coro::throw_if_cancelled(throws);
    co_return tasks;
}

Async<Result<std::vector<ClaimedTask>>> Engine::claim_or_wait(ClaimCall call) {
    CO_TRY_VOID(check(call));
    std::ranges::sort(call.queues);  // a queue that is named twice has its limits once
    call.queues.erase(std::ranges::unique(call.queues).begin(), call.queues.end());
    const Time deadline = now() + call.wait;
    for (;;) {
        const auto told = (co_await asio::this_coro::cancellation_state).cancelled();
        if (told != asio::cancellation_type::none) co_return std::vector<ClaimedTask>{};
        CO_TRY(stores::ClaimRequest request, co_await claim_request(call));
        std::vector<domain::Record> records;
        if (!request.queues.empty()) {
            CO_TRY(records, co_await store_.claim(std::move(request)));
        }
        if (!records.empty() || now() >= deadline) co_return co_await with_logs(std::move(records));
        CO_TRY_VOID(co_await waiters_.wait(
            call.queues, std::min(deadline, now() + options_.poll_interval) - offset_));
    }
}

/// A task that was worked on before comes with what was done; and its header stays with us.
Async<Result<std::vector<ClaimedTask>>> Engine::with_logs(std::vector<domain::Record> records) {
    std::vector<ClaimedTask> tasks;
    tasks.reserve(records.size());
    for (domain::Record& record : records) {
        const domain::Header& h = record.header;
        queues_.spend(h.queue, 1);
        hold(h);
        if (witness_ != nullptr) {
            const Time due = h.attempt > 1 ? kNoTime : std::max(h.created_at, h.run_at);
            witness_->saw({domain::Event::claimed, State::queued, h.state, h.queue, h.type, due,
                           h.updated_at, h.updated_at});
        }
        ClaimedTask task;
        // The claim stands whatever a log answers: a task without its stages would be run from the start, so
        // it is left to its lease instead.
        if (h.checkpoints > 0) {
            auto stages = co_await store_.log(std::string(domain::kCheckpointLog), h.id, 0,
                                              domain::kMostLogged);
            if (!stages) continue;
            task.checkpoints = *std::move(stages);
        }
        if (h.signals > 0) {
            auto signals =
                co_await store_.log(std::string(domain::kSignalLog), h.id, 0, domain::kMostLogged);
            if (!signals) continue;
            task.signals = *std::move(signals);
        }
        task.record = std::move(record);
        tasks.push_back(std::move(task));
    }
    co_return tasks;
}

}  // namespace holdfast::engine
