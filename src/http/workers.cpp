// For workers that speak HTTP instead of holding a stream.
#include <algorithm>

#include "http/fields.h"
#include "http/handlers.h"
#include "http/render.h"
#include "nodes/nodes.h"

namespace holdfast::http {
namespace {

/// Nobody is there to work on them: they go back as they came.
Async<void> give_back(engine::Engine* engine, std::vector<engine::ClaimedTask> tasks) {
    std::vector<engine::GivingBack> items;
    items.reserve(tasks.size());
    for (const engine::ClaimedTask& task : tasks) {
        const domain::Header& h = task.record.header;
        items.push_back({.id = h.id, .fence = h.fence(), .after = std::nullopt});
    }
    co_await engine->yield(std::move(items));
}

/// The store did not answer for any of them: that is an answer to the call, not to its items.
template <class T>
const Error* nobody_answered(const engine::Each<T>& answers) {
    const auto silent = [](const Result<T>& r) {
        return !r && r.error().code == Code::unavailable;
    };
    return !answers.empty() && std::ranges::all_of(answers, silent) ? &answers.front().error()
                                                                    : nullptr;
}

template <class Item>
using Read = Result<std::vector<Item>> (*)(const Json&);
template <class Item>
using Use = Async<engine::Each<engine::Done>> (engine::Engine::*)(std::vector<Item>);

template <class Item>
Answer outcomes(Call call, nodes::Of of, Read<Item> read, Use<Item> use) {
    CO_TRY(const Json body, parse_body(call));
    CO_TRY(std::vector<Item> items, read(body));
    const std::vector<nodes::Ref> refs = nodes::refs_of(items);
    const auto answers = co_await (call.engine().*use)(std::move(items));
    if (const Error* error = nobody_answered(answers)) co_return std::unexpected(*error);
    co_return Response{.body = nodes::outcomes_json(of, refs, answers)};
}

}  // namespace

Answer claim(Call call) {
    CO_TRY(const Json body, parse_body(call));
    CO_TRY(engine::ClaimCall wanted, nodes::read_claim(body));
    // Here, since the engine sees only slices of it.
    if (wanted.wait > engine::kLongestWait) co_return invalid("wait", "must be between 0s and 60s");
    call.services->workers.seen_claiming(wanted.worker, wanted.queues, call.address);
    for (Duration left = wanted.wait;;) {
        wanted.wait = std::min(left, kLookAround);
        left -= wanted.wait;
        CO_TRY(auto tasks, co_await call.engine().claim(wanted));
        const bool gone = call.caller_gone();
        if (gone && !tasks.empty()) {
            co_await give_back(&call.engine(), std::move(tasks));
            tasks.clear();
        }
        for (const engine::ClaimedTask& task : tasks)
            call.services->workers.holds_until(wanted.worker, task.record.header.lease_until);
        if (!tasks.empty() || left <= Duration{0} || gone || call.services->stopping())
            co_return Response{.body = nodes::tasks_json(tasks)};
    }
}

Answer complete(Call call) {
    return outcomes<engine::Completion>(std::move(call), nodes::Of::done, nodes::read_completions,
                                        &engine::Engine::complete);
}

Answer fail(Call call) {
    return outcomes<engine::FailureReport>(std::move(call), nodes::Of::fail, nodes::read_failures,
                                           &engine::Engine::fail);
}

Answer checkpoint(Call call) {
    return outcomes<engine::StageDone>(std::move(call), nodes::Of::checkpoint, nodes::read_stages,
                                       &engine::Engine::checkpoint);
}

Answer yield(Call call) {
    return outcomes<engine::GivingBack>(std::move(call), nodes::Of::yield, nodes::read_yields,
                                        &engine::Engine::yield);
}

Answer heartbeat(Call call) {
    CO_TRY(const Json body, parse_body(call));
    CO_TRY(nodes::HeartbeatCall beats, nodes::read_heartbeats(body));
    if (!beats.worker.empty())
        call.services->workers.seen_beating(beats.worker, beats.items.size(), call.address);
    const std::vector<nodes::Ref> refs = nodes::refs_of(beats.items);
    const auto answers = co_await call.engine().heartbeat(std::move(beats.items));
    if (const Error* error = nobody_answered(answers)) co_return std::unexpected(*error);
    for (const auto& beat : answers) {
        if (beat) call.services->workers.holds_until(beats.worker, beat->lease_until);
    }
    co_return Response{.body = nodes::beats_json(refs, answers)};
}

}  // namespace holdfast::http
