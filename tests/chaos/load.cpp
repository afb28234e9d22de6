#include "load.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;
using domain::Event;
using domain::State;
using What = Told::What;

constexpr std::size_t kMostKnown = 1000;
constexpr std::uint64_t kKeysPerLife = 200;
const engine::By kOperator{"operator", "because"};

template <class T>
std::vector<T> one(T item) {
    std::vector<T> items;
    items.push_back(std::move(item));
    return items;
}

std::string filler(Rng& rng, std::size_t most) {
    const std::size_t size = rng.chance(0.1) ? rng.below(most) : rng.below(100);
    return std::string(size, static_cast<char>('a' + rng.below(26)));
}

Duration some_time(Rng& rng, Duration longest) {
    return Duration{
        static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(longest.count())))};
}

}  // namespace

domain::Submission keyed_submission(const std::string& key) {
    Rng rng(hash64(key));
    domain::Submission s;
    s.type = "keyed";
    s.queue = kQueues[rng.below(kQueues.size())];
    s.idempotency_key = key;
    s.payload = Json::quoted(filler(rng, 500));
    s.policy.backoff = {.schedule = {20ms, 100ms}, .jitter = 0.2};
    return s;
}

Load::Load(engine::Engine& engine, LoadOptions options, Hear hear)
    : engine_(engine),
      options_(options),
      hear_(std::move(hear)),
      rng_(mix(options.seed ^ options.life)),
      calls_left_(options.calls) {}

void Load::start(asio::io_context& context) {
    const auto spawn = [&](Async<void> actor) {
        asio::co_spawn(context, std::move(actor), [](const std::exception_ptr& failure) {
            if (failure) std::rethrow_exception(failure);
        });
    };
    spawn(meet_old_tasks());
    for (int i = 0; i < 2; ++i) spawn(produce());
    for (int i = 0; i < 3; ++i) spawn(work("w" + std::to_string(i)));
    spawn(operate());
    spawn(spend());
    spawn(read());
    spawn(tick());
}

bool Load::take() {
    if (calls_left_ == 0) over_ = true;
    if (over_) return false;
    --calls_left_;
    return true;
}

Async<void> Load::breathe(Duration d) {
    Alarm alarm(engine_.clock(), engine_.executor());
    co_await alarm.wait_for(d);
}

void Load::remember(const Uuid& id) {
    if (known_.size() < kMostKnown) {
        known_.push_back(id);
    } else {
        known_[rng_.below(kMostKnown)] = id;
    }
}

std::optional<Uuid> Load::some_task() {
    if (known_.empty()) return std::nullopt;
    return known_[rng_.below(known_.size())];
}

// ---- what was told ----

bool Load::heard(const Attempt& a, Event event, const Result<engine::Done>& answer,
                 std::string text) {
    if (!answer) {
        ++refused_;
        return false;
    }
    Told told{.what = What::stepped, .id = a.id, .event = event, .state = answer->state};
    told.attempt = a.fence.attempt;
    told.epoch = a.fence.epoch;
    told.version = answer->duplicate ? 0 : answer->version;
    told.text = std::move(text);
    hear_(told);
    return true;
}

void Load::saw(const Uuid& id, State state, std::uint64_t version) {
    hear_({.what = What::seen, .id = id, .state = state, .version = version});
}

// ---- producers ----

domain::Submission Load::some_submission() {
    if (rng_.chance(0.4)) {
        const std::uint64_t life = rng_.chance(0.3) ? 1 + rng_.below(options_.life) : options_.life;
        return keyed_submission("k" + std::to_string(life) + "-" +
                                std::to_string(rng_.below(kKeysPerLife)));
    }
    domain::Submission s;
    s.type = rng_.chance(0.5) ? "resize" : "train";
    s.queue = kQueues[rng_.below(kQueues.size())];
    s.priority = static_cast<std::uint8_t>(rng_.below(10));
    s.payload = Json::quoted(filler(rng_, options_.largest_payload));
    s.policy.backoff = {.schedule = {20ms, 100ms}, .jitter = 0.2};
    s.policy.max = static_cast<std::uint16_t>(1 + rng_.below(3));
    if (rng_.chance(0.1)) s.labels.emplace_back("colour", rng_.chance(0.5) ? "red" : "blue");
    if (rng_.chance(0.2)) s.delay = some_time(rng_, 200ms);
    if (rng_.chance(0.2)) s.policy.timeout = 1s + some_time(rng_, 3s);
    if (rng_.chance(0.5)) s.policy.on_timeout = domain::Ending::fail;
    if (rng_.chance(0.3)) s.policy.on_exhausted = domain::Ending::fail;
    if (rng_.chance(0.2)) {
        s.gate = rng_.chance(0.5) ? "gpu" : "disk";
        s.gate_limit = s.gate == "gpu" ? 2 : 4;
    }
    return s;
}

