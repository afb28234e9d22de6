#include "http/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>

#include "http/problem.h"
#include "http/routes.h"

namespace holdfast::http {
namespace {

constexpr std::size_t kReadAtOnce = 16 * 1024;
constexpr std::size_t kReadBig = 256 * 1024;
constexpr std::size_t kFlushAt = 64 * 1024;

}  // namespace

Connection::Connection(Server& server, Tcp::socket socket, std::string address)
    : server_(server),
      socket_(std::move(socket)),
      address_(std::move(address)),
      place_(server.connections_.insert(server.connections_.end(), this)),
      gate_(server.options_.limits) {
    boost::system::error_code ignored;
    socket_.set_option(Tcp::no_delay(true), ignored);
}

Connection::~Connection() {
    server_.connections_.erase(place_);
}

void Connection::set_deadline(Duration from_now) {
    deadline_ = server_.clock_.now() + from_now;
}

void Connection::look_at_the_clock(Time now) {
    if (keeper_.look_at_the_clock) return keeper_.look_at_the_clock(now);
    if (is_set(deadline_) && now >= deadline_) cut();
}

void Connection::leave() {
    if (keeper_.leave) return keeper_.leave();
    if (!busy_) cut();
}

void Connection::cut() {
    if (keeper_.cut) return keeper_.cut();
    cut_ = true;
    boost::system::error_code ignored;
    socket_.close(ignored);
}

bool Connection::gone() const {
    if (!socket_.is_open()) return true;
    char byte = 0;
    const auto got = ::recv(const_cast<Tcp::socket&>(socket_).native_handle(), &byte, 1,
                            MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

Async<void> Connection::run() {
    while (co_await read_request()) {
        if (!co_await answer_one()) break;
    }
    co_await flush();
    if (socket_.is_open()) {
        // What the client still sends is not read: a reset must not overtake our last answer.
        boost::system::error_code ignored;
        socket_.shutdown(Tcp::socket::shutdown_send, ignored);
        set_deadline(std::chrono::seconds{1});
        while (co_await read_more()) in_.clear();
    }
}

Async<bool> Connection::read_request() {
    bool continued = false;
    bool begun = !in_.empty();
    set_deadline(begun ? server_.options_.header_timeout : server_.options_.idle_timeout);
    body_since_ = kNoTime;
    for (;;) {
        const Gate::Outcome outcome = gate_.look(in_);
        if (outcome == Gate::Outcome::request) {
            no_deadline();
            co_return true;
        }
        if (outcome == Gate::Outcome::refused) {
            refuse();
            co_return false;
        }
        if (outcome == Gate::Outcome::head) {
            if (gate_.wants_continue() && !std::exchange(continued, true))
                out_ += "HTTP/1.1 100 Continue\r\n\r\n";
            set_body_deadline();
        } else if (!begun && !in_.empty()) {
            begun = true;
            set_deadline(server_.options_.header_timeout);
        }
        if (server_.stopping() && !begun) co_return false;
        if (!co_await flush() || !co_await read_more()) co_return false;
    }
}

void Connection::set_body_deadline() {
    const std::size_t rate = server_.options_.least_body_rate;
    if (rate == 0) return set_deadline(server_.options_.idle_timeout);  // as slow as it likes
    if (!is_set(body_since_)) body_since_ = server_.clock_.now();
    // A second for every so many bytes, on top of what a head may take.
    const auto earned = std::chrono::seconds{in_.size() / rate};
    deadline_ = body_since_ + server_.options_.header_timeout + earned;
}

Async<bool> Connection::read_more() {
    const std::size_t had = in_.size();
    const std::size_t room = gate_.head_is_complete() ? kReadBig : kReadAtOnce;
    in_.resize(had + room);
    boost::system::error_code ec;
    const std::size_t got = co_await socket_.async_read_some(
        asio::buffer(in_.data() + had, room), asio::redirect_error(asio::use_awaitable, ec));
    in_.resize(had + got);
    co_return !ec && !cut_;
}

Async<bool> Connection::flush() {
    if (out_.empty()) co_return socket_.is_open();
    const Time before = deadline_;
    set_deadline(server_.options_.write_timeout);
    boost::system::error_code ec;
    co_await asio::async_write(socket_, asio::buffer(out_),
                               asio::redirect_error(asio::use_awaitable, ec));
    deadline_ = before;
    out_.clear();
    if (out_.capacity() > kKeptRoom) out_.shrink_to_fit();
    co_return !ec && !cut_;
}

void Connection::refuse() {
    const Refusal& refusal = gate_.refusal();
    write(out_,
          problem(refusal.status, {Code::invalid_argument, refusal.detail, {}},
                  server_.new_request_id()),
          false, false);
}

Async<bool> Connection::answer_one() {
    busy_ = true;
    const Request& request = gate_.request();
    auto opened = server_.open(request, *this);
    Response response;
    if (!opened) {
        response = std::move(opened).error();
    } else {
        const Manner manner = opened->route->manner;
        const bool hands_over = manner == Manner::events || manner == Manner::stream;
        if (manner != Manner::plain && !co_await flush()) co_return false;
        if (hands_over) {  // may stay for days, and there may be thousands: no room is kept for more requests
            std::string{}.swap(in_);
            std::string{}.swap(out_);
        }
        if (manner == Manner::events) {
            co_await serve_events(std::move(opened->call));
            co_return false;
        }
        if (manner == Manner::stream) {
            co_await serve_stream(std::move(opened->call));
            co_return false;
        }
        response = co_await server_.answer(*std::move(opened));
    }
    const bool keep = request.keep_alive && !response.close && !server_.stopping();
    write(out_, response, keep, request.method == Method::head);
    in_.erase(0, gate_.next());
    if (in_.empty() && in_.capacity() > kKeptRoom) in_.shrink_to_fit();
    busy_ = false;
    // Answers to requests that came together leave together.
    if (keep && !in_.empty() && out_.size() < kFlushAt) co_return true;
    co_return co_await flush() && keep;
}

}  // namespace holdfast::http
