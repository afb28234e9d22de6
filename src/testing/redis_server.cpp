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
#include <cstdlib>
#include <fstream>
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

}  // namespace

Result<std::uint16_t> free_port() {
    const Descriptor probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(probe.get(), generic, size) != 0 || getsockname(probe.get(), generic, &size) != 0)
        return failed("no free port");
    return ntohs(address.sin_port);
}

namespace {

/// REDIS_SERVER names another one than the machine's own.
std::string program() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets any
    const char* const named = std::getenv("REDIS_SERVER");
    return named != nullptr ? named : "redis-server";
}

/// Waits until the server says that it is ready; false: it ended before.
bool wait_until_ready(int output) {
    std::string said;
    std::array<char, 4096> buffer{};
    while (!said.contains("Ready to accept connections") && !said.contains("Sentinel ID is")) {
        const ssize_t size = read(output, buffer.data(), buffer.size());
        if (size <= 0) return false;
        said.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return true;
}

[[noreturn]] void become_server(std::vector<std::string>& words, int output) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // a test that crashes leaves nothing behind
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(kNoProgram);
}

}  // namespace

Result<Folder> Folder::make() {
    std::string path = std::filesystem::temp_directory_path() / "holdfast-redis-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return failed("no folder for redis-server");
    Folder folder;
    folder.path_ = path;
    return folder;
}

Folder::~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<Certificates> Certificates::make() {
    Certificates made;
    TRY(made.folder, Folder::make());
    const std::string script =
        "cd '" + made.folder.path().string() +
        "' && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "
        "/CN=test-ca -keyout ca.key "
        "-out ca.crt"
        " && openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=redis "
        "-keyout redis.key -out redis.csr"
        " && echo subjectAltName=IP:127.0.0.1 >names"
        " && openssl x509 -req -in redis.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2"
        " -extfile names -out redis.crt";
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no test makes certificates on two threads
    if (std::system(("(" + script + ") >/dev/null 2>&1").c_str()) != 0)
        return refuse(Code::unavailable, "openssl made no certificates");
    return made;
}

Result<std::unique_ptr<RedisServer>> RedisServer::start(std::vector<std::string> options) {
    return start(Kind::plain, std::move(options));
}

Result<std::unique_ptr<RedisServer>> RedisServer::start_tls(const Certificates& certificates,
                                                            std::vector<std::string> options) {
    for (const std::string& word :
         {std::string("--tls-cert-file"), certificates.certificate(), std::string("--tls-key-file"),
          certificates.key(), std::string("--tls-ca-cert-file"), certificates.ca(),
          std::string("--tls-auth-clients"), std::string("no")})
        options.push_back(word);
    return start(Kind::tls, std::move(options));
}

Result<std::unique_ptr<RedisServer>> RedisServer::start_sentinel(std::vector<std::string> lines) {
    return start(Kind::sentinel, std::move(lines));
}

Result<std::unique_ptr<RedisServer>> RedisServer::start(Kind kind,
                                                        std::vector<std::string> options) {
    std::unique_ptr<RedisServer> server(new RedisServer(kind, std::move(options)));
    TRY(server->folder_, Folder::make());
    TRY_VOID(server->spawn_on_a_free_port());
    return server;
}

Result<> RedisServer::restart() {
    stop();
    return spawn_on_a_free_port();
}

Result<> RedisServer::start_again() {
    return spawn();
}

Result<> RedisServer::spawn_on_a_free_port() {
    Result<> spawned = refuse(Code::unavailable, "not tried");
    for (int i = 0; i < kTries && !spawned; ++i) {
        TRY(port_, free_port());
        TRY_VOID(write_configuration());
        spawned = spawn();
        if (!spawned && spawned.error().code != Code::unavailable) break;
    }
    return spawned;
}

/// A Sentinel keeps what it learns in its configuration, so it wants a file.
Result<> RedisServer::write_configuration() const {
    if (kind_ != Kind::sentinel) return {};
    std::ofstream file(folder() / "sentinel.conf");
    file << "port " << port_ << "\nbind 127.0.0.1\ndir " << folder().string() << '\n';
    for (const std::string& line : options_) file << line << '\n';
    if (!file.flush()) return failed("no configuration for a Sentinel");
    return {};
}

std::vector<std::string> RedisServer::words() const {
    if (kind_ == Kind::sentinel)
        return {program(), (folder() / "sentinel.conf").string(), "--sentinel"};
    std::vector<std::string> words{program(),         "--bind", "127.0.0.1", "--dir",
                                   folder().string(), "--save", ""};
    const std::string port = std::to_string(port_);
    if (kind_ == Kind::tls) {
        words.insert(words.end(), {"--port", "0", "--tls-port", port});
    } else {
        words.insert(words.end(), {"--port", port});
    }
    words.insert(words.end(), options_.begin(), options_.end());
    return words;
}

Result<> RedisServer::spawn() {
    std::vector<std::string> arguments = words();
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return failed("no pipe to redis-server");
    const Descriptor output(ends[0]);
    Descriptor input(ends[1]);
    pid_ = fork();
    if (pid_ < 0) return failed("redis-server cannot be started");
    if (pid_ == 0) become_server(arguments, input.get());
    input.close();
    if (wait_until_ready(output.get())) return {};
    int status = 0;
    ::kill(pid_, SIGTERM);
    waitpid(pid_, &status, 0);
    pid_ = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNoProgram)
        return refuse(Code::not_found, "redis-server is not installed (see tools/install_deps)");
    return refuse(Code::unavailable, "redis-server ended at once");
}

void RedisServer::end(int signal) {
    if (pid_ < 0) return;
    ::kill(pid_, signal);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void RedisServer::kill() {
    end(SIGKILL);
}

void RedisServer::stop() {
    end(SIGTERM);
}

void RedisServer::freeze() const {
    if (pid_ > 0) ::kill(pid_, SIGSTOP);
}

void RedisServer::thaw() const {
    if (pid_ > 0) ::kill(pid_, SIGCONT);
}

RedisServer::~RedisServer() {
    thaw();  // one that is frozen would not hear that it should end
    stop();
}

}  // namespace holdfast::testing
