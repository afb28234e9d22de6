// Accepting connections, ending those that take too long, and stopping.
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.h"
#include "http/connection.h"
#include "http/http.h"

namespace holdfast::http {
namespace {

constexpr Duration kSweepEvery = std::chrono::milliseconds{500};
constexpr Duration kBreath = std::chrono::milliseconds{50};
constexpr int kBacklog = 1024;

}  // namespace

Server::Server(Services services, ServerOptions options, Clock& clock,
               asio::any_io_executor executor)
    : services_(std::move(services)),
      options_(std::move(options)),
      clock_(clock),
      executor_(std::move(executor)),
      acceptor_(executor_),
      rng_(Rng::from_system()),
      group_(executor_),
      sessions_(executor_) {
    services_.stopping = [this] { return stopping_; };
}

Server::~Server() = default;

Result<> Server::listen() {
    boost::system::error_code ec;
    const auto tried = [&](const auto& step) {
        if (!ec) step();
    };
    tried([&] { acceptor_.open(options_.listen.protocol(), ec); });
    tried([&] { acceptor_.set_option(Tcp::acceptor::reuse_address(true), ec); });
    tried([&] { acceptor_.bind(options_.listen, ec); });
    tried([&] { acceptor_.listen(kBacklog, ec); });
    if (!ec) return {};
    const std::string address =
        options_.listen.address().to_string() + ':' + std::to_string(options_.listen.port());
    if (ec == asio::error::address_in_use)
        return refuse(Code::unavailable, address +
                                             " is in use by another process; choose another "
                                             "address with --listen, or stop that process");
    return refuse(Code::unavailable, "cannot listen on " + address + ": " + ec.message());
}

void Server::start() {
    group_.spawn(accept());
    group_.spawn(sweep());
}

Async<void> Server::accept() {
    Alarm breath(clock_, executor_);
    while (!group_.stopping()) {
        boost::system::error_code ec;
        Tcp::socket socket =
            co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, ec));
        if (ec == asio::error::operation_aborted) co_return;
        if (ec) {  // out of descriptors, most likely: those that are open go on
            log::warn("cannot accept a connection", {{"error", ec.message()}});
            co_await breath.wait_for(kBreath);
            continue;
        }
        const auto peer = socket.remote_endpoint(ec);
        if (!ec && may_connect(peer.address()))
            sessions_.spawn(serve(std::move(socket), peer.address()));
    }
}

bool Server::may_connect(const asio::ip::address& address) {
    if (connections_.size() >= options_.most_connections) return false;
    if (address.is_loopback()) return true;
    const auto held = per_address_.find(address);
    return held == per_address_.end() || held->second < options_.most_per_address;
}

Async<void> Server::serve(Tcp::socket socket, asio::ip::address address) {
    struct Counted {
        std::map<asio::ip::address, std::size_t>& all;
        asio::ip::address address;
        Counted(std::map<asio::ip::address, std::size_t>& counts, asio::ip::address a)
            : all(counts), address(std::move(a)) {
            ++all[address];
        }
        ~Counted() {
            if (--all[address] == 0) all.erase(address);
        }
        Counted(const Counted&) = delete;
        Counted& operator=(const Counted&) = delete;
    } counted(per_address_, std::move(address));
    Connection connection(*this, std::move(socket), counted.address.to_string());
    co_await connection.run();
}

Async<void> Server::sweep() {
    Alarm alarm(clock_, executor_);
    while (!group_.stopping()) {
        co_await alarm.wait_for(kSweepEvery);
        const Time now = clock_.now();
        for (auto next = connections_.begin(); next != connections_.end();)
            (*next++)->look_at_the_clock(now);
    }
}

Async<void> Server::stop() {
    stopping_ = true;
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    for (auto next = connections_.begin(); next != connections_.end();) (*next++)->leave();
    Alarm alarm(clock_, executor_);
    const Time limit = clock_.now() + options_.drain;
    while (sessions_.size() > 0 && clock_.now() < limit) co_await alarm.wait_for(kBreath / 5);
    for (auto next = connections_.begin(); next != connections_.end();) (*next++)->cut();
    co_await services_.events.stop();
    co_await group_.stop();
    co_await sessions_.stop();
}

}  // namespace holdfast::http
