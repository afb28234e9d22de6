// A connection that is handed over to the worker stream. The only file that sees Beast.
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>

#include "http/connection.h"
#include "nodes/nodes.h"

namespace holdfast::http {
namespace {

namespace beast = boost::beast;
namespace ws = beast::websocket;

constexpr std::size_t kMostUnsent = std::size_t{8} << 20;  ///< A worker this far behind is cut.

/// A worker's WebSocket: frames are queued, and written by one coroutine in order.
class Socket final : public nodes::Line {
  public:
    Socket(Tcp::socket socket, Clock& clock, const asio::any_io_executor& executor)
        : stream_(std::move(socket)), ready_(clock, executor) {
        stream_.read_message_max(nodes::kLargestFrame);
        stream_.text(true);
        stream_.auto_fragment(false);
        stream_.write_buffer_bytes(4096);
        ws::permessage_deflate no_deflate;
        no_deflate.server_enable = false;
        stream_.set_option(no_deflate);
        stream_.set_option(ws::stream_base::decorator(
            [](ws::response_type& response) { response.erase(beast::http::field::server); }));
    }

    ws::stream<Tcp::socket>& stream() { return stream_; }

    void send(std::string frame) override {
        if (closing_) return;
        unsent_ += frame.size();
        if (unsent_ > kMostUnsent) return cut();
        frames_.push_back(std::move(frame));
        ready_.ring();
    }
    void close(std::string_view reason) override {
        if (std::exchange(closing_, true)) return;
        reason_ = std::string(reason.substr(0, 100));
        ready_.ring();
    }
    std::size_t unsent_bytes() const override { return unsent_; }

    void cut() {
        closing_ = true;
        boost::system::error_code ignored;
        beast::get_lowest_layer(stream_).close(ignored);
        ready_.ring();
    }

    /// Writes until the line is closed and everything was sent.
    Async<void> write() {
        boost::system::error_code ec;
        while (!ec) {
            if (frames_.empty()) {
                if (closing_) break;
                co_await ready_.wait_until(Time::max());
                continue;
            }
            const std::string frame = std::move(frames_.front());
            frames_.pop_front();
            co_await stream_.async_write(asio::buffer(frame),
                                         asio::redirect_error(asio::use_awaitable, ec));
            unsent_ -= frame.size();
        }
        if (!ec && beast::get_lowest_layer(stream_).is_open())
            co_await stream_.async_close(ws::close_reason(ws::close_code::normal, reason_),
                                         asio::redirect_error(asio::use_awaitable, ec));
        cut();
    }

    /// Reads until the other side has gone.
    Async<void> read(nodes::WorkerStream* worker, Time* heard_at, const Clock* clock) {
        beast::flat_buffer buffer;
        for (;;) {
            boost::system::error_code ec;
            co_await stream_.async_read(buffer, asio::redirect_error(asio::use_awaitable, ec));
            if (ec) break;
            *heard_at = clock->now();
            const auto bytes = buffer.data();
            if (stream_.got_text())
                worker->received({static_cast<const char*>(bytes.data()), bytes.size()});
            buffer.consume(bytes.size());
            if (buffer.capacity() > kKeptRoom) buffer.shrink_to_fit();
            co_await worker->room();
        }
        worker->closed();
        cut();
    }

    Async<void> ping() {
        boost::system::error_code ec;
        co_await stream_.async_ping({}, asio::redirect_error(asio::use_awaitable, ec));
    }

  private:
    ws::stream<Tcp::socket> stream_;
    Alarm ready_;
    std::deque<std::string> frames_;
    std::size_t unsent_ = 0;
    bool closing_ = false;
    std::string reason_;
};

beast::http::request<beast::http::empty_body> handshake(const Request& request) {
    beast::http::request<beast::http::empty_body> out;
    out.method(beast::http::verb::get);
    out.target({request.target.data(), request.target.size()});
    out.version(11);
    for (const Header& h : request.headers)
        out.insert({h.name.data(), h.name.size()}, {h.value.data(), h.value.size()});
    return out;
}

}  // namespace

Async<void> Connection::serve_stream(Call call) {
    // What is left to do at the end must not be cut short: this connection ends by its socket being closed.
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    const auto upgrade = handshake(*call.request);
    Socket socket(std::move(socket_), server_.clock_, server_.executor_);
    const auto cut_at_deadline = [this, &socket](Time now) {
        if (now >= deadline_) socket.cut();
    };
    keeper_ = {cut_at_deadline, [&socket] { socket.cut(); }, [&socket] { socket.cut(); }};
    set_deadline(server_.options_.header_timeout);
    boost::system::error_code ec;
    co_await socket.stream().async_accept(upgrade, asio::redirect_error(asio::use_awaitable, ec));
    if (!ec) {
        nodes::StreamOptions options;
        options.instance = call.services->instance;
        options.address = call.address;
        nodes::WorkerStream worker(call.engine(), call.services->workers, socket,
                                   std::move(options));
        TaskGroup group(server_.executor_);
        Time heard_at = server_.clock_.now();
        bool pinged = false;
        // Any frame, a pong too, shows that the worker is there; it is asked after half of the idle time.
        socket.stream().control_callback(
            [this, &heard_at](ws::frame_type, auto) { heard_at = server_.clock_.now(); });
        keeper_.look_at_the_clock = [this, &socket, &group, &heard_at, &pinged](Time now) {
            const Duration silent = now - heard_at;
            if (silent >= server_.options_.idle_timeout) return socket.cut();
            if (silent < server_.options_.idle_timeout / 2) {
                pinged = false;
            } else if (!std::exchange(pinged, true)) {
                group.spawn(socket.ping());
            }
        };
        keeper_.leave = [&worker] { worker.shut_down(); };
        group.spawn(socket.write());
        group.spawn(socket.read(&worker, &heard_at, &server_.clock_));
        co_await worker.run();
        keeper_.leave = keeper_.cut;
        keeper_.look_at_the_clock = cut_at_deadline;
        set_deadline(server_.options_.write_timeout);
        socket.close("");
        co_await group.join();
    }
    keeper_ = {};
}

}  // namespace holdfast::http
