// What came of acting on many tasks.
#pragma once

#include <string>

#include "cli/context.h"

namespace holdfast::cli {

/// Waits for the end when it goes on as a job. Refusals are told; they alone are no failure of the command.
int print_bulk_report(json::object report, const std::string& verb, Context& context);

}  // namespace holdfast::cli
