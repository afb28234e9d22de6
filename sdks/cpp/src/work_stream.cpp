#include "work_stream.h"

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket.hpp>
#include <csignal>
#include <deque>
#include <exception>
#include <optional>

#include "backoff.h"
#include "problem.h"

namespace holdfast::client {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;
template <class T = void>
using Async = asio::awaitable<T>;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

constexpr std::size_t kLargestFrame = std::size_t{256} << 20;
constexpr std::size_t kWriteBuffer = std::size_t{256} << 10;  ///< Masking copies through it.
constexpr std::chrono::seconds kConnectTimeout{10};
constexpr std::chrono::seconds kStreamSilence{
    30};  ///< Half of it: a ping; all of it: the connection is dead.
constexpr std::chrono::seconds kGoodbye{2};

}  // namespace

struct WorkStream::Impl {
    using Socket = websocket::stream<beast::tcp_stream>;

    explicit Impl(StreamOptions its_options)
        : options(std::move(its_options)),
          backoff(options.reconnect_base, options.reconnect_max),
          clock_timer(context),
          pause(context),
          limit(context),
          signals(context) {}

    void run(StreamUser& its_user);
    Async<> live();
    Async<std::optional<std::string>> connect();
    Async<std::string> talk();
    void greet(Socket& connection) const;
    void check_answer(const websocket::response_type& answer) const;
    void pump();
    void write_next();
    void plan_tick();
    void on_wake();
    void leave();
    void wait_for_signal();

    StreamOptions options;
    asio::io_context context{1};
    Backoff backoff;
    StreamUser* user = nullptr;
    std::unique_ptr<Socket> socket;
    bool open = false;
    bool writing = false;
    bool leaving = false;
    unsigned generation = 0;  ///< Of the connection: what an older one still answers is of no use.
    std::deque<std::string> to_write;
    asio::steady_timer clock_timer;
    asio::steady_timer pause;  ///< Between attempts to connect.
    asio::steady_timer limit;  ///< Of the goodbye.
    asio::signal_set signals;
    std::atomic<bool> woken = false;
    std::exception_ptr refused;
};

