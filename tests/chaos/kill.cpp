// SIGKILL: what the process wrote stays, at whatever point it was.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <map>

#include "commands.h"
#include "life.h"

namespace holdfast::chaos {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
constexpr std::uint64_t kLivesOfADirectory = 8;
constexpr std::string_view kReady = "ready";
constexpr std::array<std::string_view, 3> kFailpoints{"before_write", "before_sync", "after_sync"};

/// How a life is to end.
struct Plan {
    std::chrono::milliseconds after;  ///< At the latest.
    std::string failpoint;
    std::uint64_t pass = 0;
};

Plan some_plan(Rng& rng) {
    if (rng.chance(0.5))
        return {std::chrono::seconds{5}, std::string(kFailpoints[rng.below(kFailpoints.size())]),
                1 + rng.below(rng.chance(0.3) ? 5 : 150)};
    const std::uint64_t longest = rng.chance(0.2) ? 30 : 300;  // some while it is still opening
    return {std::chrono::milliseconds{1 + rng.below(longest)}, {}, 0};
}

class Child {
  public:
    Child(const std::string& directory, std::uint64_t seed, std::uint64_t life, Time start,
          const Plan& plan) {
        std::vector<std::string> words{
            "chaos",       "child",
            "--seed",      std::to_string(seed),
            "--life",      std::to_string(life),
            "--clock",     std::to_string(start.time_since_epoch().count()),
            "--pass",      std::to_string(plan.pass),
            "--failpoint", plan.failpoint,
            "--directory", directory};
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive us
            dup2(ends[1], kToldPipe);
            if (ends[1] == kToldPipe) fcntl(kToldPipe, F_SETFD, 0);
            execv("/proc/self/exe", argv.data());
            _exit(127);
        }
        ::close(ends[1]);
        pipe_ = ends[0];
    }
    ~Child() { ::close(pipe_); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// Listens until it is dead, by its own hand or ours. A line that was cut short was told to nobody.
    void listen_until(SteadyTime deadline, Promises& promises) {
        std::array<char, 65536> buffer;
        for (;;) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                deadline - std::chrono::steady_clock::now());
            if (left.count() <= 0) ::kill(pid_, SIGKILL);
            pollfd wait{pipe_, POLLIN, 0};
            poll(&wait, 1, left.count() <= 0 ? -1 : static_cast<int>(left.count()));
            if (wait.revents == 0) continue;
            const ssize_t got = ::read(pipe_, buffer.data(), buffer.size());
            if (got <= 0) break;
            pending_.append(buffer.data(), static_cast<std::size_t>(got));
            take_lines(promises);
        }
        waitpid(pid_, &status_, 0);
    }
    bool was_killed() const { return WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL; }
    bool was_open() const { return open_; }
    std::string end() const {
        return WIFSIGNALED(status_) ? "signal " + std::to_string(WTERMSIG(status_))
                                    : "exit code " + std::to_string(WEXITSTATUS(status_));
    }

  private:
    void take_lines(Promises& promises) {
        std::size_t begin = 0;
        for (std::size_t end = 0; (end = pending_.find('\n', begin)) != std::string::npos;
             begin = end + 1) {
            const std::string_view line = std::string_view(pending_).substr(begin, end - begin);
            if (line == kReady) {
                open_ = true;
            } else if (const auto told = read_line(line)) {
                promises.hear(*told);
            }
        }
        pending_.erase(0, begin);
    }

    pid_t pid_ = -1;
    int pipe_ = -1;
    int status_ = 0;
    bool open_ = false;
    std::string pending_;
};

/// All lives of all directories so far.
struct KillTale {
    std::uint64_t kills = 0;
    std::uint64_t directories = 0;
    std::uint64_t while_opening = 0;
    std::uint64_t told = 0;
    std::map<std::string, std::uint64_t> at;
};

