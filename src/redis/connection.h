// One connection to one server, from dialling to its end. Whoever wants it made again makes another: see link.h.
//
// Calls are appended to one buffer; one write is under way at a time, and what was called meanwhile leaves with the
// next. Replies come in the order of the calls: the oldest waiter gets the next one, at once, inside the read loop.
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/task_group.h"
#include "redis/command.h"
#include "redis/handshake.h"
#include "redis/redis.h"
#include "redis/reply.h"
#include "redis/reply_parser.h"
#include "redis/stream.h"

namespace holdfast::redis {

inline constexpr std::size_t kMostCallsInFlight = 65'536;
inline constexpr std::size_t kMostBytesToSend = 67'108'864;

/// A call without an answer.
struct Failure {
    Error error;
    bool sent = true;  ///< May have reached the server: nobody knows what became of it.
};
using Outcome = std::expected<Reply, Failure>;

struct ConnectionOptions {
    Introduction introduction;
    bool tls = false;
    std::string ca_file;
    Duration connect_timeout{};  ///< For dialling and the handshake together.
    Duration call_timeout{};
    std::function<void(const Greeting&)> on_open;  ///< Calls may be made from now on.
    /// What the server says unasked: published messages. Set: the connection is for subscriptions.
    std::function<void(const Reply&)> on_push;
};

class Connection {
  public:
    Connection(Address address, ConnectionOptions options, Clock& clock,
               const asio::any_io_executor& executor);

    /// Dials, introduces itself, serves calls; returns why that came to an end, when all calls have been answered.
    Async<std::string> run();
    /// Answers what is under way `unavailable` and ends.
    void give_up(std::string why);
    /// Takes no calls any more; ends when those under way have been answered.
    void leave(std::string why);

    /// Why it ends or has ended; empty: it does not.
    std::string why() const { return why_.empty() ? why_ : named(why_); }
    bool is_open() const { return state_ == State::open; }
    /// Only while it is open. The error that a server answered is a reply as any other.
    Async<Outcome> call(const Command& command);
    /// ASKING, then the command, with nothing in between.
    Async<Outcome> call_asking(const Command& command);
    /// Nobody waits for an answer: its own comes as a push.
    void send(const Command& command);

  private:
    enum class State : std::uint8_t { opening, open, leaving, ended };
    using Handler = asio::any_completion_handler<void(Outcome)>;
    using WriterHandler = asio::any_completion_handler<void()>;
    struct Waiter {
        Handler handler;  ///< None: the reply is dropped.
        Time until;
    };

    Async<Outcome> begin(const Command& command, bool asking);
    std::optional<Failure> in_the_way(const Command& command) const;
    void append(const Command& command);
    void append(const Command& command, Handler handler);
    void wake_writer();
    void fail(Handler handler, Failure failure);
    Async<void> introduce();
    Async<bool> say(std::vector<Command> commands, std::vector<Reply>* replies);
    Async<void> write_all();
    Async<void> watch();
    Async<void> read_all();
    void received(std::string_view bytes);
    void answered(Reply reply);
    void judge(std::string_view error);
    bool is_message(Value root) const;
    void end(std::string why);
    std::string named(std::string_view what) const;

    Address address_;
    ConnectionOptions options_;
    Clock& clock_;
    asio::any_io_executor executor_;
    std::unique_ptr<Stream> stream_;
    TaskGroup group_;
    Alarm watch_;
    Time open_until_;
    State state_ = State::opening;
    Greeting greeting_;
    std::string why_;

    std::string out_;      ///< What the next write takes.
    std::string writing_;  ///< What the write under way takes.
    WriterHandler idle_writer_;
    std::deque<Waiter> waiters_;
    std::size_t unsent_ = 0;  ///< How many of the last waiters are still in out_.
    std::vector<char> in_;
    ReplyParser parser_;
};

}  // namespace holdfast::redis
