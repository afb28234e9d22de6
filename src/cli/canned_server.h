// A server with prepared answers, for tests of the commands: it says what it is told to say, and remembers what it
// was asked.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::cli {

class CannedServer {
  public:
    struct Canned {
        int status = 200;
        std::string body;
    };

    /// By "GET /v1/tasks/x"; the query is not looked at. What is not prepared is 404.
    explicit CannedServer(std::map<std::string, Canned> answers)
        : answers_(std::move(answers)),
          acceptor_(context_, {boost::asio::ip::address_v4::loopback(), 0}),
          port_(acceptor_.local_endpoint().port()),
          thread_([this] { serve(); }) {}
    ~CannedServer() {
        stopping_ = true;
        boost::asio::ip::tcp::socket knock(context_);
        boost::system::error_code ignored;
        knock.connect({boost::asio::ip::address_v4::loopback(), port_}, ignored);
        thread_.join();
    }
    CannedServer(const CannedServer&) = delete;
    CannedServer& operator=(const CannedServer&) = delete;

    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    /// Each "METHOD target body".
    std::vector<std::string> requests() {
        const std::scoped_lock lock(mutex_);
        return requests_;
    }

  private:
    void serve() {
        for (;;) {
            auto socket = acceptor_.accept();
            if (stopping_) return;
            boost::system::error_code failed;
            while (!failed) answer_one(socket, failed);
        }
    }
    void answer_one(boost::asio::ip::tcp::socket& socket, boost::system::error_code& failed) {
        std::string head;
        char byte = 0;
        while (!head.ends_with("\r\n\r\n")) {
            boost::asio::read(socket, boost::asio::buffer(&byte, 1), failed);
            if (failed) return;
            head += byte;
        }
        std::string body;
        if (const auto at = head.find("Content-Length: "); at != std::string::npos) {
            body.resize(std::stoul(head.substr(at + 16)));
            boost::asio::read(socket, boost::asio::buffer(body), failed);
        }
        const auto target = head.substr(0, head.find(" HTTP/"));
        {
            const std::scoped_lock lock(mutex_);
            requests_.push_back(target + (body.empty() ? "" : " " + body));
        }
        const auto found = answers_.find(target.substr(0, target.find('?')));
        const Canned canned = found != answers_.end()
                                  ? found->second
                                  : Canned{404, R"({"code":"not_found","detail":"no such thing"})"};
        // One answer a connection: the next command may come over another one.
        const auto text =
            "HTTP/1.1 " + std::to_string(canned.status) +
            " Said\r\nConnection: close\r\nContent-Length: " + std::to_string(canned.body.size()) +
            "\r\n\r\n" + canned.body;
        boost::asio::write(socket, boost::asio::buffer(text), failed);
        socket.close();
        failed = boost::asio::error::eof;
    }

    std::map<std::string, Canned> answers_;
    boost::asio::io_context context_;
    boost::asio::ip::tcp::acceptor acceptor_;
    std::uint16_t port_;
    std::mutex mutex_;
    std::vector<std::string> requests_;
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
};

}  // namespace holdfast::cli
