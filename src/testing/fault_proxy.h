// A TCP proxy on a thread of its own, between a client and a server on the loopback, that can behave badly.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/time.h"

namespace holdfast::testing {

/// Every method may be called from any thread and has done its work when it returns.
class FaultProxy {
  public:
    static Result<std::unique_ptr<FaultProxy>> start(std::uint16_t server_port);
    ~FaultProxy();
    FaultProxy(const FaultProxy&) = delete;
    FaultProxy& operator=(const FaultProxy&) = delete;

    std::uint16_t port() const;

    /// Ends all connections; new ones are made as before.
    void cut();
    /// New connections are ended at once. (A port that refuses: stop the server behind it.)
    void refuse_connections(bool refuse);
    /// Replies come so much later.
    void delay_replies(Duration delay);
    /// Requests reach the server, replies do not come back.
    void swallow_replies(bool swallow);
    /// Nothing goes either way; it is not lost either.
    void stall(bool stall);
    /// From the client to the server, since the start.
    std::uint64_t bytes_to_server() const;

  private:
    class Impl;
    explicit FaultProxy(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::testing
