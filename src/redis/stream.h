// A byte stream to one server, plain or under TLS. The headers of TLS stay in tls_stream.cpp: they are heavy.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/result.h"
#include "redis/redis.h"

namespace holdfast::redis {

/// An operation's error is told there, and not thrown.
inline auto told_to(boost::system::error_code& failed) {
    return asio::redirect_error(asio::use_awaitable, failed);
}

struct Tls {
    std::string ca_file;
};

/// One read and one write may be under way at a time. close() ends both, and connect(), early.
class Stream {
  public:
    virtual ~Stream() = default;
    /// The error's detail says why, in words for a person.
    virtual Async<Result<>> connect(Address address) = 0;
    /// 0 and an error: the stream has ended.
    virtual Async<std::size_t> read_some(std::span<char> into,
                                         boost::system::error_code& failed) = 0;
    virtual Async<std::size_t> write(std::string_view bytes, boost::system::error_code& failed) = 0;
    virtual void close() = 0;
};

std::unique_ptr<Stream> plain_stream(const asio::any_io_executor& executor);
std::unique_ptr<Stream> tls_stream(const asio::any_io_executor& executor, Tls tls);

/// Resolves the name and connects, address by address; small writes leave at once.
class Dialler {
  public:
    explicit Dialler(asio::ip::tcp::socket& socket)
        : socket_(socket), resolver_(socket.get_executor()) {}
    Async<Result<>> dial(Address address);
    void close();

  private:
    struct Lookup;
    Async<Result<std::vector<asio::ip::tcp::endpoint>>> look_up(Address address);

    asio::ip::tcp::socket& socket_;
    asio::ip::tcp::resolver resolver_;
    std::shared_ptr<Lookup> lookup_;
    bool closed_ = false;
};

}  // namespace holdfast::redis
