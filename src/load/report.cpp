// What a benchmark found, for people and for programs.
#include <algorithm>
#include <array>
#include <cstdio>

#include "base/json.h"
#include "load/load.h"

namespace holdfast::load {
namespace {

struct Figure {
    std::string_view name;
    double Report::* value;
    int digits;
};
constexpr std::array kFigures{
    Figure{"submit_bulk_per_s", &Report::submit_bulk, 0},
    Figure{"drain_per_s", &Report::drain, 0},
    Figure{"single_submit_per_s", &Report::single_submit, 0},
    Figure{"end_to_end_per_s", &Report::end_to_end, 0},
    Figure{"latency_ms p50", &Report::latency_p50_ms, 2},
    Figure{"latency_ms p99", &Report::latency_p99_ms, 2},
    Figure{"backlog_rss_mb", &Report::backlog_rss_mb, 1},
    Figure{"fsync_ms before", &Report::fsync_before_ms, 3},
    Figure{"fsync_ms after", &Report::fsync_after_ms, 3},
};

std::string fixed(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

Json rounded(double value, int digits) {
    return Json::number(std::stod(fixed(value, digits)));
}

Json pair(std::string_view a, double x, std::string_view b, double y) {
    return JsonObject{}.add(a, rounded(x, 3)).add(b, rounded(y, 3)).done();
}

}  // namespace

Report median(const std::vector<Report>& runs) {
    Report middle = runs.front();
    for (const Figure& figure : kFigures) {
        std::vector<double> values;
        values.reserve(runs.size());
        for (const Report& run : runs) values.push_back(run.*figure.value);
        std::ranges::sort(values);
        middle.*figure.value = values[values.size() / 2];
    }
    middle.lost = middle.duplicated = 0;
    for (const Report& run : runs) {
        middle.lost += run.lost;
        middle.duplicated += run.duplicated;
    }
    return middle;
}

std::string table(const Report& report) {
    std::string out;
    const auto row = [&](std::string_view name, const std::string& value) {
        std::string line(name);
        line.resize(std::max<std::size_t>(line.size(), 22), ' ');
        out += line + value + '\n';
    };
    row("store", report.store);
    row("durability", report.durability);
    row("tasks", std::to_string(report.tasks));
    for (const Figure& figure : kFigures)
        row(figure.name, fixed(report.*figure.value, figure.digits));
    row("lost", std::to_string(report.lost));
    row("duplicated", std::to_string(report.duplicated));
    return out;
}

std::string json(const Report& r) {
    return JsonObject{}
        .add("submit_bulk_per_s", rounded(r.submit_bulk, 0))
        .add("drain_per_s", rounded(r.drain, 0))
        .add("single_submit_per_s", rounded(r.single_submit, 0))
        .add("latency_ms", pair("p50", r.latency_p50_ms, "p99", r.latency_p99_ms))
        .add("end_to_end_per_s", rounded(r.end_to_end, 0))
        .add("backlog_rss_mb", rounded(r.backlog_rss_mb, 1))
        .add("lost", static_cast<std::int64_t>(r.lost))
        .add("duplicated", static_cast<std::int64_t>(r.duplicated))
        .add("durability", r.durability)
        .add("store", r.store)
        .add("tasks", static_cast<std::int64_t>(r.tasks))
        .add("fsync_ms", pair("before", r.fsync_before_ms, "after", r.fsync_after_ms))
        .done()
        .text();
}

}  // namespace holdfast::load
