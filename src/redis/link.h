// A server that we keep up with: connected as long as it answers, and again as soon as it does.
//
//     find ──► dial, introduce ──► up ──lost──► find …      first at once, then with growing random pauses
//       └──────── failed ──► pause ──► find …
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/async.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/task_group.h"
#include "redis/connection.h"

namespace holdfast::redis {

/// Pauses between attempts: none, then anything up to 20 ms, 40 ms, … the longest (full jitter: many clients that lost
/// a server together do not come back together).
class Backoff {
  public:
    Backoff(Duration longest, Rng rng) : longest_(longest), rng_(rng) {}
    Duration next();
    void reset() { tries_ = 0; }

  private:
    Duration longest_;
    Rng rng_;
    int tries_ = 0;
};

struct LinkOptions {
    /// Asked before each attempt.
    std::function<Async<Result<Address>>()> find;
    /// Its on_open is the link's own.
    ConnectionOptions connection;
    Duration longest_pause{};
    /// `another`: not the server that it was before, or the same started again.
    std::function<void(bool another)> on_up;
    std::function<void()> on_down;
};

class Link {
  public:
    Link(LinkOptions options, Clock& clock, const asio::any_io_executor& executor);

    void start();
    /// Returns when the server answers, or, with the reason, when the attempt under way has failed.
    Async<Result<>> tried();
    Async<void> stop();
    /// Calls under way are answered first; left() returns when that is done.
    void leave(std::string why);
    Async<void> left() { return group_.join(); }

    /// Its first attempt is still under way.
    bool is_new() const { return attempts_ == 0 && !was_up_; }
    /// There is news that it answers: no pause before the next attempt.
    void hurry() { pause_.ring(); }
    /// Lets go of the server, when it has answered what is under way, and finds it again.
    void look_again(std::string why);

    Time made() const { return made_; }
    bool is_up() const { return connection_ != nullptr && connection_->is_open(); }
    /// None: it is up.
    std::optional<std::string> trouble() const;
    /// Where it is, or was last.
    const Address& address() const { return address_; }

    Async<Outcome> call(const Command& command);
    Async<Outcome> call_asking(const Command& command);
    void send(const Command& command);

  private:
    Async<void> keep();
    Async<std::string> attempt();
    void opened(const Greeting& greeting);
    void lost(std::string why);
    std::string why() const;

    LinkOptions options_;
    Clock& clock_;
    asio::any_io_executor executor_;
    TaskGroup group_;
    Alarm pause_;
    asio::steady_timer tried_;
    Backoff backoff_;
    Address address_;
    std::unique_ptr<Connection> connection_;
    std::string why_ = "not connected yet";
    std::string run_id_;
    Time made_;
    Time up_since_;
    int attempts_ = 0;
    bool was_up_ = false;
    bool stopping_ = false;
};

}  // namespace holdfast::redis
