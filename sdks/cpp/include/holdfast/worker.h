// A worker: handlers by task type, fed over one WebSocket connection.
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/error.h"

namespace holdfast::client {

/// A handler throws one of these to fail its task; any other exception is a TransientError.
struct TaskError : std::runtime_error {
    using std::runtime_error::runtime_error;
    std::string code;   ///< Yours, at most 64 characters.
    std::string stack;  ///< At most 32 KiB is kept.
    std::optional<std::chrono::milliseconds> retry_after;
};
/// It may work next time.
struct TransientError : TaskError {
    using TaskError::TaskError;
};
/// It never will: a person has to look.
struct PermanentError : TaskError {
    using TaskError::TaskError;
};
/// Something it needs does not answer.
struct DependencyDown : TaskError {
    using TaskError::TaskError;
};
/// Not a failure: gives the task back, for later or until a signal comes.
struct GiveBack {
    std::optional<std::chrono::milliseconds> after = {};
    bool until_signal = false;
};
/// Thrown by Job::checkpoint when the task is no longer this worker's: it was paused, cancelled,
/// given back, or its lease is lost. Let it pass.
struct Interrupted : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct JobState;

/// One attempt at a task. Valid while its handler runs; its methods may be called from any thread.
class Job {
  public:
    explicit Job(JobState& state) : state_(state) {}
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    const std::string& id() const;
    const std::string& type() const;
    const std::string& queue() const;
    const std::string& tenant() const;
    std::int64_t attempt() const;
    std::int64_t epoch() const;
    /// Parsed when first asked for.
    const boost::json::value& payload() const;
    std::string_view payload_text() const;
    boost::json::value labels() const;
    boost::json::value context() const;
    boost::json::value signals() const;  ///< What was signalled to the task, oldest first.
    /// What an earlier attempt, or this one, stored for the stage; null: nothing.
    const boost::json::value* checkpoint(std::string_view stage) const;

    /// From 0 to 1. Sent a few times a second at most; the last one counts.
    void progress(double value, std::string_view note = {});
    /// Returns when the server has stored the stage: no later attempt need do it again. Throws
    /// Interrupted when the task is to go no further. Not from an inline handler.
    void checkpoint(std::string_view stage, const boost::json::value& data);

    /// The task was cancelled, its lease is lost, or the worker leaves: the result is of no use any
    /// more.
    bool cancelled() const;
    /// Asked to pause: the next checkpoint will stop here.
    bool pause_requested() const;
    /// Fires when `cancelled` becomes true.
    std::stop_token stop_token() const;

  private:
    JobState& state_;
};

using Handler = std::function<boost::json::value(Job&)>;

struct WorkerOptions {
    std::string server = "http://127.0.0.1:7400";
    std::string token = {};
    std::string worker = {};  ///< Its name; empty: host name and process id.
    std::vector<std::string> queues{"default"};
    unsigned slots = 8;  ///< Tasks at once, each on its own thread.
    std::optional<std::chrono::milliseconds> lease = {};  ///< None: each task's own, else 30 s.
    /// The longest time between heartbeats while something runs: how soon a cancel is heard. The lease
    /// may ask for more.
    std::chrono::milliseconds heartbeat_every{10'000};
    std::vector<std::string> types = {};  ///< Only these, where the queue has lanes by type.
    std::map<std::string, std::string> labels = {};
    /// Handlers run on the connection's own thread, one after the other: for work of microseconds,
    /// then give many slots. A slow handler would delay heartbeats.
    bool inline_handlers = false;
    /// SIGTERM and SIGINT drain; a second one gives back what runs.
    bool drain_on_signals = false;
    std::chrono::milliseconds grace{30'000};  ///< For what runs when it drains.
    std::chrono::milliseconds reconnect_base{200};
    std::chrono::milliseconds reconnect_max{10'000};
    std::function<void(std::string_view)> log = {};  ///< Connections lost and found, refusals.
};

/// Keeps its tasks across lost connections and restarts of the server: handlers run on, leases are
/// renewed and outcomes are sent again until the server has answered them.
class Worker {
  public:
    explicit Worker(WorkerOptions options);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Before run().
    void handle(std::string type, Handler handler);
    /// For every type that has no handler of its own.
    void handle_any(Handler handler);

    /// Blocks until drained or stopped. Throws Error when the server refuses this worker; a server
    /// that cannot be reached is tried again for ever.
    void run();
    /// Takes nothing new and finishes what runs, for at most `grace`; the rest is given back. From
    /// any thread.
    void drain();
    /// Gives back what runs, now. Handlers see `cancelled()`, and run() waits for them.
    void stop();

    struct Counts {
        std::uint64_t assigned = 0, done = 0, failed = 0, given_back = 0, refused = 0;
        bool connected = false;
    };
    Counts counts() const;
    const std::string& name() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::client
