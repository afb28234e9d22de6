// What operators and other programs do to a task from outside.
#include "engine/engine.h"

namespace holdfast::engine {
namespace {

constexpr std::size_t kLongestReason = 1024;

}  // namespace

Result<> check_by(const By& by) {
    if (by.who.size() > kLongestReason || by.why.size() > kLongestReason)
        return invalid("reason", "is longer than 1024 bytes");
    return {};
}

Async<Result<Done>> Engine::signal(TaskId id, std::string signal_id, Json data) {
    CO_TRY_VOID(domain::check_token("signal.id", signal_id));
    CO_TRY_VOID(domain::check_size("data", data));
    co_return co_await step_one({id, domain::Signal{std::move(signal_id), std::move(data)}});
}

Async<Result<Done>> Engine::pause(TaskId id, By by) {
    CO_TRY_VOID(check_by(by));
    co_return co_await step_one({id, domain::Pause{std::move(by)}});
}

Async<Result<Done>> Engine::resume(TaskId id, By by, std::optional<Json> payload) {
    CO_TRY_VOID(check_by(by));
    if (payload) CO_TRY_VOID(domain::check_size("payload", *payload));
    co_return co_await step_one({id, domain::Resume{std::move(by), std::move(payload)}});
}

Async<Result<Done>> Engine::cancel(TaskId id, By by) {
    CO_TRY_VOID(check_by(by));
    co_return co_await step_one({id, domain::Cancel{std::move(by)}});
}

Async<Result<Done>> Engine::discard(TaskId id, By by) {
    CO_TRY_VOID(check_by(by));
    co_return co_await step_one({id, domain::Discard{std::move(by)}});
}

// ---- queues ----

Async<Result<QueueSettings>> Engine::edit_queue(std::string name, Queues::Edit edit,
                                                domain::Event event, By by) {
    CO_TRY_VOID(domain::check_name("queue", name));
    CO_TRY_VOID(check_by(by));
    auto settings =
        co_await queues_.edit(name, std::move(edit), event, std::move(by), now(), rng_() | 1);
    if (settings) waiters_.ring_all(name);
    co_return settings;
}

Async<Result<QueueSettings>> Engine::queue(std::string name) {
    CO_TRY_VOID(domain::check_name("queue", name));
    co_return co_await queues_.get(std::move(name));
}

Async<Result<QueueSettings>> Engine::pause_queue(std::string name, By by) {
    return edit_queue(
        std::move(name), [](QueueSettings& s) { s.paused = true; }, domain::Event::paused,
        std::move(by));
}

Async<Result<QueueSettings>> Engine::resume_queue(std::string name, By by) {
    return edit_queue(
        std::move(name), [](QueueSettings& s) { s.paused = false; }, domain::Event::resumed,
        std::move(by));
}

Async<Result<QueueSettings>> Engine::close_queue(std::string name, By by) {
    return edit_queue(
        std::move(name), [](QueueSettings& s) { s.closed = true; }, domain::Event::paused,
        std::move(by));
}

Async<Result<QueueSettings>> Engine::open_queue(std::string name, By by) {
    return edit_queue(
        std::move(name), [](QueueSettings& s) { s.closed = false; }, domain::Event::resumed,
        std::move(by));
}

Async<Result<QueueSettings>> Engine::limit_queue(std::string name, std::uint32_t concurrency,
                                                 double rate, By by) {
    if (!(rate >= 0 && rate <= 1e6)) co_return invalid("rate", "must be between 0 and 1000000");
    const auto edit = [concurrency, rate](QueueSettings& s) {
        s.concurrency = concurrency;
        s.rate = rate;
    };
    co_return co_await edit_queue(std::move(name), edit, domain::Event::resumed, std::move(by));
}

Async<Result<QueueSettings>> Engine::set_lanes_by_type(std::string name, bool on, By by) {
    return edit_queue(
        std::move(name), [on](QueueSettings& s) { s.lanes_by_type = on; }, domain::Event::resumed,
        std::move(by));
}

}  // namespace holdfast::engine
