#include "redis/connection.h"

#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace holdfast::redis {
namespace {

constexpr std::size_t kReadBytes = 65'536;
constexpr std::size_t kKeptBytes = 1'048'576;  // a buffer that grew beyond it is given back

constexpr std::string_view kLeaveFor[] = {
    "READONLY",    // a replica now: the master is elsewhere
    "LOADING",     // it was started again under us, and is not ready
    "MASTERDOWN",  // a replica without its master
};

using boost::system::error_code;

std::unique_ptr<Stream> stream_for(const ConnectionOptions& options,
                                   const asio::any_io_executor& executor) {
    return options.tls ? tls_stream(executor, {options.ca_file}) : plain_stream(executor);
}

}  // namespace

Connection::Connection(Address address, ConnectionOptions options, Clock& clock,
                       const asio::any_io_executor& executor)
    : address_(std::move(address)),
      options_(std::move(options)),
      clock_(clock),
      executor_(executor),
      stream_(stream_for(options_, executor)),
      group_(executor),
      watch_(clock, executor),
      open_until_(clock.now() + options_.connect_timeout),
      in_(kReadBytes) {}

Async<std::string> Connection::run() {
    group_.spawn(watch());
    const Result<> connected = co_await stream_->connect(address_);
    if (!connected) end(connected.error().detail);
    if (state_ == State::opening) {
        group_.spawn(write_all());
        group_.spawn(introduce());
        co_await read_all();
    }
    co_await group_.join();
    co_return named(why_);
}

void Connection::give_up(std::string why) {
    end(std::move(why));
}

void Connection::leave(std::string why) {
    if (state_ != State::open) return;
    state_ = State::leaving;
    why_ = std::move(why);
    if (waiters_.empty()) end(why_);
}

void Connection::end(std::string why) {
    if (state_ == State::ended) return;
    const bool was_leaving = state_ == State::leaving;
    state_ = State::ended;
    if (!was_leaving) why_ = std::move(why);
    stream_->close();
    watch_.ring();
    wake_writer();
    const std::size_t first_unsent = waiters_.size() - unsent_;
    for (std::size_t i = 0; i < waiters_.size(); ++i) {
        if (!waiters_[i].handler) continue;
        fail(std::move(waiters_[i].handler),
             {{Code::unavailable, named(why_), {}}, i < first_unsent});
    }
    waiters_.clear();
    unsent_ = 0;
}

std::string Connection::named(std::string_view what) const {
    return "redis " + to_string(address_) + ": " + std::string(what);
}

// ---- before the first call ----

Async<void> Connection::introduce() {
    Handshake handshake(options_.introduction);
    for (auto commands = handshake.next(); !commands.empty(); commands = handshake.next()) {
        std::vector<Reply> replies;
        if (!co_await say(std::move(commands), &replies)) co_return;
        const Result<> fine = handshake.answered(replies);
        if (!fine) co_return end(fine.error().detail);
    }
    if (state_ != State::opening) co_return;
    greeting_ = handshake.greeting();
    state_ = State::open;
    watch_.ring();  // it has the time of the handshake in mind
    if (options_.on_open) options_.on_open(greeting_);
}

/// In one write. False: the connection has ended.
Async<bool> Connection::say(std::vector<Command> commands, std::vector<Reply>* replies) {
    auto keep = [replies](Outcome outcome) {
        if (outcome) replies->push_back(*std::move(outcome));
    };
    for (std::size_t i = 0; i + 1 < commands.size(); ++i) append(commands[i], keep);
    keep(co_await begin(commands.back(), false));
    co_return replies->size() == commands.size();
}

// ---- calls ----

Async<Outcome> Connection::call(const Command& command) {
    return begin(command, false);
}

Async<Outcome> Connection::call_asking(const Command& command) {
    return begin(command, true);
}

std::optional<Failure> Connection::in_the_way(const Command& command) const {
    if (state_ == State::leaving || state_ == State::ended)
        return Failure{{Code::unavailable, named(why_), {}}, false};
    if (waiters_.size() >= kMostCallsInFlight ||
        out_.size() + command.most_bytes() > kMostBytesToSend)
        return Failure{{Code::overloaded, named("too many calls under way"), {}}, false};
    return {};
}

/// No coroutine, so the command is not copied: it lives where it is awaited.
Async<Outcome> Connection::begin(const Command& command, bool asking) {
    auto start = [this, &command, asking](auto&& handler) {
        Handler erased(std::forward<decltype(handler)>(handler));
        if (auto failure = in_the_way(command)) return fail(std::move(erased), *std::move(failure));
        if (asking) append(Command("ASKING"), {});
        append(command, std::move(erased));
    };
    return asio::async_initiate<const asio::use_awaitable_t<>, void(Outcome)>(start,
                                                                              asio::use_awaitable);
}

