#include "world.h"

#include <algorithm>
#include <cstdio>

#include "base/hash.h"
#include "sim_sqlite.h"
#include "sim_store.h"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTrouble = 20s;  ///< How long things go wrong …
constexpr Duration kRecovery =
    120s;  ///< … and how long they may take to be well again (I15, and backoffs).
constexpr Duration kTick = 500ms;

stores::Faults bad_line(Rng& rng) {
    return {.never_arrives = rng.chance(0.5) ? 0.02 : 0.0,
            .reply_lost = rng.chance(0.5) ? 0.03 : 0.0,
            .longest_delay = Duration{static_cast<std::int64_t>(rng.below(4)) * 3000}};
}

engine::Options options_for(Rng& rng) {
    engine::Options options;
    options.seed = rng() | 1;
    options.poll_interval = 1s;
    return options;
}

Duration skew(Rng& rng, bool skewed) {
    return skewed ? Duration{static_cast<std::int64_t>(rng.below(4'000'000)) - 2'000'000}
                  : Duration{0};
}

std::unique_ptr<SimulatedStore> make_store(VirtualTime& time, asio::io_context& context, Rng rng,
                                           const Setup& setup) {
    if (setup.sqlite)
        return std::make_unique<SimSqlite>(time, context.get_executor(), rng, setup.relaxed);
    return std::make_unique<SimStore>(time, context.get_executor(), rng, setup.bug);
}

}  // namespace

Process::Process(VirtualTime& time, SimulatedStore& store, const asio::any_io_executor& executor,
                 Rng& rng, bool skewed)
    : clock(time, skew(rng, skewed)),
      line(store, clock, executor, Rng(rng()), bad_line(rng)),
      engine(line, clock, executor, options_for(rng)),
      ticker(engine, kTick, rng()),
      retention(engine, {}, 10s, rng()) {}

World::World(std::uint64_t seed, Setup setup, bool print_trace)
    : rng_(mix(seed + 0x5eed)),
      bug_(setup.bug),
      print_trace_(print_trace),
      store_(make_store(time_, context_, Rng(rng_()), setup)),
      oracle_(*store_),
      embedded_(rng_.chance(0.4)) {}

void World::note(const std::string& what) {
    hash_ =
        hash64(what, hash_ ^ static_cast<std::uint64_t>(time_.now().time_since_epoch().count()));
    if (print_trace_) std::printf("%s %s\n", format_time(time_.now()).c_str(), what.c_str());
}

Async<void> World::sleep(Duration d) {
    Alarm alarm(true_clock_, context_.get_executor());
    co_await alarm.wait_for(d);
}

Duration World::some_time(Duration longest) {
    return Duration{
        static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(longest.count()) + 1))};
}

std::shared_ptr<Process> World::any_process() {
    return processes_.empty() ? nullptr : processes_[rng_.below(processes_.size())];
}

std::optional<Uuid> World::some_task() {
    if (known_.empty()) return std::nullopt;
    return known_[rng_.below(known_.size())];
}

void World::start_process() {
    auto process = std::make_shared<Process>(time_, *store_, context_.get_executor(), rng_,
                                             trouble_ && !embedded_);
    if (!trouble_) process->line.set_faults({});
    processes_.push_back(process);
    actors_.spawn(serve(process));
    note("a process starts");
}

void World::kill_process(std::size_t which) {
    note("a process dies");
    const auto victim = processes_[which];
    victim->alive = false;
    victim->line.cut();
    graveyard_.push_back(victim);
    processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(which));
}

/// What a process does by itself.
Async<void> World::serve(std::shared_ptr<Process> process) {
    while (process->alive && !over_) {
        co_await process->ticker.run_once();
        if (rng_.chance(0.1)) co_await process->retention.run_once();
        co_await sleep(kTick / 2 + some_time(kTick / 2));
    }
}

