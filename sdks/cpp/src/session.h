// A worker's side of the stream, without sockets, threads or a clock of its own: what it holds, what
// it owes the server, and what goes into the next frames. Not thread-safe.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frames.h"

namespace holdfast::client {

struct JobState;

enum class Final : std::uint8_t { done, fail, yield };

class Session {
  public:
    using Clock = std::chrono::steady_clock;
    using Milliseconds = std::chrono::milliseconds;

    /// `beat_every`: the longest time between heartbeats, whatever the leases.
    explicit Session(Hello hello, Milliseconds beat_every = Milliseconds{10'000})
        : hello_(std::move(hello)), beat_every_(beat_every) {}

    // ---- the connection ----
    /// The first frame of a new connection; what is owed goes out after the welcome.
    std::string hello() const;
    void lost();
    bool welcomed() const { return welcomed_; }

    // ---- what came ----
    struct News {
        std::vector<std::pair<Assignment, Milliseconds>> assigned;  ///< Each with its lease.
        std::vector<std::shared_ptr<JobState>> cancelled, to_pause, gone;
        /// Answers to a checkpoint: "ok", "pause", "cancel", "stale_lease", …
        std::vector<std::pair<std::shared_ptr<JobState>, std::string>> checkpoints;
        std::vector<std::string> log;
        std::optional<std::string> refused;  ///< The server does not want this worker: why.
        bool bye = false;
    };
    /// Views in `assigned` live as long as `text`.
    News receive(std::string_view text, Clock::time_point now,
                 std::chrono::system_clock::time_point wall);

    // ---- what the handlers do ----
    void hold(const Fence& fence, std::shared_ptr<JobState> job, Milliseconds lease,
              Clock::time_point now);
    void progress(const Fence& fence, double value, std::string note, Clock::time_point now);
    void checkpoint(const Fence& fence, std::string item);
    void finish(const Fence& fence, Final how, std::string item);
    /// It is no longer ours: nothing is said about it.
    void forget(const Fence& fence);
    void drain();

    // ---- what goes out ----
    /// The frames to send now. Nothing before the welcome.
    std::vector<std::string> take();
    /// What time brings: heartbeats, progress, outcomes that the server could not take. Gives the
    /// moment to call again.
    Clock::time_point tick(Clock::time_point now);

    /// Nothing is held or owed, and nothing can come any more: the server has answered the drain, or
    /// there is no connection.
    bool parted() const {
        return draining_ && held_.empty() && owed_.empty() && (bye_ || !welcomed_);
    }
    bool draining() const { return draining_; }
    bool holds(const Fence& fence) const { return held_.contains(fence); }
    std::size_t running() const { return held_.size(); }
    std::size_t owed() const { return owed_.size(); }
    std::vector<std::pair<Fence, std::shared_ptr<JobState>>> held() const;

  private:
    struct Holding {
        std::shared_ptr<JobState> job;
        Milliseconds lease;
        std::optional<double> progress;
        std::string note;
        bool progress_new = false;
        std::string checkpoint;  ///< Asked and not answered.
    };
    struct Owed {
        Final how;
        std::string item;
        int strikes = 0;
    };

    void welcome(const Frame& frame, Clock::time_point now);
    void assign(Frame& frame, News& news, std::chrono::system_clock::time_point wall);
    void outcomes(const Frame& frame, News& news, Clock::time_point now);
    void final_outcome(const FrameItem& item, News& news, Clock::time_point now);
    void checkpoint_outcome(const FrameItem& item, News& news, Clock::time_point now);
    void beats(const Frame& frame, News& news);
    void refusal(const Frame& frame, News& news);
    void beat_now(bool progress_only);
    Milliseconds beat_period(Milliseconds lease) const;
    FrameBuilder& builder(Final how);
    std::shared_ptr<JobState> job_of(const Fence& fence) const;

    Hello hello_;
    Milliseconds beat_every_;
    bool welcomed_ = false;
    bool draining_ = false;
    bool say_drain_ = false;
    bool bye_ = false;
    Milliseconds lease_{30'000};
    boost::unordered_flat_map<Fence, Holding, FenceHash> held_;
    boost::unordered_flat_map<Fence, Owed, FenceHash> owed_;
    FrameBuilder done_{"done"}, fail_{"fail"}, yield_{"yield"}, checkpoint_{"checkpoint"},
        heartbeat_{"heartbeat"}, progress_{"progress"};
    Milliseconds shortest_lease_{30'000};
    std::optional<Clock::time_point> next_beat_, next_progress_, resend_at_;
    std::vector<Fence> resend_;
    Frame frame_;
};

}  // namespace holdfast::client
