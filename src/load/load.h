// The load that `holdfast bench` puts on a server, over its public protocols. The door of this room.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::load {

struct Options {
    std::string url;  ///< "http://127.0.0.1:7400"
    std::size_t tasks = 20'000;
    std::size_t backlog = 100'000;
    std::size_t latency_seconds = 10;
    std::string disk = ".";  ///< A folder on the disk whose fdatasync is measured.
    std::function<void(std::string_view phase)> on_phase;
};

/// What one run measured. Rates are tasks per second.
struct Report {
    double submit_bulk = 0;
    double drain = 0;
    double single_submit = 0;
    double end_to_end = 0;
    double latency_p50_ms = 0;
    double latency_p99_ms = 0;
    double backlog_rss_mb = 0;
    std::uint64_t lost = 0;
    std::uint64_t duplicated = 0;
    double fsync_before_ms = 0;
    double fsync_after_ms = 0;
    std::string durability;
    std::string store;
    std::size_t tasks = 0;
};

Result<Report> run(const Options& options);
/// Each figure the median of the runs'; what was lost or duplicated in any of them is added up.
Report median(const std::vector<Report>& runs);

std::string table(const Report& report);
/// The object of the API.
std::string json(const Report& report);

/// The median time of fdatasync after a small write there.
double fdatasync_ms(const std::string& folder);

}  // namespace holdfast::load
