#include "testing/redis_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

namespace holdfast::testing {
namespace {

constexpr int kTries = 5;        // another process may take the port before the server does
constexpr int kNoProgram = 127;  // as a shell says it

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }
    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

  private:
    int fd_;
};

std::unexpected<Error> failed(std::string_view what) {
    return refuse(Code::unavailable,
                  std::string(what).append(": ").append(std::generic_category().message(errno)));
}

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

Result<std::uint16_t> free_port() {
    const Descriptor probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(probe.get(), generic, size) != 0 || getsockname(probe.get(), generic, &size) != 0)
        return failed("no free port");
    return ntohs(address.sin_port);
}

/// Waits until the server says that it is ready; false: it ended before.
bool wait_until_ready(int output) {
    std::string said;
    std::array<char, 4096> buffer{};
    while (!said.contains("Ready to accept connections")) {
        const ssize_t size = read(output, buffer.data(), buffer.size());
        if (size <= 0) return false;
        said.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return true;
}

bool answers_ping(std::uint16_t port) {
    constexpr std::string_view kPing = "PING\r\n";
    const Descriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    if (connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        return false;
    std::array<char, 16> buffer{};
    return write(client.get(), kPing.data(), kPing.size()) == std::ssize(kPing) &&
           read(client.get(), buffer.data(), buffer.size()) > 0 &&
           std::string_view(buffer.data()).starts_with("+PONG");
}

[[noreturn]] void become_server(std::vector<std::string>& words, int output) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // a test that crashes leaves nothing behind
    dup2(output, STDOUT_FILENO);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(kNoProgram);
}

}  // namespace

Result<std::unique_ptr<RedisServer>> RedisServer::start(std::vector<std::string> options) {
    std::unique_ptr<RedisServer> server(new RedisServer);
    std::string folder = std::filesystem::temp_directory_path() / "holdfast-redis-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) return failed("no folder for redis-server");
    server->folder_ = folder;
    server->options_ = std::move(options);
    TRY_VOID(server->spawn_on_a_free_port());
    return server;
}

Result<> RedisServer::restart() {
    stop();
    return spawn_on_a_free_port();
}

Result<> RedisServer::spawn_on_a_free_port() {
    Result<> spawned = refuse(Code::unavailable, "not tried");
    for (int i = 0; i < kTries && !spawned; ++i) {
        spawned = spawn();
        if (!spawned && spawned.error().code != Code::unavailable) break;
    }
    return spawned;
}

Result<> RedisServer::spawn() {
    TRY(port_, free_port());
    std::vector<std::string> words{"redis-server",   "--port",    std::to_string(port_),
                                   "--bind",         "127.0.0.1", "--dir",
                                   folder_.string(), "--save",    ""};
    words.insert(words.end(), options_.begin(), options_.end());
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return failed("no pipe to redis-server");
    const Descriptor output(ends[0]);
    Descriptor input(ends[1]);
    pid_ = fork();
    if (pid_ < 0) return failed("redis-server cannot be started");
    if (pid_ == 0) become_server(words, input.get());
    input.close();
    if (wait_until_ready(output.get()) && answers_ping(port_)) return {};
    int status = 0;
    kill(pid_, SIGTERM);
    waitpid(pid_, &status, 0);
    pid_ = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNoProgram)
        return refuse(Code::not_found, "redis-server is not installed (see tools/install_deps)");
    return refuse(Code::unavailable, "redis-server ended at once");
}

void RedisServer::stop() {
    if (pid_ < 0) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

RedisServer::~RedisServer() {
    stop();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

}  // namespace holdfast::testing