Async<void> World::misfortune() {
    while (trouble_) {
        co_await sleep(some_time(6s));
        if (!trouble_) break;
        const std::uint64_t what = rng_.below(10);
        if (what < 4) {
            // Half the time at the worst moment: while a group is on its way to the disk.
            const int patience = rng_.chance(0.5) ? 2000 : 0;
            for (int i = 0; i < patience && !store_->is_syncing(); ++i) co_await sleep(500us);
            // What is lost now, nobody may have seen.
            actors_.spawn(glance(this));
            co_await sleep(some_time(100us));
            note("the store loses power");
            const Duration outage = some_time(2s);
            if (embedded_) {
                while (!processes_.empty()) kill_process(0);
            }
            store_->crash(outage);
            oracle_.check_now(time_.now());
            co_await sleep(outage + 1ms);
            if (embedded_) start_process();
        } else if (what < 7 && !embedded_ && !processes_.empty()) {
            kill_process(rng_.below(processes_.size()));
            co_await sleep(some_time(1s));
            start_process();
        } else if (!processes_.empty()) {
            const auto process = any_process();
            process->clock.jump(some_time(60s) - 30s);
            note("a clock jumps");
        }
    }
}

Async<void> World::open_account() {
    domain::Change change;
    change.nonce = 1;
    domain::Put put;
    put.header.kind = domain::Kind::account;
    put.header.id = account_;
    put.header.version = 1;
    put.header.state = domain::State::running;
    put.header.created_at = put.transition.at = time_.now();
    change.puts.push_back(std::move(put));
    change.adds.push_back({"balance", kOpeningBalance, {}, {}});
    std::vector<domain::Change> changes;
    changes.push_back(std::move(change));
    co_await store_->commit(std::move(changes));
}

void World::step() {
    ++steps_;
    context_.restart();
    context_.poll();
    oracle_.check_now(time_.now());
}

void World::play_until(Time end) {
    while (time_.now() < end && !oracle_.violation()) {
        step();
        if (!time_.advance()) break;
    }
}

Async<void> World::shut_down() {
    co_await actors_.stop();
    co_await store_->stop();
}

bool World::all_is_done() {
    return store_->is_open() && std::ranges::all_of(store_->tasks(), [](const auto& task) {
               return task.durable && domain::is_final(task.row.header.state);
           });
}

Verdict World::run() {
    actors_.spawn(open_account());
    play_until(time_.now() + 100ms);
    const std::size_t processes = embedded_ ? 1 : 1 + rng_.below(3);
    for (std::size_t i = 0; i < processes; ++i) start_process();
    actors_.spawn(produce(this, 6 + rng_.below(10)));
    actors_.spawn(operate(this));
    actors_.spawn(spend(this));
    actors_.spawn(watch(this));
    actors_.spawn(misfortune());
    const std::size_t workers = 2 + rng_.below(3);
    for (std::size_t i = 0; i < workers; ++i) actors_.spawn(work(this, "w" + std::to_string(i)));
    play_until(time_.now() + kTrouble);

    trouble_ = false;
    note("the trouble is over");
    for (const auto& process : processes_) process->line.set_faults({});
    if (processes_.empty()) start_process();
    actors_.spawn(rescue(this));
    const Time deadline = time_.now() + kRecovery;
    while (time_.now() < deadline && !oracle_.violation()) {
        play_until(std::min(deadline, time_.now() + 5s));
        if (all_is_done()) break;
    }
    over_ = true;
    if (!oracle_.violation()) {
        oracle_.check_finished();
        oracle_.check_feed();
        oracle_.check_account(account_, kOpeningBalance);
    }
    bool down = false;
    asio::co_spawn(context_, shut_down(), [&](const std::exception_ptr&) { down = true; });
    do {
        context_.restart();
        context_.poll();
    } while (!down && time_.advance());
    return {oracle_.violation(), hash_, steps_};
}

}  // namespace holdfast::simulation
