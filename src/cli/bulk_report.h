// An act on every task that matches, and what came of it.
#pragma once

#include <optional>
#include <string>

#include "cli/context.h"

namespace holdfast::cli {

struct BulkWish {
    std::string action = {}, reason = {};
    client::Filter filter = {};
    bool dry_run = false, yes = false, all = false;
    std::optional<std::int64_t> limit = {};
    std::optional<double> rate = {};
};

/// --dry-run, --yes, --rate
void declare_bulk(Options& options, BulkWish& wish);

/// Counts first and asks, unless it is told not to.
int act_on_all(const BulkWish& wish, Context& context);

/// Waits for a job that goes on, then prints its report.
int print_bulk_report(json::object report, const std::string& verb, Context& context);

}  // namespace holdfast::cli