std::optional<std::string> look(const std::string& directory, Time start, Promises& promises,
                                Rng& rng) {
    auto life = Life::open(small_store(directory), start, rng());
    if (!life) return "it does not open any more: " + life.error().detail;
    (*life)->check(promises);
    if (promises.violation()) return promises.violation()->detail;
    if (!rng.chance(0.5)) return std::nullopt;  // the next one has something left to recover
    const Result<> closed = (*life)->close();
    if (!closed) return "it does not close: " + closed.error().detail;
    return std::nullopt;
}

/// What went wrong, if anything did.
std::optional<std::string> use_directory(const std::string& directory, std::uint64_t kills, Rng rng,
                                         Calendar& calendar, KillTale& tale) {
    Promises promises(rng());
    const std::uint64_t seed = rng();
    for (std::uint64_t life = 1; life <= kLivesOfADirectory && tale.kills < kills; ++life) {
        const Plan plan = some_plan(rng);
        Child child(directory, seed, life, calendar.next(), plan);
        child.listen_until(std::chrono::steady_clock::now() + plan.after, promises);
        ++tale.kills;
        ++tale.at[plan.failpoint.empty() ? "any moment" : plan.failpoint];
        tale.while_opening += child.was_open() ? 0 : 1;
        if (!child.was_killed()) return "the process ended by itself: " + child.end();
        if (promises.violation()) return promises.violation()->detail;
        const bool last = life == kLivesOfADirectory || tale.kills == kills;
        if (!last && rng.chance(0.3)) continue;  // the next process recovers
        if (auto wrong = look(directory, calendar.next(), promises, rng)) return wrong;
    }
    tale.told += promises.heard();
    ++tale.directories;
    return std::nullopt;
}

}  // namespace

int kill_processes(const Arguments& arguments) {
    KillTale tale;
    Calendar calendar;
    std::optional<std::string> wrong;
    std::uint64_t seed = arguments.seed;
    for (; tale.kills < arguments.count; ++seed) {
        Scratch scratch;
        const std::string directory = (scratch.path() / "data").string();
        wrong = use_directory(directory, arguments.count, Rng(seed), calendar, tale);
        if (!wrong) continue;
        scratch.keep();
        std::printf(
            "seed %llu: %s\n  the directory is kept: %s\n  again: chaos kill --kills %llu --seed "
            "%llu\n",
            static_cast<unsigned long long>(seed), wrong->c_str(), directory.c_str(),
            static_cast<unsigned long long>(kLivesOfADirectory),
            static_cast<unsigned long long>(seed));
        break;
    }
    std::string where;
    for (const auto& [name, times] : tale.at)
        where += (where.empty() ? "" : ", ") + std::to_string(times) + " " + name;
    std::printf(
        "%llu kills (%s; %llu while opening) in %llu directories, %llu answers, %d violations\n",
        static_cast<unsigned long long>(tale.kills), where.c_str(),
        static_cast<unsigned long long>(tale.while_opening),
        static_cast<unsigned long long>(tale.directories),
        static_cast<unsigned long long>(tale.told), wrong ? 1 : 0);
    return wrong ? 1 : 0;
}

int be_killed(const Arguments& arguments) {
    stores::SqliteOptions options = small_store(arguments.directory);
    options.failpoint = [&, passes = std::uint64_t{0}](std::string_view point) mutable {
        if (point == arguments.failpoint && ++passes == arguments.pass) ::kill(getpid(), SIGKILL);
    };
    const auto say = [](const std::string& line) {
        if (write(kToldPipe, line.data(), line.size()) < 0) std::_Exit(3);
    };
    auto life = Life::open(std::move(options), Time{Duration{arguments.clock_us}},
                           mix(arguments.seed ^ arguments.life));
    if (!life) {
        std::fprintf(stderr, "cannot open the store: %s\n", life.error().detail.c_str());
        return 1;
    }
    say(std::string(kReady) + '\n');
    (*life)->run({.seed = arguments.seed, .life = arguments.life},
                 [&](const Told& told) { say(to_line(told)); });
    return 1;
}

}  // namespace holdfast::chaos
