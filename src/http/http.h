// The server: who may connect, for how long, and what becomes of a request. The door of this room.
//
//   socket → gate → router → handler (parse, one call of the engine, render) → socket
//
// One executor, no locks. A connection is served one request at a time, in order, so that what a client sends
// behind another is done behind it.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <expected>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/rng.h"
#include "base/task_group.h"
#include "http/call.h"
#include "http/events.h"
#include "http/gate.h"

namespace holdfast::http {

using Tcp = asio::ip::tcp;

struct ServerOptions {
    Tcp::endpoint listen;
    GateLimits limits;
    std::size_t most_connections = 10'000;
    std::size_t most_per_address = 100;  ///< Loopback is not counted.
    Duration header_timeout = std::chrono::seconds{10};
    Duration idle_timeout = std::chrono::seconds{60};
    Duration write_timeout = std::chrono::seconds{10};  ///< A reader this slow is cut.
    std::size_t least_body_rate = 1024;                 ///< Bytes per second; 0: any.
    std::size_t most_waiting = 10'000;                  ///< Long polls at once.
    Duration drain = std::chrono::seconds{10};
};

class Connection;
struct Route;

class Server {
  public:
    Server(Services services, ServerOptions options, Clock& clock, asio::any_io_executor executor);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Takes the address; from here on connections are waiting, none is served before `start`.
    Result<> listen();
    Tcp::endpoint address() const { return acceptor_.local_endpoint(); }
    void start();
    /// No new connection, no new request; what is under way is answered, for as long as `drain` allows.
    Async<void> stop();
    bool stopping() const { return stopping_; }
    std::size_t connections() const { return connections_.size(); }

  private:
    friend class Connection;
    Async<void> accept();
    Async<void> sweep();
    Async<void> serve(Tcp::socket socket, asio::ip::address address);
    bool may_connect(const asio::ip::address& address);

    /// A request that found its route.
    struct Opened {
        const Route* route = nullptr;
        Call call = {};
        Time at = {};
    };
    /// Or what to answer at once.
    std::expected<Opened, Response> open(const Request& request, const Connection& connection);
    static bool may_wait(const Opened& opened);
    Async<Response> answer(Opened opened);
    /// With what every answer carries, and counted.
    Response finished(Response response, const Opened& opened, const Request& request);
    std::string new_request_id();

    Services services_;
    ServerOptions options_;
    Clock& clock_;
    asio::any_io_executor executor_;
    Tcp::acceptor acceptor_;
    Rng rng_;
    TaskGroup group_;     ///< Accepting and sweeping.
    TaskGroup sessions_;  ///< One child per connection.
    std::list<Connection*> connections_;
    std::map<asio::ip::address, std::size_t> per_address_;
    std::size_t waiting_ = 0;
    bool stopping_ = false;
};

}  // namespace holdfast::http
