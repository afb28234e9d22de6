// One HTTP/1.1 connection, blocking, with a deadline on every wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "url.h"

namespace holdfast::client {

struct HttpRequest {
    std::string method;
    std::string target;
    std::string body;  ///< JSON, or empty for none.
    std::vector<std::pair<std::string, std::string>> headers;
};

struct HttpResponse {
    int status = 0;
    std::string body;
    std::string retry_after, request_id;
};

/// The connection failed under a request: the server may or may not have seen it.
struct ConnectionLost {
    std::string why;
    bool timed_out = false;
};

class HttpConnection {
  public:
    using Clock = std::chrono::steady_clock;

    /// Throws Error unreachable.
    HttpConnection(const Url& url, std::chrono::milliseconds connect_timeout);
    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    /// Throws ConnectionLost; the connection is then of no use any more.
    HttpResponse exchange(const HttpRequest& request, Clock::time_point deadline);
    /// Kept alive by both sides, as far as can be seen from here.
    bool usable() const;

    /// Sends the request and reads the head of the answer. The body is there already when the status
    /// is an error; else it comes by read_body.
    HttpResponse open_stream(const HttpRequest& request, Clock::time_point deadline);
    /// Some bytes of the body; empty at its end.
    std::string read_body(Clock::time_point deadline);
    /// Ends every wait on this connection, from another thread.
    void shut_down();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::client
