#include "cli/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace holdfast::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// How soon a wish to stop is noticed, and a group that lost its leader is looked at.
constexpr int kLookEveryMs = 50;
constexpr int kCannotExec = 127;

class Pipe {
  public:
    Pipe() {
        if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
    }
    ~Pipe() {
        close_end(0);
        close_end(1);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    bool good() const { return ends_[0] >= 0; }
    int reader() const { return ends_[0]; }
    int writer() const { return ends_[1]; }
    void close_reader() { close_end(0); }
    void close_writer() { close_end(1); }

  private:
    void close_end(std::size_t i) {
        if (ends_[i] >= 0) ::close(std::exchange(ends_[i], -1));
    }
    std::array<int, 2> ends_{-1, -1};
};

/// All that exec needs, made before the fork: a child of a program with threads may not allocate.
struct Prepared {
    explicit Prepared(const ChildWish& wish) {
        for (const auto& word : wish.command) arguments.push_back(word);
        for (char** entry = environ; *entry != nullptr; ++entry) {
            const std::string_view text(*entry);
            bool ours = false;
            for (const auto& [name, value] : wish.environment)
                ours = ours || text.starts_with(name + "=");
            if (!ours) variables.emplace_back(text);
        }
        for (const auto& [name, value] : wish.environment) variables.push_back(name + "=" + value);
        for (auto& word : arguments) argv.push_back(word.data());
        for (auto& entry : variables) envp.push_back(entry.data());
        argv.push_back(nullptr);
        envp.push_back(nullptr);
    }
    std::vector<std::string> arguments, variables;
    std::vector<char*> argv, envp;
};

/// In the child, between fork and exec: only what is safe there.
[[noreturn]] void become(Prepared& program, int in, int out, int err, int problem, pid_t parent) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kCannotExec);  // it died before we could ask to be told
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    // Sockets of the worker must not live on in its children.
    const int last_kept = ::fcntl(problem, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    ::dup2(last_kept, STDERR_FILENO + 1);
    ::fcntl(STDERR_FILENO + 1, F_SETFD, FD_CLOEXEC);
    ::close_range(STDERR_FILENO + 2, ~0U, 0);
    ::execvpe(program.argv[0], program.argv.data(), program.envp.data());
    const int why = errno;
    (void)!::write(STDERR_FILENO + 1, &why, sizeof why);
    ::_exit(kCannotExec);
}

/// Speaks with a program that runs, until it has closed its ends and was ended.
class Conversation {
  public:
    Conversation(const ChildWish& wish, pid_t child, ChildEnd& end)
        : wish_(wish), child_(child), end_(end) {}

    void run(Pipe& in, Pipe& out, Pipe& err) {
        for (const int fd : {in.writer(), out.reader(), err.reader()})
            ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
        // Readable once it has ended.
        const auto child_fd = static_cast<int>(::syscall(SYS_pidfd_open, child_, 0));
        std::string_view unsent = wish_.input;
        bool out_open = true;
        bool err_open = true;
        while (!reaped_ || out_open || err_open) {
            if (unsent.empty()) in.close_writer();
            std::array entries{pollfd{in.writer(), POLLOUT, 0},
                               pollfd{out_open ? out.reader() : -1, POLLIN, 0},
                               pollfd{err_open ? err.reader() : -1, POLLIN, 0},
                               pollfd{reaped_ ? -1 : child_fd, POLLIN, 0}};
            const bool had_ended = reaped_;
            ::poll(entries.data(), entries.size(), kLookEveryMs);
            if (entries[0].revents != 0) send(in, unsent);
            if (entries[1].revents != 0) out_open = read_output(out.reader());
            if (entries[2].revents != 0) err_open = read_errors(err.reader());
            end_if_asked();
            reap(false);
            // All that it wrote itself has been read; what its own children still hold open is not waited for.
            if (had_ended && entries[1].revents == 0 && entries[2].revents == 0) break;
        }
        ::close(child_fd);
        ::kill(-child_, SIGKILL);
        reap(true);
    }

  private:
    static void send(Pipe& in, std::string_view& unsent) {
        const auto sent = ::write(in.writer(), unsent.data(), unsent.size());
        if (sent > 0) {
            unsent.remove_prefix(static_cast<std::size_t>(sent));
        } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            unsent = {};  // it does not want to hear it
        }
    }
    /// False at the end.
    template <class Use>
    bool read_some(int fd, Use use) {
        const auto got = ::read(fd, buffer_.data(), buffer_.size());
        if (got > 0) use(std::string_view(buffer_.data(), static_cast<std::size_t>(got)));
        return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
    }
    bool read_output(int fd) {
        return read_some(fd, [&](std::string_view piece) {
            const auto room = wish_.most_output - end_.output.size();
            if (piece.size() > room) end_.output_too_long = true;
            end_.output.append(piece.substr(0, room));
        });
    }
    bool read_errors(int fd) {
        return read_some(fd, [&](std::string_view piece) {
            if (wish_.on_error_output) wish_.on_error_output(piece);
            end_.errors.append(piece);
            if (end_.errors.size() > 2 * wish_.error_tail)
                end_.errors.erase(0, end_.errors.size() - wish_.error_tail);
        });
    }
    void end_if_asked() {
        if (!wish_.stop.stop_requested() || reaped_) return;
        if (!killed_at_) {
            ::kill(-child_, SIGTERM);
            killed_at_ = Clock::now() + wish_.grace;
        } else if (Clock::now() >= *killed_at_) {
            ::kill(-child_, SIGKILL);
        }
    }
    void reap(bool wait) {
        if (reaped_) return;
        int status = 0;
        pid_t got = 0;
        do {
            got = ::waitpid(child_, &status, wait ? 0 : WNOHANG);
        } while (got < 0 && errno == EINTR);
        if (got != child_) return;
        reaped_ = true;
        if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
        if (WIFEXITED(status)) end_.code = WEXITSTATUS(status);
    }

    const ChildWish& wish_;
    pid_t child_;
    ChildEnd& end_;
    bool reaped_ = false;
    std::optional<Clock::time_point> killed_at_;
    std::array<char, 16'384> buffer_{};
};

}  // namespace

ChildEnd run_child(const ChildWish& wish) {
    ChildEnd end;
    Pipe in;
    Pipe out;
    Pipe err;
    Pipe problem;
    if (!in.good() || !out.good() || !err.good() || !problem.good()) {
        end.problem = std::string("no pipe for it: ") + std::generic_category().message(errno);
        return end;
    }
    Prepared program(wish);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0)
        become(program, in.reader(), out.writer(), err.writer(), problem.writer(), parent);
    if (child < 0) {
        end.problem = std::string("no process for it: ") + std::generic_category().message(errno);
        return end;
    }
    ::setpgid(child, child);  // also here: whoever comes first
    if (wish.guard != nullptr) wish.guard->begun(child);
    in.close_reader();
    out.close_writer();
    err.close_writer();
    problem.close_writer();
    int why = 0;
    const bool failed = ::read(problem.reader(), &why, sizeof why) == sizeof why;
    Conversation(wish, child, end).run(in, out, err);
    if (wish.guard != nullptr) wish.guard->ended(child);
    if (failed)
        end.problem =
            "cannot run '" + wish.command.front() + "': " + std::generic_category().message(why);
    if (end.errors.size() > wish.error_tail)
        end.errors.erase(0, end.errors.size() - wish.error_tail);
    return end;
}

}  // namespace holdfast::cli
