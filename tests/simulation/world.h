// A whole installation in one thread and in virtual time: a store, some server processes, workers, producers,
// an operator, and misfortune. Everything follows from the seed.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bugs.h"
#include "engine/services.h"
#include "oracle.h"
#include "simulated_store.h"
#include "stores/layers/faulty_store.h"
#include "virtual_time.h"

namespace holdfast::simulation {

/// A server process. When it dies its line to the store is cut: nothing it still does has any effect, and
/// nobody hears from it.
struct Process {
    Process(VirtualTime& time, SimulatedStore& store, const asio::any_io_executor& executor,
            Rng& rng, bool skewed);

    ProcessClock clock;
    stores::FaultyStore line;
    engine::Engine engine;
    engine::Ticker ticker;
    engine::Retention retention;
    bool alive = true;
};

/// What a seed is played with.
struct Setup {
    bool sqlite = false;   ///< On the embedded store; else on the simulated one.
    bool relaxed = false;  ///< The embedded store with relaxed durability.
    Bug bug = Bug::none;   ///< Planted in the simulated store or its callers.
};

struct Verdict {
    std::optional<Violation> violation;
    std::uint64_t trace_hash = 0;
    std::uint64_t steps = 0;
};

class World {
  public:
    World(std::uint64_t seed, Setup setup, bool print_trace);
    Verdict run();

    // ---- for the actors ----
    Rng& rng() { return rng_; }
    Oracle& oracle() { return oracle_; }
    SimulatedStore& store() { return *store_; }
    Bug bug() const { return bug_; }
    VirtualTime& time() { return time_; }
    /// Misfortune happens only in the first part of a run.
    bool in_trouble() const { return trouble_; }
    bool over() const { return over_; }
    /// Some living process; none when all are down.
    std::shared_ptr<Process> any_process();
    Async<void> sleep(Duration d);
    Duration some_time(Duration longest);
    void note(const std::string& what);
    void remember(const Uuid& id) { known_.push_back(id); }
    std::optional<Uuid> some_task();
    const std::vector<Uuid>& known() const { return known_; }

    /// The answers of a process that died meanwhile do not reach anybody.
    template <class T>
    Async<T> from(std::shared_ptr<Process> process, Async<T> call, T lost) {
        T answer = co_await std::move(call);
        co_return process->alive ? std::move(answer) : std::move(lost);
    }

    Uuid account() const { return account_; }
    static constexpr std::int64_t kOpeningBalance = 1000;

  private:
    void start_process();
    void kill_process(std::size_t which);
    Async<void> serve(std::shared_ptr<Process> process);
    Async<void> misfortune();
    bool all_is_done();
    Async<void> open_account();
    void play_until(Time end);
    void step();
    Async<void> shut_down();

    Rng rng_;
    Bug bug_;
    bool print_trace_;
    VirtualTime time_;
    asio::io_context context_{1};
    ProcessClock true_clock_{time_};
    std::unique_ptr<SimulatedStore> store_;
    Oracle oracle_;
    bool embedded_;  ///< One process that is the store too: they die together.
    bool trouble_ = true;
    bool over_ = false;
    std::vector<std::shared_ptr<Process>> processes_;
    std::vector<std::shared_ptr<Process>>
        graveyard_;  ///< Their last calls may still be on the way.
    std::vector<Uuid> known_;
    Uuid account_ = Uuid::named(Partition{0}, "account");
    TaskGroup actors_{context_.get_executor()};
    std::uint64_t hash_ = 0;
    std::uint64_t steps_ = 0;
};

// ---- the actors ----
Async<void> produce(World* world, std::size_t tasks);
Async<void> work(World* world, std::string name);
Async<void> operate(World* world);
Async<void> spend(World* world);
Async<void> watch(World* world);
/// Asks the store itself for something, once.
Async<void> glance(World* world);
/// The operator who, at last, resumes whatever is parked and signals whatever waits.
Async<void> rescue(World* world);

}  // namespace holdfast::simulation
