// A task, its way and its waiting, as a person reads them.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/context.h"

namespace holdfast::cli {

/// One task, a field a line.
void print_task(const json::object& task, const Context& context);
/// Rows of a list; as JSON an array.
void print_tasks(const json::array& tasks, const Context& context);

/// Waits until the task is over or the time is; prints it; gives the exit code.
int wait_and_print(const std::string& id, std::chrono::milliseconds wait, Context& context);
/// Prints each step as it comes, until the task is over.
int follow(const std::string& id, Context& context);

/// A step of a task's history in one line (JSON: the step).
void print_step(const json::value& step, const Context& context);

}  // namespace holdfast::cli