WorkStream::WorkStream(StreamOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
WorkStream::~WorkStream() = default;

void WorkStream::run(StreamUser& user) {
    impl_->run(user);
}

void WorkStream::wake() {
    if (impl_->woken.exchange(true)) return;
    asio::post(impl_->context, [impl = impl_.get()] { impl->on_wake(); });
}

void WorkStream::Impl::run(StreamUser& its_user) {
    user = &its_user;
    if (options.catch_signals) {
        signals.add(SIGTERM);
        signals.add(SIGINT);
        wait_for_signal();
    }
    asio::co_spawn(context, live(), [this](const std::exception_ptr& failed) {
        refused = failed;
        clock_timer.cancel();
        signals.cancel();
        context.stop();
    });
    context.run();
    socket.reset();
    if (refused) std::rethrow_exception(refused);
}

void WorkStream::Impl::wait_for_signal() {
    signals.async_wait([this](error_code failed, int signal) {
        if (failed) return;
        user->interrupted(signal);
        on_wake();
        wait_for_signal();
    });
}

void WorkStream::Impl::on_wake() {
    woken = false;
    if (user->over()) return leave();
    plan_tick();
    pump();
}

/// Ends whatever the connection waits for. Goodbye is said while the reader still reads: it is the
/// reader who then sees the connection end.
void WorkStream::Impl::leave() {
    pause.cancel();
    if (!socket || leaving) return;
    leaving = true;
    if (!open) return beast::get_lowest_layer(*socket).cancel();
    limit.expires_after(kGoodbye);
    limit.async_wait([this](error_code cancelled) {
        if (!cancelled) beast::get_lowest_layer(*socket).close();
    });
    socket->async_close(websocket::close_code::normal, [](error_code) {});
}

Async<> WorkStream::Impl::live() {
    while (!user->over()) {
        auto why = co_await connect();
        if (!why) {
            plan_tick();
            why = co_await talk();
        }
        open = false;
        ++generation;
        if (user->over()) co_return;
        if (user->established()) backoff.reset();
        user->lost(*why);
        if (user->over()) co_return;
        pause.expires_after(backoff.next());
        co_await pause.async_wait(kTuple);
    }
}

/// None: connected, and the first frame is on its way. Else why not.
Async<std::optional<std::string>> WorkStream::Impl::connect() {
    socket = std::make_unique<Socket>(context);
    to_write.clear();
    writing = false;
    tcp::resolver resolver(context);
    auto [unknown, addresses] =
        co_await resolver.async_resolve(options.url.host, options.url.port, kTuple);
    if (unknown) co_return "cannot find " + options.url.host + ": " + unknown.message();
    auto& stream = beast::get_lowest_layer(*socket);
    stream.expires_after(kConnectTimeout);
    auto [failed, endpoint] = co_await stream.async_connect(addresses, kTuple);
    if (failed) co_return "cannot reach " + options.url.authority() + ": " + failed.message();
    error_code ignored;
    stream.socket().set_option(tcp::no_delay(true), ignored);
    stream.expires_never();
    greet(*socket);
    websocket::response_type answer;
    auto [declined] = co_await socket->async_handshake(answer, options.url.authority(),
                                                       options.url.prefix + "/v1/work", kTuple);
    if (declined) {
        check_answer(answer);
        co_return "no WebSocket with " + options.url.authority() + ": " + declined.message();
    }
    open = true;
    to_write.push_back(user->first_frame());
    write_next();
    co_return std::nullopt;
}

void WorkStream::Impl::greet(Socket& connection) const {
    connection.set_option(websocket::stream_base::timeout{kConnectTimeout, kStreamSilence, true});
    connection.set_option(websocket::stream_base::decorator(
        [token = options.token](websocket::request_type& request) {
            request.set(beast::http::field::user_agent, "holdfast-cpp");
            if (!token.empty()) request.set(beast::http::field::authorization, "Bearer " + token);
        }));
    connection.read_message_max(kLargestFrame);
    connection.auto_fragment(false);
    connection.write_buffer_bytes(kWriteBuffer);
    connection.text(true);
}

/// A 4xx will not change by asking again.
void WorkStream::Impl::check_answer(const websocket::response_type& answer) const {
    const auto status = static_cast<int>(answer.result_int());
    if (status < 400 || status >= 500 || status == 408 || status == 429) return;
    throw problem(status, nullptr);
}

/// Reads until the connection is lost or to be left, and says why it ended.
Async<std::string> WorkStream::Impl::talk() {
    beast::flat_buffer buffer;
    for (;;) {
        auto [failed, bytes] = co_await socket->async_read(buffer, kTuple);
        if (failed) co_return failed.message();
        const auto data = buffer.cdata();
        user->received({static_cast<const char*>(data.data()), data.size()});
        buffer.consume(buffer.size());
        plan_tick();
        pump();
        if (user->over()) leave();
        if (!leaving && user->leave_connection()) co_return "the server ended it";
    }
}

void WorkStream::Impl::pump() {
    if (!open || writing) return;
    for (auto& frame : user->outgoing()) to_write.push_back(std::move(frame));
    write_next();
}

void WorkStream::Impl::write_next() {
    if (to_write.empty() || !open) return;
    writing = true;
    socket->async_write(asio::buffer(to_write.front()),
                        [this, mine = generation](error_code failed, std::size_t) {
                            if (mine != generation) return;
                            writing = false;
                            // The reader notices a broken connection.
                            if (failed || !open) return;
                            to_write.pop_front();
                            if (user->over()) return on_wake();
                            if (!to_write.empty()) return write_next();
                            pump();
                        });
}

void WorkStream::Impl::plan_tick() {
    const auto now = StreamUser::Clock::now();
    clock_timer.expires_at(user->tick(now));
    clock_timer.async_wait([this](error_code cancelled) {
        if (cancelled) return;
        plan_tick();
        pump();
        if (user->over()) on_wake();
    });
}

}  // namespace holdfast::client
