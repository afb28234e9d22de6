// A redis-server of a test's own: on a free port of the loopback, in a folder of its own, gone with the test.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace holdfast::testing {

/// A folder of a test's own, gone with it.
class Folder {
  public:
    static Result<Folder> make();
    Folder() = default;
    ~Folder();
    Folder(Folder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    Folder& operator=(Folder&& other) noexcept {
        std::swap(path_, other.path_);
        return *this;
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// A certificate for 127.0.0.1 and the authority that signed it, made by openssl.
struct Certificates {
    static Result<Certificates> make();
    std::string ca() const { return folder.path() / "ca.crt"; }
    std::string certificate() const { return folder.path() / "redis.crt"; }
    std::string key() const { return folder.path() / "redis.key"; }
    Folder folder;
};

class RedisServer {
  public:
    /// Returns when the server answers. `options` as on its command line: {"--appendonly", "yes"}.
    static Result<std::unique_ptr<RedisServer>> start(std::vector<std::string> options = {});
    /// Speaks TLS only.
    static Result<std::unique_ptr<RedisServer>> start_tls(const Certificates& certificates,
                                                          std::vector<std::string> options = {});
    /// A Sentinel with these lines in its configuration.
    static Result<std::unique_ptr<RedisServer>> start_sentinel(std::vector<std::string> lines);
    ~RedisServer();
    RedisServer(const RedisServer&) = delete;
    RedisServer& operator=(const RedisServer&) = delete;

    /// Ends the server as an operator would and starts it again on what it kept; the port is another one.
    Result<> restart();
    /// SIGKILL: what was not on disk is lost.
    void kill();
    /// After kill() or stop(): on what it kept, on the same port.
    Result<> start_again();
    /// SIGTERM.
    void stop();
    /// SIGSTOP and SIGCONT: it holds its connections and says nothing.
    void freeze() const;
    void thaw() const;

    std::uint16_t port() const { return port_; }
    const std::filesystem::path& folder() const { return folder_.path(); }
    bool is_running() const { return pid_ > 0; }

  private:
    enum class Kind : std::uint8_t { plain, tls, sentinel };

    RedisServer(Kind kind, std::vector<std::string> options)
        : kind_(kind), options_(std::move(options)) {}
    static Result<std::unique_ptr<RedisServer>> start(Kind kind, std::vector<std::string> options);
    std::vector<std::string> words() const;
    Result<> write_configuration() const;
    Result<> spawn();
    Result<> spawn_on_a_free_port();
    void end(int signal);

    Kind kind_;
    std::vector<std::string> options_;
    Folder folder_;
    std::uint16_t port_ = 0;
    pid_t pid_ = -1;
};

/// Of the loopback, free just now.
Result<std::uint16_t> free_port();

}  // namespace holdfast::testing
