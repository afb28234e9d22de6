#include "cli/guard.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <set>

namespace holdfast::cli {
namespace {

/// Hears which groups there are; when nobody speaks any more, the worker is gone.
[[noreturn]] void watch(int pipe) {
    ::setsid();
    ::prctl(PR_SET_NAME, "holdfast-guard");
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_IGN);
    // It must not keep anything of the worker open.
    const int null = ::open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
    ::dup2(pipe, STDERR_FILENO + 1);
    ::close_range(STDERR_FILENO + 2, ~0U, 0);
    std::set<pid_t> groups;
    pid_t message = 0;
    for (;;) {
        const auto got = ::read(STDERR_FILENO + 1, &message, sizeof message);
        if (got < 0 && errno == EINTR) continue;
        if (got != sizeof message) break;
        if (message > 0) {
            groups.insert(message);
        } else {
            groups.erase(-message);
        }
    }
    for (const pid_t group : groups) ::kill(-group, SIGKILL);
    ::_exit(0);
}

}  // namespace

GroupGuard::GroupGuard() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    guard_ = ::fork();
    if (guard_ == 0) {
        ::close(ends[1]);
        watch(ends[0]);
    }
    ::close(ends[0]);
    pipe_ = ends[1];
}

GroupGuard::~GroupGuard() {
    if (pipe_ >= 0) ::close(pipe_);
    while (guard_ > 0 && ::waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void GroupGuard::tell(pid_t message) const {
    if (pipe_ >= 0) (void)!::write(pipe_, &message, sizeof message);
}

}  // namespace holdfast::cli
