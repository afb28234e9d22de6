#include "redis/stream.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

namespace holdfast::redis {
namespace {

using boost::system::error_code;

class PlainStream final : public Stream {
  public:
    explicit PlainStream(const asio::any_io_executor& executor)
        : socket_(executor), dialler_(socket_) {}

    Async<Result<>> connect(Address address) override { return dialler_.dial(std::move(address)); }
    Async<std::size_t> read_some(std::span<char> into, error_code& failed) override {
        return socket_.async_read_some(asio::buffer(into.data(), into.size()), told_to(failed));
    }
    Async<std::size_t> write(std::string_view bytes, error_code& failed) override {
        return asio::async_write(socket_, asio::buffer(bytes), told_to(failed));
    }
    void close() override { dialler_.close(); }

  private:
    asio::ip::tcp::socket socket_;
    Dialler dialler_;
};

}  // namespace

/// What asks a name server cannot be interrupted: it goes on without us, and then only finds this.
struct Dialler::Lookup {
    explicit Lookup(const asio::any_io_executor& executor)
        : over(executor, asio::steady_timer::time_point::max()) {}
    asio::steady_timer over;
    bool is_over = false;
    error_code failed;
    std::vector<asio::ip::tcp::endpoint> found;
};

Async<Result<>> Dialler::dial(Address address) {
    error_code failed;
    std::vector<asio::ip::tcp::endpoint> endpoints;
    const asio::ip::address number = asio::ip::make_address(address.host, failed);
    if (!failed) {
        endpoints.emplace_back(number, address.port);
    } else {
        CO_TRY(endpoints, co_await look_up(address));
    }
    if (!closed_) co_await asio::async_connect(socket_, endpoints, told_to(failed));
    if (closed_) co_return refuse(Code::unavailable, "gave up connecting");
    if (failed) co_return refuse(Code::unavailable, failed.message());
    socket_.set_option(asio::ip::tcp::no_delay(true), failed);
    co_return Result<>{};
}

Async<Result<std::vector<asio::ip::tcp::endpoint>>> Dialler::look_up(Address address) {
    lookup_ = std::make_shared<Lookup>(socket_.get_executor());
    resolver_.async_resolve(address.host, std::to_string(address.port),
                            [lookup = lookup_](error_code failed, const auto& results) {
                                lookup->failed = failed;
                                for (const auto& one : results)
                                    lookup->found.push_back(one.endpoint());
                                lookup->is_over = true;
                                lookup->over.cancel();
                            });
    while (!lookup_->is_over && !closed_) {
        error_code ignored;
        co_await lookup_->over.async_wait(told_to(ignored));
    }
    if (lookup_->failed) co_return refuse(Code::unavailable, lookup_->failed.message());
    co_return lookup_->found;
}

void Dialler::close() {
    closed_ = true;
    if (lookup_) lookup_->over.cancel();
    error_code ignored;
    socket_.close(ignored);
}

std::unique_ptr<Stream> plain_stream(const asio::any_io_executor& executor) {
    return std::make_unique<PlainStream>(executor);
}

}  // namespace holdfast::redis
