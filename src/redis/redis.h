// A Redis client: one server, a cluster, or a server found through Sentinels, seen alike. Concurrent calls
// share a connection per server and go out in one write; replies come back in order.
//
// Threads: used from one executor, and answers on it.
// Failure: `unavailable`. A call that never got an answer may have been carried out: whoever changes something
// reads back before doing it again. While a server is known to be gone, calls fail at once and do not queue up.
// Cancelling does not shorten a call: it is answered within Options::call_timeout.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <compare>
#include <cstdint>
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
#include "redis/command.h"
#include "redis/reply.h"

namespace holdfast::redis {

struct Address {
    std::string host;
    std::uint16_t port = 6379;
    friend auto operator<=>(const Address&, const Address&) = default;
};
/// host:port, an IPv6 address in brackets.
std::string to_string(const Address& address);

struct Options {
    enum class Mode : std::uint8_t { single, cluster, sentinel };
    Mode mode = Mode::single;
    std::vector<Address> addresses;  ///< single: the server; else where to ask first, in turn.
    std::string service;             ///< sentinel: the name that it watches the server under.
    std::string user, password;
    int database = 0;
    bool tls = false;
    std::string ca_file;  ///< Whom to believe; empty: whom the system believes.
    std::string client_name = "holdfast";
    Duration connect_timeout = std::chrono::seconds{2};
    Duration call_timeout = std::chrono::seconds{5};   ///< Then the connection is given up.
    Duration longest_pause = std::chrono::seconds{1};  ///< Between attempts to connect again.
};

/// redis://[[user]:password@]host[:port][/database], rediss://…, redis-cluster://host:port,host:port,
/// rediss-cluster://…, redis-sentinel://host:port,host:port/service[/database], rediss-sentinel://…; ?ca=FILE. In user
/// and password %40 stands for @, and so on. An error names what is wrong and repeats no password.
Result<Options> parse_url(std::string_view url);

/// The slot of a key in a cluster: of what stands in its first {braces}, or of all of it.
std::uint16_t slot_of(std::string_view key);

/// A constant text; user data only ever comes as an argument.
class Script {
  public:
    Script(std::string name, std::string text);
    std::string_view name() const { return name_; }
    std::string_view text() const { return text_; }
    std::string_view digest() const { return digest_; }  ///< SHA-1 in hex, as EVALSHA wants it.

  private:
    std::string name_, text_, digest_;
};

class Client {
  public:
    Client(Options options, Clock& clock, asio::any_io_executor executor);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// Returns when the server (of a cluster: every slot's) has answered; an error says what is in the way.
    /// From then on connections that are lost are made again.
    Async<Result<>> start();
    /// Calls under way are answered `unavailable`. Before the client dies; after it, start() begins anew.
    Async<void> stop();

    /// For commands that name no key; of a cluster any server answers. None that block (BLPOP, XREAD BLOCK, WAIT): all
    /// calls to a server share its connection, and would wait with it.
    Async<Result<Reply>> call(Command command);
    /// To the server that has `key`. Redirections of a cluster are followed; an error that the server answered is
    /// `unavailable` with its text ("OOM command not allowed …") in the detail.
    Async<Result<Reply>> call(std::string_view key, Command command);
    /// EVALSHA with `key` as its only KEYS; loads the script where it is not known.
    Async<Result<Reply>> run(const Script& script, std::string_view key,
                             std::vector<std::string> arguments);
    /// Once on each server that takes writes.
    Async<Result<std::vector<Reply>>> call_each(Command command);

    /// On a connection of its own, kept up for as long as the client lives; what is published while it is down is
    /// lost. PUBLISH is an ordinary call. Messages may come until stop() has returned.
    void subscribe(std::string channel, std::function<void(std::string_view message)> on_message);

    /// What is in the way just now; none: all servers answer.
    std::optional<std::string> trouble() const;
    /// Called when a server was replaced or restarted (another run id, another master): what it said before may be
    /// gone.
    void on_another_server(std::function<void()> act);

    class Impl;

  private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::redis
