// Who lives in the simulated world.
#include <algorithm>

#include "world.h"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;
using domain::Event;
using domain::Fence;
using domain::State;

const std::vector<std::string> kQueues{"a", "b"};
const Error kGone{Code::unavailable, "the connection broke", {}};

template <class T>
engine::Each<T> all_gone() {
    return engine::Each<T>(1, std::unexpected(kGone));
}

template <class T>
std::vector<T> one(T item) {
    std::vector<T> items;
    items.push_back(std::move(item));
    return items;
}

domain::Submission some_submission(Rng& rng) {
    domain::Submission s;
    s.type = rng.chance(0.5) ? "resize" : "train";
    s.queue = kQueues[rng.below(kQueues.size())];
    s.priority = static_cast<std::uint8_t>(rng.below(10));
    s.payload = Json::of(static_cast<std::int64_t>(rng.below(1000)));
    s.policy.backoff = {.schedule = {1s, 2s}, .jitter = 0.2};
    s.policy.max = static_cast<std::uint16_t>(2 + rng.below(3));
    if (rng.chance(0.2)) s.delay = Duration{static_cast<std::int64_t>(rng.below(5'000'000))};
    if (rng.chance(0.2))
        s.policy.timeout = 5s + Duration{static_cast<std::int64_t>(rng.below(20'000'000))};
    if (rng.chance(0.5)) s.policy.on_timeout = domain::Ending::fail;
    if (rng.chance(0.2)) s.policy.on_exhausted = domain::Ending::fail;
    if (rng.chance(0.3)) s.policy.on_outage = domain::OnOutage::hold;
    if (rng.chance(0.4)) {
        s.gate = rng.chance(0.5) ? "gpu" : "disk";
        s.gate_limit = s.gate == "gpu" ? 1 : 2;
    }
    return s;
}

// ---- a worker's attempt at a task ----

struct Attempt {
    World* world;
    std::string worker;
    Uuid id;
    Fence fence;
    Duration lease{0};
};

void tell(const Attempt& a, Event event, const Result<engine::Done>& answer) {
    a.world->note(a.worker + ' ' + std::string(to_string(event)) + ' ' + a.id.text() + ' ' +
                  (answer ? std::string(to_string(answer->state))
                          : std::string(to_string(answer.error().code))));
    if (answer) a.world->oracle().answered(a.id, event, a.fence, *answer);
}

/// Bug::no_fencing: whoever calls, the current holder's fence is put on the call.
Fence fence_of(const Attempt& a) {
    if (a.world->bug() != Bug::no_fencing) return a.fence;
    const auto header = a.world->store().header({domain::Kind::task, a.id});
    return header ? header->fence() : a.fence;
}

/// One call to some process, late by chance.
Async<Result<engine::Done>> call_once(Attempt a, Event event, std::string stage,
                                      std::uint64_t how) {
    co_await a.world->sleep(a.world->some_time(20ms));
    const auto process = a.world->any_process();
    if (!process) co_return std::unexpected(kGone);
    engine::Engine& engine = process->engine;
    const Fence fence = fence_of(a);
    Async<engine::Each<engine::Done>> call;
    switch (event) {
        case Event::accepted:
            call = engine.accept(one(engine::Ack{a.id, fence}));
            break;
        case Event::started:
            call = engine.start(one(engine::Ack{a.id, fence}));
            break;
        case Event::completed:
            call = engine.complete(one(engine::Completion{a.id, fence, Json::quoted(a.worker)}));
            break;
        case Event::failed: {
            const auto kind = how % 8 == 0   ? domain::ErrorKind::permanent
                              : how % 3 == 0 ? domain::ErrorKind::dependency_down
                                             : domain::ErrorKind::transient;
            call = engine.fail(
                one(engine::FailureReport{a.id, fence, {kind, "it broke", {}, {}}, {}}));
            break;
        }
        case Event::yielded: {
            engine::GivingBack back{a.id, fence, {}, how % 3 == 0};
            if (how % 2 == 0) back.after = Duration{static_cast<std::int64_t>(how % 3'000'000)};
            call = engine.yield(one(back));
            break;
        }
        default:
            call = engine.checkpoint(one(engine::StageDone{a.id, fence, stage, Json{}}));
            break;
    }
    auto answers = co_await a.world->from(process, std::move(call), all_gone<engine::Done>());
    co_return std::move(answers.front());
}

/// Says it until somebody answers; sometimes says it twice.
Async<Result<engine::Done>> say(Attempt a, Event event, std::string stage = {}) {
    const std::uint64_t how = a.world->rng()();
    Result<engine::Done> answer = std::unexpected(kGone);
    for (int tries = 0; tries < 6 && !a.world->over(); ++tries) {
        answer = co_await call_once(a, event, stage, how);
        tell(a, event, answer);
        if (answer && a.world->rng().chance(0.1)) {
            const auto again = co_await call_once(a, event, stage, how);
            tell(a, event, again);
        }
        const bool silent = !answer && (answer.error().code == Code::unavailable ||
                                        answer.error().code == Code::overloaded);
        if (!silent) break;
        co_await a.world->sleep(a.world->some_time(1s));
    }
    // After a pause or cancel at an earlier stage the answer is that one again, and nothing was written.
    const bool written = answer && (answer->state == State::running || !answer->duplicate);
    if (written && event == Event::checkpointed) a.world->oracle().stage_written(a.id, stage);
    co_return answer;
}

