#include "cli/verdict.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using Kind = Verdict::Kind;

ChildEnd shell(const std::string& script, const std::string& input = "",
               std::stop_token stop = {}) {
    ChildWish wish;
    wish.command = {"sh", "-c", script};
    wish.input = input;
    wish.environment = {{"HOLDFAST_TASK_ID", "the-id"}};
    wish.grace = 200ms;
    wish.stop = stop;
    return run_child(wish);
}

TEST(Child, reads_its_input_and_environment_and_is_read) {
    const auto end = shell("cat; echo $HOLDFAST_TASK_ID; echo to-err >&2", "payload ");
    EXPECT_EQ(end.output, "payload the-id\n");
    EXPECT_EQ(end.errors, "to-err\n");
    EXPECT_EQ(end.code, 0);
}

TEST(Child, much_text_in_both_directions_does_not_block) {
    const std::string input(3'000'000, 'x');
    const auto end = shell("cat | wc -c; head -c 500000 /dev/zero | tr '\\0' e >&2", input);
    EXPECT_EQ(end.output, "3000000\n");
    EXPECT_EQ(end.errors.size(), 32'768U) << "the end is kept";
}

TEST(Child, one_that_does_not_read_its_input_is_no_trouble) {
    ::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(shell("exit 3", std::string(1'000'000, 'x')).code, 3);
}

TEST(Child, output_beyond_the_limit_is_noticed) {
    const auto end = shell("head -c 2000000 /dev/zero");
    EXPECT_TRUE(end.output_too_long);
    EXPECT_EQ(end.output.size(), std::size_t{1} << 20);
}

TEST(Child, a_program_that_is_not_there_is_told) {
    ChildWish wish;
    wish.command = {"/nonexistent/program"};
    EXPECT_TRUE(run_child(wish).problem.contains("/nonexistent/program"));
}

TEST(Child, being_asked_to_stop_it_gets_sigterm_and_may_tidy_up) {
    std::stop_source stop;
    std::jthread later([&] {
        std::this_thread::sleep_for(100ms);
        stop.request_stop();
    });
    const auto end =
        shell("trap 'echo tidy; exit 9' TERM; while :; do sleep 0.02; done", "", stop.get_token());
    EXPECT_EQ(end.output, "tidy\n");
    EXPECT_EQ(end.code, 9);
}

TEST(Child, one_that_does_not_listen_is_killed_with_its_children) {
    std::stop_source stop;
    stop.request_stop();
    const auto begun = std::chrono::steady_clock::now();
    const auto end =
        shell("trap '' TERM; sleep 100 & echo $!; wait; sleep 100", "", stop.get_token());
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
    EXPECT_EQ(end.signal, SIGKILL);
    if (!end.output.empty()) {
        const auto grandchild = static_cast<pid_t>(std::stoi(end.output));
        bool gone = false;
        for (int i = 0; i < 100 && !gone; ++i) {
            // It may be there as a zombie until somebody reaps it.
            std::ifstream status("/proc/" + std::to_string(grandchild) + "/stat");
            std::string pid, name, state;
            gone = !(status >> pid >> name >> state) || state == "Z";
            if (!gone) std::this_thread::sleep_for(10ms);
        }
        EXPECT_TRUE(gone);
    }
}

TEST(Child, what_it_leaves_running_is_not_waited_for) {
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(shell("sleep 100 & echo done").output, "done\n");
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
}

TEST(Verdict, exit_codes_decide) {
    EXPECT_EQ(verdict_of({.code = 0}, false).kind, Kind::done);
    EXPECT_EQ(verdict_of({.code = 65}, false).kind, Kind::permanent);
    EXPECT_EQ(verdict_of({.code = 75}, false).kind, Kind::transient);
    EXPECT_EQ(verdict_of({.code = 1}, false).kind, Kind::transient);
    EXPECT_EQ(verdict_of({.signal = 11}, false).kind, Kind::transient);
    EXPECT_EQ(verdict_of({.problem = "no such file"}, false).kind, Kind::transient);
}

TEST(Verdict, the_result_is_json_or_else_plain_text) {
    EXPECT_EQ(verdict_of({.output = "{\"a\": 1}\n"}, false).result, (boost::json::value{{"a", 1}}));
    EXPECT_EQ(verdict_of({.output = "hello\n"}, false).result, "hello");
    EXPECT_TRUE(verdict_of({.output = "\n"}, false).result.is_null());
}

TEST(Verdict, the_last_line_of_standard_error_is_the_message_and_all_of_it_the_stack) {
    const auto verdict =
        verdict_of({.code = 1, .errors = "Traceback:\n  line 1\nError: no disk\n\n"}, false);
    EXPECT_EQ(verdict.message, "Error: no disk");
    EXPECT_EQ(verdict.stack, "Traceback:\n  line 1\nError: no disk\n\n");
    EXPECT_EQ(verdict.code, "exit_1");
    EXPECT_EQ(verdict_of({.signal = 9}, false).message, "the program ended with signal 9");
}

TEST(Verdict, too_long_a_result_is_permanent_and_a_cancelled_one_says_so) {
    EXPECT_EQ(verdict_of({.output_too_long = true}, false).kind, Kind::permanent);
    EXPECT_EQ(verdict_of({.signal = 15}, true).message, "cancelled");
    EXPECT_EQ(verdict_of({.code = 0}, true).kind, Kind::done) << "it came first";
}

}  // namespace
}  // namespace holdfast::cli
