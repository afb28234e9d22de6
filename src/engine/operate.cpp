// What operators and other programs do to a task from outside.
#include <algorithm>
#include <boost/json/value.hpp>
#include <map>

#include "engine/bulk.h"
#include "engine/engine.h"

namespace holdfast::engine {
namespace {

constexpr std::size_t kLongestReason = 1024;

/// One entry for all of them.
domain::Act act_on_these(BulkAction action, std::size_t tasks, const std::vector<TaskId>& ids,
                         By by) {
    const std::string verb(to_string(action));
    if (ids.size() == 1)
        return {std::move(by), "task." + verb, "task:" + ids.front().text(), Json{}};
    constexpr std::size_t kNamed = 20;
    boost::json::array named;
    for (std::size_t i = 0; i < std::min(ids.size(), kNamed); ++i)
        named.emplace_back(ids[i].text());
    const boost::json::object detail{{"action", verb}, {"tasks", tasks}, {"ids", std::move(named)}};
    return {std::move(by), "bulk.start", "tasks", Json::of(detail)};
}

}  // namespace

Result<> check_by(const By& by) {
    if (by.who.size() > kLongestReason || by.why.size() > kLongestReason)
        return invalid("reason", "is longer than 1024 bytes");
    return {};
}

Async<Result<Done>> Engine::signal(TaskId id, std::string signal_id, Json data, By by) {
    CO_TRY_VOID(domain::check_token("signal.id", signal_id));
    CO_TRY_VOID(domain::check_size("data", data));
    CO_TRY_VOID(check_by(by));
    const Json detail = JsonObject{}.add("signal", signal_id).done();
    auto act = by.who.empty() ? nullptr : act_on(id, "signal", std::move(by), detail);
    co_return co_await step_one(
        {id, domain::Signal{std::move(signal_id), std::move(data)}, std::move(act)});
}

Async<Result<Done>> Engine::pause(TaskId id, By by) {
    CO_TRY_VOID(check_by(by));
    co_return co_await step_one({id, domain::Pause{by}, act_on(id, "pause", by)});
}

Async<Result<Done>> Engine::resume(TaskId id, By by, std::optional<Json> payload) {
    CO_TRY_VOID(check_by(by));
    if (payload) CO_TRY_VOID(domain::check_size("payload", *payload));
    const Json detail = payload ? JsonObject{}.add("payload", "replaced").done() : Json{};
    auto act = act_on(id, "resume", by, detail);
    co_return co_await step_one(
        {id, domain::Resume{std::move(by), std::move(payload)}, std::move(act)});
}

Async<Result<Done>> Engine::cancel(TaskId id, By by) {
    CO_TRY_VOID(check_by(by));
    co_return co_await step_one({id, domain::Cancel{by}, act_on(id, "cancel", by)});
}

Async<Result<Done>> Engine::discard(TaskId id, By by) {
    CO_TRY_VOID(check_by(by));
    co_return co_await step_one({id, domain::Discard{by}, act_on(id, "discard", by)});
}

Async<Each<Done>> Engine::act(BulkAction action, std::vector<TaskId> ids, By by, State only) {
    Result<> ok = check_by(by);
    if (ok && ids.size() > kLargestBatch) ok = invalid("ids", "has more than 1000 entries");
    if (!ok) co_return Each<Done>(ids.size(), std::unexpected(ok.error()));
    std::vector<domain::Key> keys;
    keys.reserve(ids.size());
    for (const TaskId& id : ids) keys.push_back({domain::Kind::task, id});
    const auto found = co_await store_.load(std::move(keys));
    if (!found) co_return Each<Done>(ids.size(), std::unexpected(found.error()));

    Each<Done> answers(ids.size(), refuse(Code::not_found, "there is no such task"));
    std::vector<Ask> asks;
    std::vector<domain::Record> known;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto& record = (*found)[i];
        if (!record) continue;
        const State state = record->header.state;
        if (only != State::none && state != only) {
            answers[i] = refuse(Code::wrong_state, "the task is " + std::string(to_string(state)));
            continue;
        }
        asks.push_back({ids[i], command_of(action, by)});
        known.push_back(*record);
        places.push_back(i);
    }
    if (!asks.empty()) {
        const auto noted = co_await note_act(act_on_these(action, asks.size(), ids, by));
        if (!noted) co_return Each<Done>(ids.size(), std::unexpected(noted.error()));
    }
    Each<Done> stepped = co_await step(std::move(asks), std::move(known));
    for (std::size_t i = 0; i < places.size(); ++i) answers[places[i]] = std::move(stepped[i]);
    co_return answers;
}

// ---- queues ----