Async<bool> beat(Attempt a) {
    const auto process = a.world->any_process();
    if (!process) co_return true;
    auto beats = co_await a.world->from(
        process,
        process->engine.heartbeat(one(engine::Heartbeat{a.id, a.fence, a.lease, 0.5F, {}})),
        all_gone<engine::Beat>());
    if (beats.front()) a.world->oracle().renewed(a.id, a.fence, beats.front()->lease_until);
    co_return beats.front() || beats.front().error().code != Code::stale_lease;
}

/// True: go on with the task.
Async<bool> run_stages(Attempt a) {
    const std::size_t stages = 1 + a.world->rng().below(3);
    for (std::size_t i = 0; i < stages; ++i) {
        co_await a.world->sleep(a.world->some_time(a.lease / 2));
        const auto answer = co_await say(a, Event::checkpointed, "stage-" + std::to_string(i));
        if (!answer || answer->state != State::running) co_return false;
    }
    co_return true;
}

/// The same worker may hold several tasks and is slow with some: then it is late, and must be refused.
Async<void> attempt(Attempt a, State state) {
    World& world = *a.world;
    Rng& rng = world.rng();
    const bool careful = !world.in_trouble();
    if (state == State::dispatched) {
        if (rng.chance(0.7)) co_await say(a, Event::accepted);
        if (!co_await say(a, Event::started)) co_return;
    }
    if (!careful && rng.chance(0.12)) co_return;  // dies with it
    if (rng.chance(0.3) && !co_await run_stages(a)) co_return;
    const Duration effort = careful ? world.some_time(a.lease / 4) : world.some_time(a.lease * 2);
    const bool beats = careful || rng.chance(0.6);
    for (Duration spent{0}; spent < effort; spent += a.lease / 3) {
        co_await world.sleep(std::min(a.lease / 3, effort - spent));
        if (beats && !co_await beat(a)) co_return;
    }
    const std::uint64_t ending = careful ? 0 : rng.below(10);
    co_await say(a, ending < 5 ? Event::completed : ending < 8 ? Event::failed : Event::yielded);
}

/// Nothing, when a page was not answered.
Async<std::optional<std::vector<stores::ListRow>>> list_all(std::shared_ptr<Process> process,
                                                            std::size_t limit) {
    std::vector<stores::ListRow> rows;
    std::string cursor;
    do {
        auto page = co_await process->engine.list({}, cursor, limit);
        if (!page) co_return std::nullopt;
        std::ranges::move(page->rows, std::back_inserter(rows));
        cursor = page->next;
    } while (!cursor.empty());
    co_return rows;
}

engine::ClaimCall some_claim(World& world, const std::string& name) {
    Rng& rng = world.rng();
    engine::ClaimCall call{.queues = kQueues, .types = {}, .worker = name};
    call.max = 1 + static_cast<std::uint32_t>(rng.below(3));
    call.lease = 1s + world.some_time(3s);
    call.wait = rng.chance(0.5) ? world.some_time(2s) : Duration{0};
    call.acks = rng.chance(0.3);
    return call;
}

}  // namespace

Async<void> work(World* world, std::string name) {
    while (!world->over()) {
        co_await world->sleep(20ms + world->some_time(400ms));
        const auto process = world->any_process();
        if (!process) continue;
        engine::ClaimCall call = some_claim(*world, name);
        const Duration lease = call.lease;
        auto tasks = co_await world->from<Result<std::vector<engine::ClaimedTask>>>(
            process, process->engine.claim(std::move(call)), std::unexpected(kGone));
        if (!tasks) continue;
        for (const engine::ClaimedTask& task : *tasks) {
            const domain::Header& h = task.record.header;
            world->note(name + " claimed " + h.id.text() + " attempt " + std::to_string(h.attempt));
            world->oracle().claimed(h);
        }
        for (const engine::ClaimedTask& task : *tasks) {
            const domain::Header& h = task.record.header;
            co_await attempt({world, name, h.id, h.fence(), lease}, h.state);
        }
    }
}

Async<void> produce(World* world, std::size_t tasks) {
    for (std::size_t i = 0; i < tasks; ++i) {
        co_await world->sleep(world->some_time(1500ms));
        domain::Submission submission = some_submission(world->rng());
        if (world->rng().chance(0.4)) submission.idempotency_key = "key-" + std::to_string(i);
        const int times = submission.idempotency_key.empty() ? 1 : 3;
        for (int n = 0; n < times; ++n) {
            const auto process = world->any_process();
            if (!process) break;
            auto receipts = co_await world->from(process, process->engine.submit(one(submission)),
                                                 all_gone<engine::Receipt>());
            world->note("submitted: " +
                        std::string(receipts.front() ? receipts.front()->id.text()
                                                     : to_string(receipts.front().error().code)));
            if (!receipts.front()) continue;
            world->oracle().accepted(*receipts.front(), submission.idempotency_key);
            world->remember(receipts.front()->id);
        }
    }
}

