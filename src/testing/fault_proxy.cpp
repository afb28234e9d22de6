#include "testing/fault_proxy.h"

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <future>
#include <list>
#include <string>
#include <thread>
#include <utility>

#include "base/async.h"

namespace holdfast::testing {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

auto told_to(error_code& failed) {
    return asio::redirect_error(asio::use_awaitable, failed);
}

struct Pair {
    explicit Pair(asio::io_context& io) : client(io), server(io) {}
    void close() {
        error_code ignored;
        client.close(ignored);
        server.close(ignored);
    }
    tcp::socket client, server;
};

}  // namespace

/// All of it lives on its thread; the loop is dropped with everything in it when the proxy ends.
class FaultProxy::Impl {
  public:
    explicit Impl(std::uint16_t server_port)
        : server_port_(server_port),
          acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
          port_(acceptor_.local_endpoint().port()) {
        asio::co_spawn(io_, accept(), asio::detached);
        thread_ = std::thread([this] { io_.run(); });
    }
    ~Impl() {
        io_.stop();
        thread_.join();
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    /// On the proxy's thread.
    void on_thread(const std::function<void()>& act) {
        std::promise<void> done;
        asio::post(io_, [&] {
            act();
            done.set_value();
        });
        done.get_future().wait();
    }
    void cut() {
        for (const auto& pair : pairs_) pair->close();
    }

    std::uint16_t port() const { return port_; }
    bool refuse = false, swallow = false, stall = false;
    Duration delay{};
    std::atomic<std::uint64_t> bytes_to_server = 0;

  private:
    Async<void> accept() {
        while (true) {
            auto pair = std::make_shared<Pair>(io_);
            error_code failed;
            co_await acceptor_.async_accept(pair->client, told_to(failed));
            if (failed) co_return;
            if (refuse) continue;
            co_await pair->server.async_connect({asio::ip::address_v4::loopback(), server_port_},
                                                told_to(failed));
            if (failed) continue;
            pair->client.set_option(tcp::no_delay(true), failed);
            pair->server.set_option(tcp::no_delay(true), failed);
            pairs_.push_back(pair);
            asio::co_spawn(io_, carry_requests(pair), asio::detached);
            asio::co_spawn(io_, carry_replies(pair), asio::detached);
        }
    }

    Async<void> carry_requests(std::shared_ptr<Pair> pair) {
        std::array<char, 65'536> buffer{};
        error_code failed;
        while (!failed) {
            const std::size_t size =
                co_await pair->client.async_read_some(asio::buffer(buffer), told_to(failed));
            if (failed) break;
            co_await while_stalled();
            bytes_to_server += size;
            co_await asio::async_write(pair->server, asio::buffer(buffer.data(), size),
                                       told_to(failed));
        }
        pair->close();
        pairs_.remove(pair);
    }

    Async<void> carry_replies(std::shared_ptr<Pair> pair) {
        std::array<char, 65'536> buffer{};
        error_code failed;
        while (!failed) {
            const std::size_t size =
                co_await pair->server.async_read_some(asio::buffer(buffer), told_to(failed));
            if (failed) break;
            if (delay > Duration::zero()) co_await sleep(delay);
            co_await while_stalled();
            if (swallow) continue;
            co_await asio::async_write(pair->client, asio::buffer(buffer.data(), size),
                                       told_to(failed));
        }
        pair->close();
    }

    Async<void> sleep(Duration time) {
        asio::steady_timer timer(io_, time);
        co_await timer.async_wait(asio::use_awaitable);
    }
    Async<void> while_stalled() {
        while (stall) co_await sleep(std::chrono::milliseconds{2});
    }

    std::uint16_t server_port_;
    asio::io_context io_{1};
    tcp::acceptor acceptor_;
    std::uint16_t port_;
    std::list<std::shared_ptr<Pair>> pairs_;
    std::thread thread_;
};

Result<std::unique_ptr<FaultProxy>> FaultProxy::start(std::uint16_t server_port) {
    return std::unique_ptr<FaultProxy>(new FaultProxy(std::make_unique<Impl>(server_port)));
}

FaultProxy::FaultProxy(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FaultProxy::~FaultProxy() = default;

std::uint16_t FaultProxy::port() const {
    return impl_->port();
}

void FaultProxy::cut() {
    impl_->on_thread([this] { impl_->cut(); });
}

void FaultProxy::refuse_connections(bool refuse) {
    impl_->on_thread([this, refuse] { impl_->refuse = refuse; });
}

void FaultProxy::delay_replies(Duration delay) {
    impl_->on_thread([this, delay] { impl_->delay = delay; });
}

void FaultProxy::swallow_replies(bool swallow) {
    impl_->on_thread([this, swallow] { impl_->swallow = swallow; });
}

void FaultProxy::stall(bool stall) {
    impl_->on_thread([this, stall] { impl_->stall = stall; });
}

std::uint64_t FaultProxy::bytes_to_server() const {
    return impl_->bytes_to_server;
}

}  // namespace holdfast::testing
