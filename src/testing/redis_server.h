// A redis-server of a test's own: on a free port of the loopback, in a folder of its own, gone with the test.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace holdfast::testing {

class RedisServer {
  public:
    /// Returns when the server answers PING. `options` as on its command line: {"--appendonly", "yes"}.
    static Result<std::unique_ptr<RedisServer>> start(std::vector<std::string> options = {});
    ~RedisServer();
    RedisServer(const RedisServer&) = delete;
    RedisServer& operator=(const RedisServer&) = delete;

    /// Ends the server as an operator would and starts it again on what it kept; the port is another one.
    Result<> restart();
    std::uint16_t port() const { return port_; }

  private:
    RedisServer() = default;
    Result<> spawn();
    Result<> spawn_on_a_free_port();
    void stop();

    std::vector<std::string> options_;
    std::filesystem::path folder_;
    std::uint16_t port_ = 0;
    pid_t pid_ = -1;
};

}  // namespace holdfast::testing