Async<void> Load::produce() {
    while (take()) {
        std::vector<domain::Submission> batch;
        const std::size_t size = rng_.chance(0.2) ? 1 + rng_.below(20) : 1 + rng_.below(3);
        std::vector<std::string> keys;
        for (std::size_t i = 0; i < size; ++i) {
            batch.push_back(some_submission());
            keys.push_back(batch.back().idempotency_key);
        }
        const auto receipts = co_await engine_.submit(std::move(batch));
        for (std::size_t i = 0; i < receipts.size(); ++i) {
            if (!receipts[i]) {
                ++refused_;
                continue;
            }
            hear_({.what = What::accepted, .id = receipts[i]->id, .text = keys[i]});
            remember(receipts[i]->id);
        }
        co_await breathe(some_time(rng_, 20ms));
    }
}

// ---- workers ----

Json Load::some_result() {
    return Json::quoted("result " + std::to_string(options_.life) + "-" +
                        std::to_string(++serial_) + filler(rng_, 3000));
}

Async<void> Load::work(std::string name) {
    while (take()) {
        engine::ClaimCall call{.queues = kQueues, .types = {}, .worker = name};
        call.max = 1 + static_cast<std::uint32_t>(rng_.below(8));
        call.lease = 1s + some_time(rng_, 1s);
        call.wait = rng_.chance(0.5) ? some_time(rng_, 100ms) : Duration{0};
        call.acks = rng_.chance(0.2);
        const auto tasks = co_await engine_.claim(std::move(call));
        if (!tasks) ++refused_;
        if (!tasks || tasks->empty()) {
            co_await breathe(10ms);
            continue;
        }
        std::vector<Attempt> attempts;
        for (const engine::ClaimedTask& task : *tasks) {
            const domain::Header& h = task.record.header;
            hear_(
                {What::claimed, h.id, Event::claimed, h.state, h.attempt, h.epoch, h.version, {}});
            attempts.push_back({h.id, h.fence()});
        }
        if (rng_.chance(0.3)) {
            co_await complete_all(std::move(attempts));
            continue;
        }
        for (std::size_t i = 0; i < attempts.size() && !over_; ++i)
            co_await attempt(attempts[i], (*tasks)[i].record.header.state);
    }
}

Async<void> Load::complete_all(std::vector<Attempt> attempts) {
    std::vector<engine::Completion> items;
    for (const Attempt& a : attempts) items.push_back({a.id, a.fence, some_result()});
    const auto answers = co_await engine_.complete(items);
    for (std::size_t i = 0; i < answers.size(); ++i)
        heard(attempts[i], Event::completed, answers[i], items[i].result.text());
}

Async<void> Load::attempt(Attempt a, State state) {
    if (state == State::dispatched) {
        if (rng_.chance(0.5))
            heard(a, Event::accepted,
                  (co_await engine_.accept(one(engine::Ack{a.id, a.fence}))).front());
        if (!heard(a, Event::started,
                   (co_await engine_.start(one(engine::Ack{a.id, a.fence}))).front()))
            co_return;
    }
    if (rng_.chance(0.1)) co_return;  // the worker dies with it
    const std::size_t stages = rng_.chance(0.3) ? 1 + rng_.below(2) : 0;
    for (std::size_t i = 0; i < stages; ++i) {
        if (!co_await reach_stage(a, "stage-" + std::to_string(i))) co_return;
    }
    if (rng_.chance(0.1)) {
        const auto beat =
            co_await engine_.heartbeat(one(engine::Heartbeat{a.id, a.fence, 1s, 0.5F, "half"}));
        if (!beat.front()) co_return;
    }
    co_await end(a);
}

/// True: the task goes on.
Async<bool> Load::reach_stage(Attempt a, std::string stage) {
    const auto answers = co_await engine_.checkpoint(
        one(engine::StageDone{a.id, a.fence, stage, Json::quoted("x")}));
    const Result<engine::Done>& answer = answers.front();
    // A stage that an earlier attempt wrote is no step of this one.
    if (!answer) co_return false;
    if (!answer->duplicate) heard(a, Event::checkpointed, answer);
    if (answer->state == State::running || !answer->duplicate)
        hear_({.what = What::staged, .id = a.id, .text = stage});
    co_return answer->state == State::running;
}

