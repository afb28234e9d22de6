// The worker stream: one connected worker, served from the engine. The transport is somebody else's.
//
//         http ── received(frame), closed() ──►  WorkerStream  ── claim, complete, … ──►  engine
//              ◄────── Line: send, close ──────   (obeys a Session)  ◄──── answers ──────
//
// One executor, no locks: call it on the executor of the engine.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/rng.h"
#include "base/task_group.h"
#include "engine/engine.h"
#include "nodes/ports/worker_json.h"
#include "nodes/ports/workers.h"
#include "nodes/session.h"

namespace holdfast::nodes {

/// The largest frame a worker may send. The transport may cut off longer ones by itself.
inline constexpr std::size_t kLargestFrame = kWorkerLimits.bytes;

/// The transport as it is seen from here. It bounds by itself how much may stay unsent, and calls
/// WorkerStream::closed() when the connection is gone, for whatever reason.
class Line {
  public:
    virtual ~Line() = default;
    /// Queues a text frame; never blocks, never calls back.
    virtual void send(std::string frame) = 0;
    /// Sends what is queued, then closes. Never calls back before it returns.
    virtual void close(std::string_view reason) = 0;
    virtual std::size_t unsent_bytes() const = 0;
};

struct StreamOptions {
    std::string instance;  ///< Told in `welcome`.
    Duration default_lease = std::chrono::seconds{30};
    std::string address;     ///< Of the worker, for GET /v1/workers.
    std::uint64_t seed = 0;  ///< Of the jitter; 0: from the system.
};

/// Lives from the connection's beginning until run() has returned, and its line as long.
class WorkerStream {
  public:
    WorkerStream(engine::Engine& engine, Workers& workers, Line& line, StreamOptions options);
    ~WorkerStream();
    WorkerStream(const WorkerStream&) = delete;
    WorkerStream& operator=(const WorkerStream&) = delete;

    /// Serves until the session is over and every call it made was answered. Being cancelled is the same
    /// as a lost connection. Spawn it before anything is received.
    Async<void> run();

    void received(std::string_view frame);
    /// Returns at once as long as not too many calls are under way; await it before reading the next frame.
    Async<void> room();
    /// The connection is gone. Leases stay, unless the worker had said goodbye.
    void closed();
    /// The server stops: nothing more is assigned, what is under way is answered, then `bye shutting_down`.
    void shut_down();
    /// An operator's wish.
    void drain();
    void requested(const domain::TaskId& id, bool cancel, bool pause);

    std::size_t running() const { return session_.running(); }
    std::size_t calls_under_way() const { return calls_under_way_; }

  private:
    void obey(Actions todo);
    void obey(Send send);
    void obey(Ask ask);
    void obey(EndClaims) { alarm_.ring(); }
    void obey(Close close);
    Async<void> call(Ask ask);
    Async<void> renew(Ask ask);
    void call_ended();

    Async<void> claim(engine::ClaimCall call);
    void claim_if_wanted();
    std::uint32_t claim_size() const;
    void back_off();
    Time next_look() const;
    bool is_over() const { return session_.state() == Session::State::closed; }
    void keep_place();

    engine::Engine& engine_;
    Workers& workers_;
    Line& line_;
    std::string address_;
    Session session_;
    Rng rng_;
    Alarm alarm_;  ///< Wakes run(): the stream's one timer.
    Alarm room_;   ///< Rung when a call was answered; never armed for a time that comes.
    TaskGroup claims_;
    TaskGroup calls_;
    std::optional<Workers::Place> place_;
    std::size_t calls_under_way_ = 0;
    std::size_t task_bytes_ = 0;  ///< Of a task that was assigned lately, about.
    Duration pause_{0};           ///< After the last refused claim.
    Time claim_from_;
    Time connected_at_;
    bool claiming_ = false;
};

}  // namespace holdfast::nodes
