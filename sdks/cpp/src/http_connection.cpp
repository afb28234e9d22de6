#include "http_connection.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <optional>

#include "holdfast/error.h"

namespace holdfast::client {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using Clock = HttpConnection::Clock;

constexpr std::size_t kLargestAnswer = std::size_t{256} << 20;
constexpr std::size_t kPiece = 16'384;

error_code last_error() {
    return {errno, boost::system::system_category()};
}

/// Waits until `fd` is ready for `events`; timed_out when the deadline comes first.
error_code wait_until_ready(int fd, short events, Clock::time_point deadline) {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0)
            return boost::system::errc::make_error_code(boost::system::errc::timed_out);
        pollfd entry{.fd = fd, .events = events, .revents = 0};
        const int ready =
            ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return last_error();
    }
}

/// What Beast reads from and writes to: a non-blocking socket and a deadline.
class Socket {
  public:
    explicit Socket(int fd) : fd_(fd) {}
    ~Socket() { ::close(fd_); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    int fd() const { return fd_; }
    void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }

    template <class Buffers>
    std::size_t read_some(const Buffers& buffers, error_code& failed) {
        const auto first = *boost::asio::buffer_sequence_begin(buffers);
        return retried(POLLIN, failed, true,
                       [&] { return ::recv(fd_, first.data(), first.size(), 0); });
    }
    template <class Buffers>
    std::size_t write_some(const Buffers& buffers, error_code& failed) {
        std::array<iovec, 8> pieces{};
        std::size_t count = 0;
        for (auto at = boost::asio::buffer_sequence_begin(buffers);
             at != boost::asio::buffer_sequence_end(buffers) && count < pieces.size(); ++at) {
            const boost::asio::const_buffer piece(*at);
            if (piece.size() == 0) continue;
            pieces[count++] = {const_cast<void*>(piece.data()), piece.size()};
        }
        msghdr message{};
        message.msg_iov = pieces.data();
        message.msg_iovlen = count;
        return retried(POLLOUT, failed, false,
                       [&] { return ::sendmsg(fd_, &message, MSG_NOSIGNAL); });
    }
    template <class Buffers>
    std::size_t read_some(const Buffers& buffers) {
        return thrown([&](error_code& failed) { return read_some(buffers, failed); });
    }
    template <class Buffers>
    std::size_t write_some(const Buffers& buffers) {
        return thrown([&](error_code& failed) { return write_some(buffers, failed); });
    }

  private:
    template <class Call>
    std::size_t retried(short events, error_code& failed, bool zero_is_end, Call call) const {
        for (;;) {
            const auto bytes = call();
            failed = {};
            if (bytes > 0) return static_cast<std::size_t>(bytes);
            if (bytes == 0) {
                if (zero_is_end) failed = boost::asio::error::eof;
                return 0;
            }
            if (errno == EINTR) continue;
            failed = last_error();
            if (errno != EAGAIN && errno != EWOULDBLOCK) return 0;
            failed = wait_until_ready(fd_, events, deadline_);
            if (failed) return 0;
        }
    }
    template <class Call>
    std::size_t thrown(Call call) {
        error_code failed;
        const auto bytes = call(failed);
        if (failed) throw boost::system::system_error(failed);
        return bytes;
    }

    int fd_;
    Clock::time_point deadline_ = Clock::time_point::max();
};

std::optional<error_code> try_connect(int fd, const addrinfo& address, Clock::time_point deadline) {
    if (::connect(fd, address.ai_addr, address.ai_addrlen) == 0) return std::nullopt;
    if (errno != EINPROGRESS) return last_error();
    if (const auto failed = wait_until_ready(fd, POLLOUT, deadline)) return failed;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return error_code{error, boost::system::system_category()};
    return std::nullopt;
}

[[noreturn]] void unreachable(const Url& url, const std::string& why) {
    throw Error(Code::unreachable, "no server at http://" + url.authority() + ": " + why);
}

int connected(const Url& url, Clock::time_point deadline) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int failed = ::getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found))
        unreachable(url, ::gai_strerror(failed));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
    std::string why = "no address";
    for (const auto* address = found; address != nullptr; address = address->ai_next) {
        const int fd = ::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0) continue;
        const auto failed = try_connect(fd, *address, deadline);
        if (!failed) {
            const int on = 1;
            ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            return fd;
        }
        ::close(fd);
        why = failed->message();
    }
    unreachable(url, why);
}

