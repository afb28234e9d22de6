#include "nodes/nodes.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

namespace holdfast::nodes {
namespace {

constexpr Duration kClaimWait = std::chrono::seconds{30};
/// A worker that does not read gets no more to read.
constexpr std::size_t kMostUnsent = std::size_t{1} << 20;
constexpr Duration kUnsentLook = std::chrono::milliseconds{10};
/// Tasks of one claim, together: what is claimed at once has to be held at once.
constexpr std::size_t kMostClaimedBytes = std::size_t{4} << 20;
/// … and while the worker has these, the next are claimed: many at once would keep it waiting for the last of them.
constexpr std::size_t kMostClaimed = 256;
/// Beyond so many calls under way the next frame is left with the transport.
constexpr std::size_t kMostCalls = 64;
constexpr Duration kShortestPause = std::chrono::milliseconds{50};
constexpr Duration kLongestPause = std::chrono::seconds{2};
constexpr Duration kIdleLook = std::chrono::hours{1};  // somebody rings before

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};

std::size_t bytes_of(const engine::ClaimedTask& task) {
    std::size_t bytes = task.record.body.size();
    for (const auto& entry : task.checkpoints) bytes += entry.bytes.size();
    for (const auto& entry : task.signals) bytes += entry.bytes.size();
    return bytes;
}

Of of_request(const Request& request) {
    return std::visit(
        Overloaded{[](const Complete&) { return Of::done; }, [](const Fail&) { return Of::fail; },
                   [](const Checkpoint&) { return Of::checkpoint; },
                   [](const Accept&) { return Of::ack; }, [](const Start&) { return Of::started; },
                   [](const auto&) { return Of::yield; }},
        request);
}

Async<engine::Each<engine::Done>> begin(engine::Engine& engine, Request& request) {
    using Answer = Async<engine::Each<engine::Done>>;
    return std::visit(
        Overloaded{[&](Complete& r) -> Answer { return engine.complete(std::move(r.items)); },
                   [&](Fail& r) -> Answer { return engine.fail(std::move(r.items)); },
                   [&](Yield& r) -> Answer { return engine.yield(std::move(r.items)); },
                   [&](Checkpoint& r) -> Answer { return engine.checkpoint(std::move(r.items)); },
                   [&](Accept& r) -> Answer { return engine.accept(std::move(r.items)); },
                   [&](Start& r) -> Answer { return engine.start(std::move(r.items)); },
                   [&](Renew&) -> Answer { std::unreachable(); }},
        request);
}

}  // namespace

WorkerStream::WorkerStream(engine::Engine& engine, Workers& workers, Line& line,
                           StreamOptions options)
    : engine_(engine),
      workers_(workers),
      line_(line),
      address_(std::move(options.address)),
      session_({std::move(options.instance), options.default_lease}, engine.clock().now()),
      rng_(options.seed == 0 ? Rng::from_system() : Rng(options.seed)),
      alarm_(engine.clock(), engine.executor()),
      room_(engine.clock(), engine.executor()),
      claims_(engine.executor()),
      calls_(engine.executor()),
      connected_at_(engine.clock().now()) {}

WorkerStream::~WorkerStream() {
    if (place_) workers_.leave(*place_);
}

Async<void> WorkerStream::run() {
    // Told to leave, it still waits for what it began.
    co_await asio::this_coro::throw_if_cancelled(false);
    for (;;) {
        const auto told = (co_await asio::this_coro::cancellation_state).cancelled();
        if (told != asio::cancellation_type::none) closed();
        if (is_over()) break;
        if (session_.state() == Session::State::draining && claims_.size() > 0)
            co_await claims_.stop();
        claim_if_wanted();
        co_await alarm_.wait_until(next_look());
        if (Actions late = session_.time_is(engine_.clock().now()); !late.empty())
            obey(std::move(late));
    }
    room_.ring();
    co_await claims_.stop();
    while (calls_under_way_ > 0) co_await alarm_.wait_for(kIdleLook);
    co_await calls_.stop();
    if (place_) workers_.leave(*std::exchange(place_, std::nullopt));
}

Time WorkerStream::next_look() const {
    const Time now = engine_.clock().now();
    if (session_.state() == Session::State::before_hello) return session_.hello_until();
    if (claiming_ || session_.wanted() == 0) return now + kIdleLook;
    return std::max(claim_from_, now + kUnsentLook);
}

// ---- what comes from outside ----

void WorkerStream::received(std::string_view frame) {
    obey(session_.received(frame, engine_.now()));
    keep_place();
    if (place_) (*place_)->worker.last_seen = engine_.clock().now();
}

