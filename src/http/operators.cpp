// For those who run the place: queues, counts, workers.
#include <cmath>

#include "http/fields.h"
#include "http/handlers.h"
#include "http/render.h"
#include "http/stats_json.h"
#include "nodes/nodes.h"
#include "observe/ports/series_keeper.h"

namespace holdfast::http {
namespace {

using Hold = std::optional<engine::QueueSettings::Hold>;

void add_hold(JsonObject& object, const std::string& what, const Hold& hold) {
    const auto text = [](const std::string& said) {
        return said.empty() ? Json{} : Json::quoted(said);
    };
    object.add(what + "_by", hold ? text(hold->by) : Json{})
        .add(what + "_reason", hold ? text(hold->reason) : Json{})
        .add(what + "_at", hold ? Json::quoted(format_time(hold->at)) : Json{});
}

/// To three digits behind the point: a rate is no more exact than that.
Json rate_json(double rate) {
    return Json::number(std::round(rate * 1000) / 1000);
}

std::string queue_json(const std::string& name, const engine::QueueSettings& settings,
                       const Counts& counts, Time oldest_at, const observe::RatesByQueue& rates) {
    const auto found = rates.find(name);
    const observe::Rates rate = found == rates.end() ? observe::Rates{} : found->second;
    JsonObject object;
    object.add("name", name)
        .add("paused", Json::of(settings.paused))
        .add("closed", Json::of(settings.closed))
        .add("lanes_by_type", Json::of(settings.lanes_by_type))
        .add("concurrency", std::int64_t{settings.concurrency})
        .add("rate", Json::number(settings.rate))
        .add("tasks", counts_json(counts))
        .add("oldest_at", is_set(oldest_at) ? Json::quoted(format_time(oldest_at)) : Json{})
        .add("rate_in", rate_json(rate.in))
        .add("rate_out", rate_json(rate.out));
    add_hold(object, "paused", settings.paused_by);
    add_hold(object, "closed", settings.closed_by);
    return object.done().text();
}

/// The queue as it is after the change.
Answer queue_now(Call call, std::string name, engine::QueueSettings settings) {
    CO_TRY(const auto all, co_await call.engine().queues());
    Counts counts{};
    Time oldest_at;
    for (const engine::QueueOverview& queue : all) {
        if (queue.name != name) continue;
        counts = queue.by_state;
        oldest_at = queue.oldest_at;
    }
    const auto rates = co_await call.services->series.rates();
    co_return Response{.body = queue_json(name, settings, counts, oldest_at, rates)};
}

using Change = Async<Result<engine::QueueSettings>> (engine::Engine::*)(std::string, domain::By);

Answer change_queue(Call call, Change change) {
    CO_TRY(Fields fields, Fields::of(call));
    CO_TRY(std::string reason, fields.text("reason"));
    CO_TRY_VOID(fields.nothing_left());
    const std::string name = call.params[0];
    CO_TRY(const auto settings, co_await (call.engine().*change)(name, call.by(std::move(reason))));
    co_return co_await queue_now(call, name, settings);
}

}  // namespace

Answer list_queues(Call call) {
    CO_TRY(const auto queues, co_await call.engine().queues());
    const auto rates = co_await call.services->series.rates();
    std::string out = R"({"queues":)";
    add_list(out, queues, [&](const engine::QueueOverview& queue) {
        return queue_json(queue.name, queue.settings, queue.by_state, queue.oldest_at, rates);
    });
    co_return Response{.body = out + '}'};
}

Answer get_queue(Call call) {
    const std::string name = call.params[0];
    CO_TRY(const auto settings, co_await call.engine().queue(name));
    co_return co_await queue_now(call, name, settings);
}

Answer pause_queue(Call call) {
    return change_queue(std::move(call), &engine::Engine::pause_queue);
}

Answer resume_queue(Call call) {
    return change_queue(std::move(call), &engine::Engine::resume_queue);
}

Answer close_queue(Call call) {
    return change_queue(std::move(call), &engine::Engine::close_queue);
}

Answer open_queue(Call call) {
    return change_queue(std::move(call), &engine::Engine::open_queue);
}

Answer limit_queue(Call call) {
    const std::string name = call.params[0];
    CO_TRY(Fields fields, Fields::of(call));
    CO_TRY(auto settings, co_await call.engine().queue(name));
    CO_TRY(const auto concurrency, fields.number("concurrency"));
    CO_TRY(const auto rate, fields.number("rate"));
    const bool sets_lanes = fields.has("lanes_by_type");
    CO_TRY(const bool lanes_by_type, fields.flag("lanes_by_type"));
    CO_TRY(std::string reason, fields.text("reason"));
    CO_TRY_VOID(fields.nothing_left());
    if (concurrency &&
        !(*concurrency >= 0 && *concurrency <= 1e6 && std::trunc(*concurrency) == *concurrency))
        co_return invalid("concurrency", "must be a whole number from 0 (no limit) to 1000000");
    const auto at_once =
        concurrency ? static_cast<std::uint32_t>(*concurrency) : settings.concurrency;
    if (sets_lanes) {
        CO_TRY(settings,
               co_await call.engine().set_lanes_by_type(name, lanes_by_type, call.by(reason)));
    }
    if (concurrency || rate || !sets_lanes) {
        CO_TRY(settings, co_await call.engine().limit_queue(
                             name, at_once, rate.value_or(settings.rate), call.by(reason)));
    }
    co_return co_await queue_now(call, name, settings);
}

Answer get_stats(Call call) {
    CO_TRY(const auto stats, co_await call.engine().stats());
    co_return Response{.body = stats_json(stats)};
}

Answer list_workers(Call call) {
    const Services& services = *call.services;
    std::string out = R"({"workers":)" + services.workers.json(services.instance);
    out.pop_back();
    for (const Json& worker : co_await services.other_workers())
        out.append(out.back() == '[' ? "" : ",").append(worker.text());
    co_return Response{.body = out + "]}"};
}

Answer drain_worker(Call call) {
    CO_TRY(Fields fields, Fields::of(call));
    CO_TRY(std::string reason, fields.text("reason"));
    CO_TRY_VOID(fields.nothing_left());
    if (call.services->workers.drain(call.params[0]) == 0 &&
        !co_await call.services->drain_elsewhere(call.params[0]))
        co_return refuse(Code::not_found, "no worker " + call.params[0] + " has a stream open");
    CO_TRY_VOID(co_await call.engine().note_act(
        {call.by(std::move(reason)), "worker.drain", "worker:" + call.params[0], Json{}}));
    co_return json_response(
        JsonObject{}.add("worker", call.params[0]).add("draining", Json::of(true)).done(), 202);
}

}  // namespace holdfast::http
