// Clients of an engine that do a bit of everything, and repeat aloud what they were told.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "engine/engine.h"
#include "told.h"

namespace holdfast::chaos {

struct LoadOptions {
    std::uint64_t seed = 1;
    std::uint64_t life =
        1;  ///< Which life of the same store this is: later ones use earlier keys again.
    std::uint64_t calls = UINT64_MAX;  ///< The clients go home after so many.
    std::size_t largest_payload = 8 << 10;
};

inline const std::vector<std::string> kQueues{"a", "b"};
inline const Uuid kAccount = Uuid::named(Partition{0}, "account");
inline constexpr std::string_view kLedger = "ledger";
inline constexpr std::string_view kSpent = "spent";

/// The same key is always submitted with the same body.
domain::Submission keyed_submission(const std::string& key);

class Load {
  public:
    Load(engine::Engine& engine, LoadOptions options, Hear hear);
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    /// Everybody has gone home when `context` has nothing left to run.
    void start(asio::io_context& context);
    /// Whoever waits for an answer still waits; nobody asks for more.
    void stop() { over_ = true; }
    bool stopped() const { return over_; }
    std::uint64_t refused() const { return refused_; }  ///< Calls that were answered with an error.

  private:
    struct Attempt {
        Uuid id;
        domain::Fence fence;
    };
    Async<void> meet_old_tasks();
    Async<void> produce();
    Async<void> work(std::string name);
    Async<void> attempt(Attempt a, domain::State state);
    Async<void> end(Attempt a);
    Async<void> complete_all(std::vector<Attempt> attempts);
    Async<bool> reach_stage(Attempt a, std::string stage);
    Async<void> operate();
    Async<void> act(Uuid id, std::uint64_t what);
    Async<void> spend();
    Async<void> read();
    Async<void> tick();

    /// True: one more call may be made.
    bool take();
    Async<void> breathe(Duration d);
    domain::Submission some_submission();
    Json some_result();
    bool heard(const Attempt& a, domain::Event event, const Result<engine::Done>& answer,
               std::string text = {});
    void saw(const Uuid& id, domain::State state, std::uint64_t version);
    void remember(const Uuid& id);
    std::optional<Uuid> some_task();

    engine::Engine& engine_;
    LoadOptions options_;
    Hear hear_;
    Rng rng_;
    std::uint64_t calls_left_;
    std::uint64_t refused_ = 0;
    std::uint64_t serial_ = 0;
    bool over_ = false;
    std::vector<Uuid> known_;
};

}  // namespace holdfast::chaos