std::string field(const http::fields& fields, std::string_view name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string() : std::string(found->value());
}

HttpResponse head_of(const http::response_header<>& head) {
    return {.status = static_cast<int>(head.result_int()),
            .body = {},
            .retry_after = field(head, "Retry-After"),
            .request_id = field(head, "X-Request-Id")};
}

}  // namespace

struct HttpConnection::Impl {
    Impl(const Url& its_url, Clock::time_point deadline)
        : url(its_url), socket(connected(url, deadline)) {}

    void send(const HttpRequest& request, Clock::time_point deadline);
    [[noreturn]] void lose(const error_code& failed);

    Url url;
    Socket socket;
    beast::flat_buffer buffer;
    std::optional<http::response_parser<http::buffer_body>> streamed;
    bool keep = true;
};

HttpConnection::HttpConnection(const Url& url, std::chrono::milliseconds connect_timeout)
    : impl_(std::make_unique<Impl>(url, Clock::now() + connect_timeout)) {}
HttpConnection::~HttpConnection() = default;

void HttpConnection::Impl::lose(const error_code& failed) {
    keep = false;
    const bool late = failed == boost::system::errc::timed_out;
    throw ConnectionLost{failed == http::error::end_of_stream ? "the server closed the connection"
                                                              : failed.message(),
                         late};
}

void HttpConnection::Impl::send(const HttpRequest& request, Clock::time_point deadline) {
    http::request<http::string_body> message;
    message.method_string(request.method);
    message.target(url.prefix + request.target);
    message.version(11);
    message.set(http::field::host, url.authority());
    message.set(http::field::user_agent, "holdfast-cpp");
    for (const auto& [name, value] : request.headers) message.set(name, value);
    if (!request.body.empty()) {
        message.set(http::field::content_type, "application/json");
        message.body() = request.body;
    }
    const bool bare = request.body.empty() && (request.method == "GET" || request.method == "HEAD");
    if (!bare) message.content_length(message.body().size());
    socket.set_deadline(deadline);
    error_code failed;
    http::write(socket, message, failed);
    if (failed) lose(failed);
}

HttpResponse HttpConnection::exchange(const HttpRequest& request, Clock::time_point deadline) {
    impl_->send(request, deadline);
    http::response_parser<http::string_body> parser;
    parser.body_limit(kLargestAnswer);
    error_code failed;
    http::read(impl_->socket, impl_->buffer, parser, failed);
    if (failed) impl_->lose(failed);
    impl_->keep = parser.get().keep_alive();
    auto response = head_of(parser.get());
    response.body = std::move(parser.get().body());
    return response;
}

bool HttpConnection::usable() const {
    if (!impl_->keep || impl_->streamed) return false;
    char byte = 0;
    // Bytes that nobody asked for, or the end: both say that it is over.
    return ::recv(impl_->socket.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
}

HttpResponse HttpConnection::open_stream(const HttpRequest& request, Clock::time_point deadline) {
    impl_->send(request, deadline);
    auto& parser = impl_->streamed.emplace();
    parser.body_limit(boost::none);
    error_code failed;
    http::read_header(impl_->socket, impl_->buffer, parser, failed);
    if (failed) impl_->lose(failed);
    auto response = head_of(parser.get());
    if (response.status >= 400) {
        for (auto piece = read_body(deadline); !piece.empty(); piece = read_body(deadline))
            response.body += piece;
    }
    return response;
}

std::string HttpConnection::read_body(Clock::time_point deadline) {
    auto& parser = *impl_->streamed;
    impl_->socket.set_deadline(deadline);
    std::string piece;
    while (piece.empty() && !parser.is_done()) {
        piece.resize(kPiece);
        parser.get().body().data = piece.data();
        parser.get().body().size = piece.size();
        error_code failed;
        http::read_some(impl_->socket, impl_->buffer, parser, failed);
        if (failed && failed != http::error::need_buffer) impl_->lose(failed);
        piece.resize(kPiece - parser.get().body().size);
    }
    return piece;
}

void HttpConnection::shut_down() {
    ::shutdown(impl_->socket.fd(), SHUT_RDWR);
}

}  // namespace holdfast::client
