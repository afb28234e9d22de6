#include "app/child_server.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <stdexcept>

namespace holdfast::app {
namespace {

/// The first line that the server prints.
std::string first_line(int from) {
    std::string line;
    for (char c = 0; ::read(from, &c, 1) == 1 && c != '\n';) line += c;
    return line;
}

}  // namespace

ChildServer::ChildServer(std::vector<std::string> args) {
    args.insert(args.begin(), {"holdfast", "serve", "--listen", "127.0.0.1:0"});
    std::vector<char*> argv;
    argv.reserve(args.size() + 1);
    for (std::string& arg : args) argv.push_back(arg.data());
    argv.push_back(nullptr);
    int out[2];
    if (::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    const int failed =
        ::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    const std::string line = failed == 0 ? first_line(out[0]) : "";
    ::close(out[0]);
    constexpr std::string_view kBefore = "listening on ";
    if (!line.starts_with(kBefore)) {
        if (failed == 0) ::waitpid(pid_, nullptr, 0);
        throw std::runtime_error("the server did not start; what it said is above");
    }
    url_ = line.substr(kBefore.size());
}

ChildServer::~ChildServer() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
}

}  // namespace holdfast::app
