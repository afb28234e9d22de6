// A server that a test plays: it accepts connections on a free port of the loopback and says what the
// test tells it to say. For tests only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <string>

namespace holdfast::client {

class FakeServer {
  public:
    using tcp = boost::asio::ip::tcp;

    FakeServer() : acceptor_(context_, {boost::asio::ip::address_v4::loopback(), 0}) {}

    std::string url() const {
        return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }
    tcp::socket accept() { return acceptor_.accept(); }

    /// Reads one request's head and body, and gives both as text.
    static std::string read_request(tcp::socket& socket) {
        std::string text;
        char byte = 0;
        while (!text.ends_with("\r\n\r\n")) {
            boost::asio::read(socket, boost::asio::buffer(&byte, 1));
            text += byte;
        }
        const auto at = text.find("Content-Length: ");
        if (at == std::string::npos) return text;
        std::string body(std::stoul(text.substr(at + 16)), '\0');
        boost::asio::read(socket, boost::asio::buffer(body));
        return text + body;
    }
    static void answer(tcp::socket& socket, std::string_view status, std::string_view body,
                       std::string_view headers = {}) {
        std::string text = "HTTP/1.1 ";
        text.append(status).append("\r\n").append(headers).append("Content-Length: ");
        text.append(std::to_string(body.size())).append("\r\n\r\n").append(body);
        boost::asio::write(socket, boost::asio::buffer(text));
    }

    /// The server's end of a worker stream.
    class Stream {
      public:
        explicit Stream(tcp::socket socket) : socket_(std::move(socket)) {
            socket_.next_layer().set_option(tcp::no_delay(true));
            socket_.accept();
            socket_.text(true);
        }
        std::string read() {
            boost::beast::flat_buffer buffer;
            socket_.read(buffer);
            return {static_cast<const char*>(buffer.data().data()), buffer.size()};
        }
        /// The next frame that is no heartbeat.
        std::string next() {
            auto frame = read();
            while (frame.starts_with(R"({"op":"heartbeat")")) frame = read();
            return frame;
        }
        void write(std::string_view frame) {
            socket_.write(boost::asio::buffer(frame.data(), frame.size()));
        }
        /// Reads the hello, welcomes, and gives the hello.
        std::string welcome(std::string_view lease = "30s") {
            auto hello = read();
            write(R"({"op":"welcome","instance":"fake","lease":")" + std::string(lease) + R"("})");
            return hello;
        }
        void bye() { write(R"({"op":"bye","reason":"drained"})"); }
        /// Answers a drain, and returns when the other side ends the connection.
        void ends() {
            boost::beast::error_code failed;
            for (;;) {
                boost::beast::flat_buffer buffer;
                socket_.read(buffer, failed);
                if (failed) return;
                const std::string_view text(static_cast<const char*>(buffer.data().data()),
                                            buffer.size());
                if (text == R"({"op":"drain"})") bye();
            }
        }

      private:
        boost::beast::websocket::stream<tcp::socket> socket_;
    };
    Stream accept_stream() { return Stream(accept()); }

  private:
    boost::asio::io_context context_;
    tcp::acceptor acceptor_;
};

}  // namespace holdfast::client
