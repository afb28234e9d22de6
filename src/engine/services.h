// What runs beside the requests. Each is `run_once` (what tests call) and `run` (a loop until its group stops).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "engine/engine.h"

namespace holdfast::engine {

class Service {
  public:
    /// `every` is stretched or shrunk by up to a tenth, so that many instances do not beat together.
    Service(Engine& engine, Duration every, std::uint64_t seed)
        : engine_(engine), every_(every), rng_(seed), alarm_(engine.clock(), engine.executor()) {}
    virtual ~Service() = default;
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    /// One round. True: there is more to do at once.
    virtual Async<Result<bool>> run_once() = 0;
    /// Rounds until the group stops. A failed round is counted and tried again after the usual time.
    static Async<void> run(Service* service, TaskGroup* group);

    /// The next round is now, not when its time comes.
    void hurry() { alarm_.ring(); }

    std::uint64_t failures() const { return failures_; }
    const std::optional<Error>& last_error() const { return last_error_; }
    bool failing() const { return failing_; }  ///< The last round did.

  protected:
    Engine& engine() { return engine_; }

  private:
    Engine& engine_;
    Duration every_;
    Rng rng_;
    Alarm alarm_;
    std::uint64_t failures_ = 0;
    std::optional<Error> last_error_;
    bool failing_ = false;
};

/// Does what is due, and keeps our clock with the store's.
class Ticker final : public Service {
  public:
    explicit Ticker(Engine& engine, Duration every = std::chrono::milliseconds{200},
                    std::uint64_t seed = 1)
        : Service(engine, every, seed) {}
    Async<Result<bool>> run_once() override;
};

/// Something small that somebody else can do.
class Chore final : public Service {
  public:
    using Round = std::function<Async<Result<bool>>()>;
    Chore(Engine& engine, Round round, Duration every, std::uint64_t seed = 4)
        : Service(engine, every, seed), round_(std::move(round)) {}
    Async<Result<bool>> run_once() override { return round_(); }

  private:
    Round round_;
};

struct RetentionOptions {
    Duration finished = std::chrono::days{7};
    Duration feed = std::chrono::days{1};
    std::uint64_t finished_most = 0;  ///< Of all queues together, however young; 0: no limit.
};

/// Throws away what is old enough. Suspended tasks never are.
class Retention final : public Service {
  public:
    explicit Retention(Engine& engine, RetentionOptions options = {},
                       Duration every = std::chrono::seconds{10}, std::uint64_t seed = 2)
        : Service(engine, every, seed), options_(options) {}
    Async<Result<bool>> run_once() override;
    std::uint64_t removed() const { return removed_; }

  private:
    Async<Result<std::uint64_t>> too_many();

    RetentionOptions options_;
    std::uint64_t removed_ = 0;
};

/// What the doctor found. Every list must be empty in good health.
struct Diagnosis {
    std::uint64_t examined = 0;
    std::vector<TaskId> without_wake_source;  ///< Unfinished, in no lane, no timer, not parked.
    std::vector<TaskId> misplaced;  ///< In a lane without being queued, or the other way round.
    std::vector<TaskId> overdue;    ///< Their timer rang over a minute ago.
    std::vector<std::string>
        miscounted;  ///< Queue and state whose count disagrees with the records.
    bool healthy() const {
        return without_wake_source.empty() && misplaced.empty() && overdue.empty() &&
               miscounted.empty();
    }
};

/// Looks at every unfinished task, a page at a time.
class Doctor final : public Service {
  public:
    explicit Doctor(Engine& engine, Duration every = std::chrono::seconds{30},
                    std::uint64_t seed = 3)
        : Service(engine, every, seed) {}
    Async<Result<bool>> run_once() override;
    const Diagnosis& diagnosis() const { return diagnosis_; }

  private:
    Diagnosis diagnosis_;
};

}  // namespace holdfast::engine
