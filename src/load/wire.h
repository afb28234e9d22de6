// A bare HTTP connection: as little as it takes to keep a server busy.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <string_view>

#include "base/async.h"

namespace holdfast::load {

struct Endpoint {
    std::string host;
    std::string port;
    /// From "http://host:port"; throws std::invalid_argument when it is none.
    static Endpoint of(std::string_view url);
};

/// A whole request, ready to be sent.
std::string post(std::string_view path, std::string_view body);
std::string get(std::string_view path);

struct Reply {
    int status = 0;
    std::string_view body;  ///< Until the next call.
};

/// One request at a time. What goes wrong is thrown: a benchmark cannot go on without its server.
class Wire {
  public:
    explicit Wire(asio::any_io_executor executor) : socket_(std::move(executor)) {}
    Async<void> connect(Endpoint endpoint);
    Async<Reply> call(const std::string* request);

  private:
    asio::ip::tcp::socket socket_;
    std::string in_;
    std::size_t used_ = 0;  ///< Of in_: the last reply.
};

}  // namespace holdfast::load