Async<void> Load::end(Attempt a) {
    const std::uint64_t how = rng_.below(10);
    if (how < 6) {
        const Json result = some_result();
        const auto answers =
            co_await engine_.complete(one(engine::Completion{a.id, a.fence, result}));
        heard(a, Event::completed, answers.front(), result.text());
    } else if (how < 9) {
        constexpr std::array kKinds{domain::ErrorKind::transient, domain::ErrorKind::permanent,
                                    domain::ErrorKind::dependency_down};
        const domain::Failure failure{kKinds[rng_.below(kKinds.size())], "it broke", {}, {}};
        const auto answers =
            co_await engine_.fail(one(engine::FailureReport{a.id, a.fence, failure, {}}));
        heard(a, Event::failed, answers.front());
    } else {
        engine::GivingBack back{a.id, a.fence, {}, rng_.chance(0.3)};
        if (rng_.chance(0.5)) back.after = some_time(rng_, 100ms);
        const auto answers = co_await engine_.yield(one(back));
        heard(a, Event::yielded, answers.front());
    }
}

// ---- everybody else ----

Async<void> Load::meet_old_tasks() {
    const auto page = co_await engine_.list({}, {}, 200);
    if (!page) co_return;
    for (const stores::ListRow& row : page->rows) {
        if (!domain::is_final(row.header.state)) remember(row.header.id);
    }
}

Async<void> Load::act(Uuid id, std::uint64_t what) {
    const std::string signal = "s" + std::to_string(rng_.below(4));
    Async<Result<engine::Done>> call;
    Event event = Event::none;
    if (what < 3) {
        call = engine_.pause(id, kOperator);
        event = Event::paused;
    } else if (what < 7) {
        std::optional<Json> payload;
        if (rng_.chance(0.2)) payload = Json::quoted(filler(rng_, 1000));
        call = engine_.resume(id, kOperator, payload);
        event = Event::resumed;
    } else if (what < 9) {
        call = engine_.signal(id, signal, Json::quoted("y"));
        event = Event::signalled;
    } else if (what < 11) {
        call = engine_.cancel(id, kOperator);
        event = Event::cancelled;
    } else {
        call = engine_.discard(id, kOperator);
        event = Event::discarded;
    }
    const auto answer = co_await std::move(call);
    if (heard({id, {}}, event, answer) && event == Event::signalled)
        hear_({.what = What::signalled, .id = id, .text = signal});
}

Async<void> Load::operate() {
    for (std::uint32_t n = 0; take(); ++n) {
        if (const auto id = some_task()) co_await act(*id, rng_.below(12));
        if (n % 16 == 3) {  // grows with every life, so that a lost change shows
            const auto limit = static_cast<std::uint32_t>(20 + 1000 * options_.life + n);
            const std::string& queue = kQueues[rng_.below(kQueues.size())];
            const auto answer = co_await engine_.limit_queue(queue, limit, 0, kOperator);
            if (answer) hear_({.what = What::limited, .version = limit, .text = queue});
        }
        co_await breathe(some_time(rng_, 50ms));
    }
}

/// Straight through the port: an entry in a log and a counter, which must stay together.
Async<void> Load::spend() {
    while (take()) {
        const std::string key =
            "spend-" + std::to_string(options_.life) + "-" + std::to_string(++serial_);
        domain::Change change;
        change.nonce = rng_() | 1;
        change.appends.push_back(
            {std::string(kLedger), kAccount, key, Bytes("1"), domain::Append::Existing::refuse});
        change.adds.push_back({std::string(kSpent), 1, {}, {}});
        const auto outcomes = co_await engine_.store().commit(one(std::move(change)));
        if (outcomes && outcomes->front().verdict == stores::Verdict::committed)
            hear_({.what = What::spent, .text = key});
        co_await breathe(some_time(rng_, 100ms));
    }
}

/// What a reader saw must stay true as well.
Async<void> Load::read() {
    std::string place = "now";
    while (take()) {
        co_await breathe(some_time(rng_, 50ms));
        const auto id = some_task();
        const std::uint64_t what = rng_.below(4);
        if (what == 0 && id) {
            const auto record = co_await engine_.get(*id);
            if (record) saw(*id, record->header.state, record->header.version);
        } else if (what == 1 && id) {
            const auto rows = co_await engine_.history(*id);
            if (rows && !rows->empty()) saw(*id, rows->back().to, rows->size());
        } else if (what == 2) {
            const auto page = co_await engine_.list({}, {}, 10);
            if (!page) continue;
            for (const stores::ListRow& row : page->rows)
                saw(row.header.id, row.header.state, row.header.version);
        } else {
            const auto page = co_await engine_.feed(place, 50);
            if (!page) continue;
            for (const domain::FeedEvent& event : page->events) {
                if (event.subject.kind == domain::Kind::task)
                    saw(event.subject.id, event.to, event.version);
            }
            place = page->next;
        }
    }
}

Async<void> Load::tick() {
    while (!over_) {
        co_await engine_.tick(64);
        co_await breathe(20ms);
    }
}

}  // namespace holdfast::chaos
