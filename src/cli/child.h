// A program that is run for one task: text in, text out, and its end.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/guard.h"

namespace holdfast::cli {

struct ChildWish {
    std::vector<std::string> command;
    std::vector<std::pair<std::string, std::string>> environment;  ///< Beside ours.
    std::string input;
    std::size_t most_output = std::size_t{1} << 20;
    std::size_t error_tail = 32'768;
    std::chrono::milliseconds grace{10'000};  ///< From SIGTERM to SIGKILL, once `stop` is asked.
    std::stop_token stop;
    const GroupGuard* guard = nullptr;
    std::function<void(std::string_view)> on_error_output;  ///< As it comes.
};

struct ChildEnd {
    int code = 0;    ///< Of exit; 0 when a signal ended it.
    int signal = 0;  ///< That ended it; 0 when it exited.
    std::string output = {};
    bool output_too_long = false;
    std::string errors = {};   ///< The end of its standard error.
    std::string problem = {};  ///< It could not be started: why.
};

/// Blocks until the program has ended. It has a process group of its own, which is ended as a whole, and dies with
/// the thread that called this.
ChildEnd run_child(const ChildWish& wish);

}  // namespace holdfast::cli