Async<Result<QueueSettings>> Engine::edit_queue(std::string name, std::string_view verb,
                                                Queues::Edit edit, domain::Event event, By by,
                                                Json detail) {
    CO_TRY_VOID(domain::check_name("queue", name));
    CO_TRY_VOID(check_by(by));
    const domain::Act act{by, "queue." + std::string(verb), "queue:" + name, std::move(detail)};
    domain::Put audit = audited(act, queue_key(name).id.partition(), now());
    auto settings = co_await queues_.edit(name, std::move(edit), event, std::move(by), now(),
                                          rng_() | 1, std::move(audit));
    if (settings) {
        waiters_.ring_all(name);
        if (neighbours_ != nullptr)
            neighbours_->tell({coordination::Hint::Of::settings, std::move(name)});
    }
    co_return settings;
}

Async<Result<QueueSettings>> Engine::queue(std::string name) {
    CO_TRY_VOID(domain::check_name("queue", name));
    co_return co_await queues_.get(std::move(name));
}

Async<Result<std::vector<QueueOverview>>> Engine::queues() {
    std::map<std::string, QueueOverview> by_name;
    CO_TRY(const stores::Stats counted, co_await store_.stats());
    for (const stores::QueueCounts& counts : counted.queues) {
        auto& sum = by_name[counts.queue].by_state;
        for (std::size_t s = 0; s < sum.size(); ++s) sum[s] += counts.by_state[s];
    }
    for (const stores::Oldest& oldest : counted.oldest)
        by_name[oldest.queue].oldest_at = oldest.since;
    stores::Filter touched;
    touched.kind = domain::Kind::queue;
    CO_TRY(const stores::Page page,
           co_await store_.list(touched, {}, kLargestBatch, stores::kListBudget));
    for (const stores::ListRow& row : page.rows) by_name[row.header.queue];
    std::vector<QueueOverview> views;
    std::vector<std::string> names;
    for (auto& [name, view] : by_name) {
        view.name = name;
        names.push_back(name);
        views.push_back(std::move(view));
    }
    CO_TRY(const auto settings, co_await queues_.get(std::move(names)));
    for (std::size_t i = 0; i < views.size(); ++i) views[i].settings = settings[i];
    co_return views;
}

Async<Result<QueueSettings>> Engine::pause_queue(std::string name, By by) {
    const QueueSettings::Hold hold{by.who, by.why, now()};
    const auto edit = [hold](QueueSettings& s) {
        if (!s.paused) s.paused_by = hold;  // who did it first is who to ask
        s.paused = true;
    };
    return edit_queue(std::move(name), "pause", edit, domain::Event::paused, std::move(by));
}

Async<Result<QueueSettings>> Engine::resume_queue(std::string name, By by) {
    const auto edit = [](QueueSettings& s) {
        s.paused = false;
        s.paused_by.reset();
    };
    return edit_queue(std::move(name), "resume", edit, domain::Event::resumed, std::move(by));
}

Async<Result<QueueSettings>> Engine::close_queue(std::string name, By by) {
    const QueueSettings::Hold hold{by.who, by.why, now()};
    const auto edit = [hold](QueueSettings& s) {
        if (!s.closed) s.closed_by = hold;
        s.closed = true;
    };
    return edit_queue(std::move(name), "close", edit, domain::Event::paused, std::move(by));
}

Async<Result<QueueSettings>> Engine::open_queue(std::string name, By by) {
    const auto edit = [](QueueSettings& s) {
        s.closed = false;
        s.closed_by.reset();
    };
    return edit_queue(std::move(name), "open", edit, domain::Event::resumed, std::move(by));
}

Async<Result<QueueSettings>> Engine::limit_queue(std::string name, std::uint32_t concurrency,
                                                 double rate, By by) {
    if (!(rate >= 0 && rate <= 1e6)) co_return invalid("rate", "must be between 0 and 1000000");
    const auto edit = [concurrency, rate](QueueSettings& s) {
        s.concurrency = concurrency;
        s.rate = rate;
    };
    const Json detail = JsonObject{}
                            .add("concurrency", std::int64_t{concurrency})
                            .add("rate", Json::number(rate))
                            .done();
    co_return co_await edit_queue(std::move(name), "limits", edit, domain::Event::resumed,
                                  std::move(by), detail);
}

Async<Result<QueueSettings>> Engine::set_lanes_by_type(std::string name, bool on, By by) {
    return edit_queue(
        std::move(name), "limits", [on](QueueSettings& s) { s.lanes_by_type = on; },
        domain::Event::resumed, std::move(by),
        JsonObject{}.add("lanes_by_type", Json::of(on)).done());
}

}  // namespace holdfast::engine