Async<void> operate(World* world) {
    while (world->in_trouble()) {
        co_await world->sleep(world->some_time(2s));
        const auto process = world->any_process();
        const auto id = world->some_task();
        if (!process || !id) continue;
        engine::Engine& engine = process->engine;
        const engine::By by{"operator", "because"};
        const std::uint64_t what = world->rng().below(12);
        Async<Result<engine::Done>> call =
            what < 3    ? engine.pause(*id, by)
            : what < 7  ? engine.resume(*id, by)
            : what < 9  ? engine.signal(*id, "s" + std::to_string(world->rng().below(4)), {})
            : what < 11 ? engine.cancel(*id, by)
                        : engine.discard(*id, by);
        const auto answer = co_await world->from<Result<engine::Done>>(process, std::move(call),
                                                                       std::unexpected(kGone));
        world->note(
            "operator " + std::to_string(what) + ' ' + id->text() + ' ' +
            std::string(answer ? to_string(answer->state) : to_string(answer.error().code)));
        const auto read = co_await world->from<Result<domain::Record>>(process, engine.get(*id),
                                                                       std::unexpected(kGone));
        if (read) world->oracle().read(read->header);
        if (!read && read.error().code == Code::not_found) world->oracle().missed(*id);
    }
}

/// Takes units from a shared account straight through the port, repeating what was not answered.
Async<void> spend(World* world) {
    for (int n = 0; world->in_trouble(); ++n) {
        co_await world->sleep(world->some_time(3s));
        const std::string key = "spend-" + std::to_string(n);
        for (int tries = 0; tries < 5; ++tries) {
            const auto process = world->any_process();
            if (!process) break;
            domain::Change change;
            change.appends.push_back(
                {"ledger", world->account(), key, Bytes("1"), domain::Append::Existing::refuse});
            change.adds.push_back({"balance", -1, 0, {}});
            const auto outcomes = co_await world->from<Result<std::vector<stores::Outcome>>>(
                process, process->line.commit(one(std::move(change))), std::unexpected(kGone));
            if (!outcomes) continue;
            world->oracle().spent(key);
            break;
        }
    }
}

/// Reads what anybody may read, and remembers it.
Async<void> watch(World* world) {
    while (!world->over()) {
        co_await world->sleep(world->some_time(1s));
        const auto process = world->any_process();
        if (!process) continue;
        const std::size_t limit = 1 + world->rng().below(30);
        const std::uint64_t what = world->rng().below(3);
        const auto accepted = world->oracle().tasks();
        if (what == 0) {
            const std::string place = world->oracle().feed_place();
            const auto page = co_await world->from<Result<stores::FeedPage>>(
                process, process->engine.feed(place, limit), std::unexpected(kGone));
            if (page) world->oracle().followed(place, *page);
        } else if (what == 1) {
            const auto rows = co_await world->from<std::optional<std::vector<stores::ListRow>>>(
                process, list_all(process, limit), std::nullopt);
            if (rows) world->oracle().listed(*rows, accepted);
        } else {
            const auto stats = co_await world->from<Result<stores::Stats>>(
                process, process->engine.stats(), std::unexpected(kGone));
            if (stats) world->oracle().counted(*stats, accepted.size());
        }
    }
}

Async<void> glance(World* world) {
    SimulatedStore& store = world->store();
    Oracle& oracle = world->oracle();
    const std::uint64_t what = world->rng().below(4);
    if (what == 0) {
        const std::string place = oracle.feed_place();
        const auto page = co_await store.feed(place, 1000);
        if (page) oracle.followed(place, *page);
    } else if (what == 1) {
        const auto page = co_await store.list({}, {}, 1000, stores::kListBudget);
        if (page) oracle.listed(page->rows, {});
    } else if (what == 2) {
        std::vector<domain::Key> keys;
        for (const Uuid& id : world->known()) keys.emplace_back(domain::Kind::task, id);
        const auto records = co_await store.load(std::move(keys));
        if (!records) co_return;
        for (std::size_t i = 0; i < records->size(); ++i) {
            const auto& record = (*records)[i];
            record ? oracle.read(record->header) : oracle.missed(world->known()[i]);
        }
    } else {
        stores::ClaimRequest request;
        for (const std::string& queue : kQueues) request.queues.push_back({queue, {}});
        request.worker = "glance";
        request.max = 3;
        request.lease = 1s;
        const auto records = co_await store.claim(std::move(request));
        if (!records) co_return;
        for (const domain::Record& record : *records) oracle.claimed(record.header);
    }
}

Async<void> rescue(World* world) {
    while (!world->over()) {
        co_await world->sleep(1s);
        const auto process = world->any_process();
        if (!process) continue;
        stores::Filter parked;
        parked.states = {State::paused, State::suspended, State::waiting};
        const auto page = co_await process->engine.list(parked, {}, 100);
        if (!page) continue;
        for (const stores::ListRow& row : page->rows) {
            co_await process->engine.resume(row.header.id, {"operator", "rescue"});
        }
    }
}

}  // namespace holdfast::simulation
