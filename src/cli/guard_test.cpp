#include "cli/guard.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace holdfast::cli {
namespace {

bool is_gone(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/stat");
    std::string pid, name, state;
    return !(status >> pid >> name >> state) || state == "Z";
}

pid_t sleeper() {
    const pid_t process = ::fork();
    if (process == 0) {
        ::setpgid(0, 0);
        for (;;) ::pause();
    }
    ::setpgid(process, process);
    return process;
}

TEST(Guard, ends_the_groups_of_a_worker_that_was_killed_and_no_others) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t worker = ::fork();
    if (worker == 0) {
        // Before the guard, so that they do not hold its pipe open: programs close it with their exec.
        const std::array groups{sleeper(), sleeper()};
        const GroupGuard guard;
        for (const pid_t group : groups) guard.begun(group);
        guard.ended(groups[1]);
        (void)!::write(ends[1], groups.data(), sizeof groups);
        ::raise(SIGKILL);
    }
    std::array<pid_t, 2> groups{};
    ASSERT_EQ(::read(ends[0], groups.data(), sizeof groups), static_cast<ssize_t>(sizeof groups));
    ::waitpid(worker, nullptr, 0);
    for (int i = 0; i < 500 && !is_gone(groups[0]); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(is_gone(groups[0]));
    EXPECT_FALSE(is_gone(groups[1])) << "it had ended: the number may be somebody else's by now";
    for (const pid_t group : groups) ::kill(group, SIGKILL);
    ::close(ends[0]);
    ::close(ends[1]);
}

}  // namespace
}  // namespace holdfast::cli
