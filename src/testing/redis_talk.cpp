#include "testing/redis_talk.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "base/async.h"
#include "redis/reply_parser.h"

namespace holdfast::testing {

Result<redis::Reply> ask_redis(std::uint16_t port, const redis::Command& command) {
    asio::io_context io;
    asio::ip::tcp::socket socket(io);
    boost::system::error_code failed;
    socket.connect({asio::ip::address_v4::loopback(), port}, failed);
    std::string bytes;
    command.write_to(bytes);
    if (!failed) asio::write(socket, asio::buffer(bytes), failed);
    redis::ReplyParser parser;
    std::array<char, 65'536> buffer{};
    while (!failed) {
        const std::size_t size = socket.read_some(asio::buffer(buffer), failed);
        std::string_view piece(buffer.data(), size);
        const auto outcome = parser.feed(piece);
        if (outcome == redis::ReplyParser::Outcome::broken)
            return refuse(Code::unavailable, "broken reply");
        if (outcome != redis::ReplyParser::Outcome::reply) continue;
        redis::Reply reply = parser.take();
        if (reply.root().is_error())
            return refuse(Code::unavailable, std::string(reply.root().text()));
        return reply;
    }
    return refuse(Code::unavailable, failed.message());
}

bool redis_says(std::uint16_t port, const redis::Command& command, std::string_view text) {
    const auto reply = ask_redis(port, command);
    return reply && reply->root().text().contains(text);
}

Result<> wait_until(std::string_view what, Duration limit, const std::function<bool()>& fact) {
    constexpr std::chrono::milliseconds kLook{20};
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!fact()) {
        if (std::chrono::steady_clock::now() > until)
            return refuse(Code::unavailable, "not within the time: " + std::string(what));
        std::this_thread::sleep_for(kLook);
    }
    return {};
}

}  // namespace holdfast::testing