Async<void> WorkerStream::room() {
    while (calls_under_way_ >= kMostCalls && !is_over()) co_await room_.wait_for(kIdleLook);
}

void WorkerStream::closed() {
    obey(session_.lost());
}

void WorkerStream::shut_down() {
    obey(session_.shut_down());
}

void WorkerStream::drain() {
    obey(session_.drain());
}

void WorkerStream::requested(const domain::TaskId& id, bool cancel, bool pause) {
    obey(session_.requested(id, cancel, pause));
}

// ---- what the session wants ----

void WorkerStream::obey(Actions todo) {
    for (Action& action : todo) std::visit([this](auto& what) { obey(std::move(what)); }, action);
    if (session_.wanted() > 0 && !claiming_) alarm_.ring();
    keep_place();
}

void WorkerStream::obey(Send send) {
    line_.send(std::move(send.frame));
}

void WorkerStream::obey(Close close) {
    line_.close(close.reason);
}

void WorkerStream::obey(Ask ask) {
    ++calls_under_way_;
    const bool renews = std::holds_alternative<Renew>(ask.request);
    calls_.spawn(renews ? renew(std::move(ask)) : call(std::move(ask)));
}

Async<void> WorkerStream::call(Ask ask) {
    const Of of = of_request(ask.request);
    const auto answers = co_await begin(engine_, ask.request);
    obey(session_.answered(of, ask.refs, ask.silent, answers));
    call_ended();
}

Async<void> WorkerStream::renew(Ask ask) {
    const auto answers = co_await engine_.heartbeat(std::move(std::get<Renew>(ask.request).items));
    obey(session_.renewed(ask.refs, answers));
    call_ended();
}

void WorkerStream::call_ended() {
    if (calls_under_way_-- == kMostCalls) room_.ring();
    if (calls_under_way_ == 0 && is_over()) alarm_.ring();
}

/// What GET /v1/workers shows of us.
void WorkerStream::keep_place() {
    if (is_over() || session_.state() == Session::State::before_hello) return;
    if (!place_) {
        const Hello& hello = session_.hello();
        place_ = workers_.join({.worker = {.name = hello.worker,
                                           .address = address_,
                                           .queues = hello.queues,
                                           .models = hello.models,
                                           .labels = hello.labels,
                                           .slots = hello.slots,
                                           .running = 0,
                                           .connected_at = connected_at_,
                                           .last_seen = engine_.clock().now(),
                                           .draining = false,
                                           .stream = true},
                                .drain = [this] { drain(); },
                                .requested = [this](const Uuid& id, bool cancel,
                                                    bool pause) { requested(id, cancel, pause); }});
    }
    Worker& worker = (*place_)->worker;
    worker.running = session_.running();
    worker.draining = session_.state() == Session::State::draining;
}

// ---- claiming ----

std::uint32_t WorkerStream::claim_size() const {
    std::size_t most = std::min(session_.wanted(), kMostClaimed);
    if (task_bytes_ > 0) most = std::min(most, 1 + kMostClaimedBytes / task_bytes_);
    return static_cast<std::uint32_t>(most);
}

void WorkerStream::claim_if_wanted() {
    if (claiming_ || session_.wanted() == 0 || engine_.clock().now() < claim_from_ ||
        line_.unsent_bytes() > kMostUnsent)
        return;
    const Hello& hello = session_.hello();
    claiming_ = true;
    claims_.spawn(claim({.queues = hello.queues,
                         .types = hello.types,
                         .worker = hello.worker,
                         .max = claim_size(),
                         .lease = hello.lease,
                         .wait = kClaimWait,
                         .acks = hello.acks}));
}

Async<void> WorkerStream::claim(engine::ClaimCall call) {
    const auto tasks = co_await engine_.claim(std::move(call));
    claiming_ = false;
    if (!tasks) {
        back_off();
        obey(session_.claim_failed(tasks.error()));
    } else {
        pause_ = Duration{0};
        std::size_t bytes = 0;
        for (const engine::ClaimedTask& task : *tasks) bytes += bytes_of(task);
        if (!tasks->empty()) task_bytes_ = bytes / tasks->size();
        obey(session_.claimed(*tasks));
    }
    alarm_.ring();
}

/// Longer each time, and not with all the others at once.
void WorkerStream::back_off() {
    pause_ = std::clamp(pause_ * 2, kShortestPause, kLongestPause);
    claim_from_ = engine_.clock().now() +
                  std::chrono::duration_cast<Duration>(pause_ * (0.5 + 0.5 * rng_.unit()));
}

}  // namespace holdfast::nodes
