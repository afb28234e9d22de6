// One connection: reads requests, has them answered, writes the answers; or is handed over to events or a stream.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "http/gate.h"
#include "http/http.h"

namespace holdfast::http {

/// A larger buffer is given back after its request.
inline constexpr std::size_t kKeptRoom = std::size_t{64} << 10;

class Connection {
  public:
    Connection(Server& server, Tcp::socket socket, std::string address);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    Async<void> run();
    const std::string& address() const { return address_; }

    /// Called every half second: ends what is past its time.
    void look_at_the_clock(Time now);
    /// The server stops: ends at once, unless an answer is under way.
    void leave();
    /// Ends at once, whatever is under way.
    void cut();
    /// Whoever was on the other side has closed the connection.
    bool gone() const;

  private:
    /// Reads until a request is complete. False: the connection is over.
    Async<bool> read_request();
    Async<bool> read_more();
    Async<bool> flush();
    void refuse();
    /// Answers what the gate has let in. False: the connection is over.
    Async<bool> answer_one();
    Async<void> serve_events(Call call);
    Async<void> serve_stream(Call call);
    void set_deadline(Duration from_now);
    void set_body_deadline();
    void no_deadline() { deadline_ = kNoTime; }

    Server& server_;
    Tcp::socket socket_;
    std::string address_;  ///< Of the other side.
    std::list<Connection*>::iterator place_;
    Gate gate_;
    std::string in_;
    std::string out_;
    Time deadline_;
    Time body_since_;
    bool busy_ = false;  ///< A request is being answered.
    bool cut_ = false;
    /// How a connection that was handed over is looked after; nothing: as usual.
    struct Keeper {
        std::function<void(Time now)> look_at_the_clock;
        std::function<void()> leave;
        std::function<void()> cut;
    } keeper_;
};

}  // namespace holdfast::http