void Connection::send(const Command& command) {
    if (state_ == State::open) append(command);
}

void Connection::append(const Command& command, Handler handler) {
    waiters_.push_back({std::move(handler), clock_.now() + options_.call_timeout});
    ++unsent_;
    append(command);
}

void Connection::append(const Command& command) {
    command.write_to(out_);
    wake_writer();
}

/// By way of the executor: what else is called in this turn leaves with the same write.
void Connection::wake_writer() {
    if (!idle_writer_) return;
    WriterHandler writer;
    writer.swap(idle_writer_);  // Boost 1.81 cannot assign a handler, nor post it as it is
    asio::post(executor_, [writer = std::move(writer)]() mutable { std::move(writer)(); });
}

void Connection::fail(Handler handler, Failure failure) {
    asio::post(executor_, [handler = std::move(handler), failure = std::move(failure)]() mutable {
        std::move(handler)(std::unexpected(std::move(failure)));
    });
}

// ---- what runs beside the calls ----

Async<void> Connection::write_all() {
    while (state_ != State::ended) {
        if (out_.empty()) {
            auto sleep = [this](auto&& handler) {
                WriterHandler(std::forward<decltype(handler)>(handler)).swap(idle_writer_);
            };
            co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
                sleep, asio::use_awaitable);
            continue;
        }
        std::swap(out_, writing_);
        unsent_ = 0;
        error_code failed;
        co_await stream_->write(writing_, failed);
        if (failed) co_return end("cannot write: " + failed.message());
        writing_.clear();
        if (writing_.capacity() > kKeptBytes) writing_.shrink_to_fit();
    }
}

/// One timer for all calls: they all have the same time, so the oldest is the first to be late.
Async<void> Connection::watch() {
    while (state_ != State::ended) {
        const Time now = clock_.now();
        const bool idle = waiters_.empty();
        Time until = idle ? now + options_.call_timeout : waiters_.front().until;
        if (state_ == State::opening) until = open_until_;
        if (until <= now) {
            const Duration allowed =
                state_ == State::opening ? options_.connect_timeout : options_.call_timeout;
            co_return end("no answer within " + format_duration(allowed));
        }
        const bool rung = co_await watch_.wait_until(until);
        // A peer that vanished without a word is found out before somebody needs it.
        if (!rung && state_ == State::open && idle && waiters_.empty()) append(Command("PING"), {});
    }
}

Async<void> Connection::read_all() {
    while (state_ != State::ended) {
        error_code failed;
        const std::size_t size = co_await stream_->read_some(in_, failed);
        if (failed == asio::error::eof) co_return end("the server closed the connection");
        if (failed) co_return end(failed.message());
        received({in_.data(), size});
        if (state_ == State::leaving && waiters_.empty()) end(why_);
    }
}

void Connection::received(std::string_view bytes) {
    while (!bytes.empty() && state_ != State::ended) {
        switch (parser_.feed(bytes)) {
            case ReplyParser::Outcome::more:
                return;
            case ReplyParser::Outcome::broken:
                return end("does not speak Redis's protocol: " + std::string(parser_.fault()));
            case ReplyParser::Outcome::push:
                if (options_.on_push)
                    options_.on_push(parser_.take());
                else
                    parser_.take();
                break;
            case ReplyParser::Outcome::reply:
                answered(parser_.take());
                break;
        }
    }
}

void Connection::answered(Reply reply) {
    const Value root = reply.root();
    if (is_message(root)) return options_.on_push(reply);
    if (waiters_.empty())
        return end(root.is_error() ? std::string(root.text()) : "it answered what nobody asked");
    Handler handler = std::move(waiters_.front().handler);
    waiters_.pop_front();
    if (root.is_error()) judge(root.text());
    if (handler) std::move(handler)(std::move(reply));
}

/// In RESP2 a published message looks like a reply.
bool Connection::is_message(Value root) const {
    if (!options_.on_push || greeting_.protocol != 2 || !root.is_array()) return false;
    const std::string_view kind = root[0].text();
    return kind == "message" || kind == "subscribe";
}

void Connection::judge(std::string_view error) {
    for (const std::string_view word : kLeaveFor) {
        if (error.starts_with(word)) leave(std::string(error));
    }
}

}  // namespace holdfast::redis
