// One WebSocket connection to a server, made again whenever it is lost. Knows nothing of frames.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "url.h"

namespace holdfast::client {

/// Who speaks over the stream. Called on the thread of WorkStream::run.
class StreamUser {
  public:
    using Clock = std::chrono::steady_clock;
    virtual ~StreamUser() = default;
    virtual std::string first_frame() = 0;
    virtual void received(std::string_view frame) = 0;
    virtual std::vector<std::string> outgoing() = 0;            ///< What to send now.
    virtual Clock::time_point tick(Clock::time_point now) = 0;  ///< Gives when to call again.
    virtual void lost(const std::string& why) = 0;
    virtual bool established() const = 0;  ///< Resets the waits between attempts to connect.
    virtual bool over() const = 0;         ///< Nothing is left to do: leave.
    virtual bool
    leave_connection() = 0;  ///< True once: this connection is at its end, make a new one.
    virtual void interrupted(int signal) = 0;
};

struct StreamOptions {
    Url url;
    std::string token;
    std::chrono::milliseconds reconnect_base, reconnect_max;
    bool catch_signals = false;
};

class WorkStream {
  public:
    explicit WorkStream(StreamOptions options);
    ~WorkStream();

    /// Blocks until the user says that it is over. Throws Error when the server answers with
    /// something else than a WebSocket: trying again would not help.
    void run(StreamUser& user);
    /// There is something to send, or it is over. From any thread; cheap when repeated.
    void wake();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::client
