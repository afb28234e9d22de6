#include "load/wire.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <stdexcept>

namespace holdfast::load {
namespace {

std::size_t number_after(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(name);
    std::size_t value = 0;
    if (at != std::string_view::npos) {
        const std::string_view rest = text.substr(at + name.size());
        std::from_chars(rest.data(), rest.data() + rest.size(), value);
    }
    return value;
}

}  // namespace

Endpoint Endpoint::of(std::string_view url) {
    constexpr std::string_view kScheme = "http://";
    const std::size_t colon = url.rfind(':');
    if (!url.starts_with(kScheme) || colon <= kScheme.size())
        throw std::invalid_argument("not a server's address: " + std::string(url));
    std::string_view port = url.substr(colon + 1);
    if (port.ends_with('/')) port.remove_suffix(1);
    return {std::string(url.substr(kScheme.size(), colon - kScheme.size())), std::string(port)};
}

std::string post(std::string_view path, std::string_view body) {
    return "POST " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" +
           "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + std::string(body);
}

std::string get(std::string_view path) {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

Async<void> Wire::connect(Endpoint endpoint) {
    asio::ip::tcp::resolver resolver(socket_.get_executor());
    const auto found =
        co_await resolver.async_resolve(endpoint.host, endpoint.port, asio::use_awaitable);
    co_await asio::async_connect(socket_, found, asio::use_awaitable);
    socket_.set_option(asio::ip::tcp::no_delay(true));
}

Async<Reply> Wire::call(const std::string* request) {
    co_await asio::async_write(socket_, asio::buffer(*request), asio::use_awaitable);
    in_.erase(0, used_);
    for (;;) {
        const std::size_t head = in_.find("\r\n\r\n");
        if (head != std::string::npos) {
            const std::string_view text = std::string_view(in_).substr(0, head);
            const std::size_t length = number_after(text, "Content-Length: ");
            used_ = head + 4 + length;
            if (in_.size() >= used_)
                co_return Reply{static_cast<int>(number_after(text, "HTTP/1.1 ")),
                                std::string_view(in_).substr(head + 4, length)};
        }
        const std::size_t had = in_.size();
        in_.resize(had + 64 * 1024);
        const std::size_t got = co_await socket_.async_read_some(
            asio::buffer(in_.data() + had, in_.size() - had), asio::use_awaitable);
        in_.resize(had + got);
    }
}

}  // namespace holdfast::load
