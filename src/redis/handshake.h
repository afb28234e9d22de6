// What is said on a new connection before anything else, and what the answers mean. Knows no sockets.
//
//     hello ──────────────► check ──► done
//       └─ unknown ─► old ──┘           (RESP2: AUTH and CLIENT SETNAME instead of HELLO)
//     any ── an answer that rules the server out ──► refused
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "redis/command.h"
#include "redis/redis.h"
#include "redis/reply.h"

namespace holdfast::redis {

/// What a server says of itself.
struct Greeting {
    int protocol = 3;
    std::string role;    ///< "master", "slave"…; empty: it may not say.
    std::string run_id;  ///< Another one: it was started again. Empty: it may not say.
};

struct Introduction {
    std::string user, password, client_name;
    int database = 0;
    bool wants_master = true;  ///< A server that takes no writes is refused.
    bool wants_run_id = true;
};

class Handshake {
  public:
    explicit Handshake(Introduction introduction) : introduction_(std::move(introduction)) {}

    /// The commands to send next, all at once; none: done, see greeting().
    std::vector<Command> next();
    /// Their answers, in order. An error: this server will not do.
    Result<> answered(std::span<const Reply> replies);
    const Greeting& greeting() const { return greeting_; }

  private:
    enum class Step : std::uint8_t { hello, old, check, done };

    Result<> hello_answered(const Reply& reply);
    Result<> old_answered(std::span<const Reply> replies);
    Result<> check_answered(std::span<const Reply> replies);

    Introduction introduction_;
    Step step_ = Step::hello;
    Greeting greeting_;
};

}  // namespace holdfast::redis
