#include "observe/ports/series.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/packing.h"
#include "domain/lifecycle.h"

namespace holdfast::observe {
namespace {

using domain::Event;
using domain::State;

constexpr std::uint64_t kFormat = 1;
constexpr Duration kRateWindow = std::chrono::minutes{1};
/// A few tasks in the first second of a life are no rate yet.
constexpr Duration kShortest = std::chrono::seconds{10};

std::int64_t index_at(Time at, const Range& range) {
    return at.time_since_epoch() / range.step;
}

std::uint64_t micros(Time t) {
    return static_cast<std::uint64_t>(t.time_since_epoch().count());
}

Time time_of(std::uint64_t us) {
    return Time{Duration{static_cast<std::int64_t>(us)}};
}

std::optional<Counted> end_of(State state) {
    switch (state) {
        case State::succeeded:
            return Counted::succeeded;
        case State::failed:
            return Counted::failed;
        case State::cancelled:
            return Counted::cancelled;
        case State::discarded:
            return Counted::discarded;
        case State::retrying:
            return Counted::retried;
        case State::suspended:
            return Counted::suspended;
        default:
            return std::nullopt;
    }
}

void sum(Counts& into, const Counts& from) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] += from[i];
}

bool is_empty(const Counts& counts) {
    return std::ranges::all_of(counts, [](std::uint32_t n) { return n == 0; });
}

/// What one step counts for: at most a submission or start, and where it led.
Counts counts_of(const engine::Sighting& step) {
    Counts counts{};
    const auto count = [&](Counted what) { ++counts[static_cast<std::size_t>(what)]; };
    if (step.event == Event::submitted) count(Counted::submitted);
    if (step.event == Event::claimed) count(Counted::started);
    if (step.from != step.to) {
        if (const auto end = end_of(step.to)) count(*end);
    }
    return counts;
}

// ---- how it is kept ----

void pack_counts(Packer& out, const Counts& counts) {
    for (const std::uint32_t n : counts) out.number(n);
}

void pack_spread(Packer& out, const Spread& spread) {
    const auto& counts = spread.counts();
    out.number(static_cast<std::uint64_t>(
        std::ranges::count_if(counts, [](std::uint32_t n) { return n > 0; })));
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] > 0) out.number(i).number(counts[i]);
    }
}

Counts read_counts(Unpacker& in) {
    Counts counts{};
    for (std::uint32_t& n : counts) n = static_cast<std::uint32_t>(in.number());
    return counts;
}

Spread read_spread(Unpacker& in) {
    Spread spread;
    for (std::uint64_t left = in.number(); left > 0 && in.ok(); --left) {
        const std::uint64_t bucket = in.number();
        const auto times = static_cast<std::uint32_t>(in.number());
        if (bucket < Spread::kBuckets) spread.add(bucket, times);
    }
    return spread;
}

/// Walks packed series; who looks gives what interests it.
struct Visitor {
    std::function<void(Time saved_at, Time started_at)> head = nullptr;
    std::function<void(std::size_t range, std::int64_t index, const Counts&, const Spread& wait,
                       const Spread& run)>
        cell = nullptr;
    std::function<void(std::string_view queue, std::size_t range, std::int64_t index,
                       const Counts&)>
        queue_cell = nullptr;
};

void walk(std::string_view packed, const Visitor& visitor) {
    Unpacker in(packed);
    if (in.number() != kFormat) return;
    const Time saved_at = time_of(in.number());
    const Time started_at = time_of(in.number());
    if (visitor.head) visitor.head(saved_at, started_at);
    for (std::size_t range = 0; range < kRanges.size(); ++range) {
        for (std::uint64_t left = in.number(); left > 0 && in.ok(); --left) {
            const auto index = static_cast<std::int64_t>(in.number());
            const Counts counts = read_counts(in);
            const Spread wait = read_spread(in);
            const Spread run = read_spread(in);
            if (in.ok() && visitor.cell) visitor.cell(range, index, counts, wait, run);
        }
    }
    if (!visitor.queue_cell) return;
    for (std::uint64_t queues = in.number(); queues > 0 && in.ok(); --queues) {
        const std::string_view name = in.text();
        for (std::size_t range = 0; range < kRanges.size(); ++range) {
            for (std::uint64_t left = in.number(); left > 0 && in.ok(); --left) {
                const auto index = static_cast<std::int64_t>(in.number());
                const Counts counts = read_counts(in);
                if (in.ok()) visitor.queue_cell(name, range, index, counts);
            }
        }
    }
}

}  // namespace

const Range* range_from(std::string_view name) {
    const auto* found = std::ranges::find(kRanges, name, &Range::name);
    return found == kRanges.end() ? nullptr : found;
}

// ---- Spread ----

void Spread::add(Duration took) {
    const double ms = std::chrono::duration<double, std::milli>(took).count();
    const auto bucket = ms < 1 ? 0 : 1 + static_cast<std::size_t>(4 * std::log2(ms));
    ++counts_[std::min(bucket, kBuckets - 1)];
}

void Spread::add(const Spread& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
}

std::optional<double> Spread::quantile(double part) const {
    std::uint64_t all = 0;
    for (const std::uint32_t n : counts_) all += n;
    if (all == 0) return std::nullopt;
    const auto wanted = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(all))));
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    while ((seen += counts_[bucket]) < wanted) ++bucket;
    // The middle of the bucket, on the scale that it is of.
    return bucket == 0 ? 0.5 : std::exp2((static_cast<double>(bucket) - 0.5) / 4);
}

// ---- Series ----

void Series::saw(const engine::Sighting& step) {
    const Counts counts = counts_of(step);
    const std::int64_t index = index_at(step.at, kRanges.front());
    if (index > open_.index) open(index);
    ++steps_;
    sum(open_.counts, counts);
    if (step.event == Event::claimed && is_set(step.created_at))
        open_.wait.add(step.at - step.created_at);
    // Nobody knows how long a worker ran that went silent.
    if (domain::is_held(step.from) && !domain::is_held(step.to) &&
        step.event != Event::lease_ended && is_set(step.started_at))
        open_.run.add(step.at - step.started_at);
    if (is_empty(counts)) return;
    Queue* queue = queue_of(step.queue);
    if (queue == nullptr) return;
    ++queue->steps;
    for (std::size_t r = 0; r < kRanges.size(); ++r) {
        auto& cells = queue->cells[r];
        const std::int64_t at = index_at(step.at, kRanges[r]);
        if (cells.empty() || cells.back().index < at) {
            cells.push_back({at, {}});
            const auto oldest = at - static_cast<std::int64_t>(kRanges[r].cells);
            while (cells.front().index <= oldest) cells.pop_front();
        }
        sum(cells.back().counts, counts);
    }
}

Series::Queue* Series::queue_of(std::string_view name) {
    const auto found = queues_.find(name);
    if (found != queues_.end()) return &found->second;
    if (queues_.size() >= kMostQueues) return nullptr;
    return &queues_[std::string(name)];
}

void Series::open(std::int64_t index) {
    if (open_.index >= 0) close(open_, rings_);
    open_ = Cell{};
    open_.index = index;
}

void Series::close(const Cell& cell, Rings& rings) {
    const Duration at = cell.index * kRanges.front().step;
    for (std::size_t r = 0; r < kRanges.size(); ++r) {
        if (rings[r].empty()) rings[r].resize(kRanges[r].cells);
        const std::int64_t index = at / kRanges[r].step;
        Cell& into = rings[r][static_cast<std::size_t>(index) % kRanges[r].cells];
        if (into.index != index) into = Cell{};
        into.index = index;
        sum(into.counts, cell.counts);
        into.wait.add(cell.wait);
        into.run.add(cell.run);
    }
}

std::string Series::pack(Time now, std::size_t most_queues) const {
    Rings rings = rings_;
    if (open_.index >= 0) close(open_, rings);
    std::string bytes;
    Packer out(bytes);
    out.number(kFormat).number(micros(now)).number(micros(started_at_));
    for (std::size_t r = 0; r < kRanges.size(); ++r) {
        const auto oldest = index_at(now, kRanges[r]) - static_cast<std::int64_t>(kRanges[r].cells);
        const auto is_kept = [&](const Cell& cell) { return cell.index > oldest; };
        out.number(static_cast<std::uint64_t>(std::ranges::count_if(rings[r], is_kept)));
        for (const Cell& cell : rings[r]) {
            if (!is_kept(cell)) continue;
            out.number(static_cast<std::uint64_t>(cell.index));
            pack_counts(out, cell.counts);
            pack_spread(out, cell.wait);
            pack_spread(out, cell.run);
        }
    }
    std::vector<std::pair<std::uint64_t, std::string_view>> busiest;
    busiest.reserve(queues_.size());
    for (const auto& [name, queue] : queues_) busiest.emplace_back(queue.steps, name);
    std::ranges::sort(busiest, std::greater{});
    if (busiest.size() > most_queues) busiest.resize(most_queues);
    out.number(busiest.size());
    for (const auto& [steps, name] : busiest) {
        out.text(name);
        for (const auto& cells : queues_.find(name)->second.cells) {
            out.number(cells.size());
            for (const QueueCell& cell : cells) {
                out.number(static_cast<std::uint64_t>(cell.index));
                pack_counts(out, cell.counts);
            }
        }
    }
    return bytes;
}

// ---- reading ----

Table::Table(const Range& range, std::string queue, Time now)
    : range_(range),
      queue_(std::move(queue)),
      first_(index_at(now, range) - static_cast<std::int64_t>(range.cells) + 1),
      counts_(range.cells),
      wait_(queue_.empty() ? range.cells : 0),
      run_(wait_.size()) {}

void Table::add(std::string_view packed) {
    const auto place = [this](std::size_t range, std::int64_t index) -> std::optional<std::size_t> {
        if (&kRanges[range] != &range_ || index < first_) return std::nullopt;
        const auto at = static_cast<std::size_t>(index - first_);
        return at < counts_.size() ? std::optional(at) : std::nullopt;
    };
    Visitor visitor;
    if (queue_.empty()) {
        visitor.cell = [&](std::size_t range, std::int64_t index, const Counts& counts,
                           const Spread& wait, const Spread& run) {
            const auto at = place(range, index);
            if (!at) return;
            sum(counts_[*at], counts);
            wait_[*at].add(wait);
            run_[*at].add(run);
        };
    } else {
        visitor.queue_cell = [&](std::string_view queue, std::size_t range, std::int64_t index,
                                 const Counts& counts) {
            const auto at = place(range, index);
            if (at && queue == queue_) sum(counts_[*at], counts);
        };
    }
    walk(packed, visitor);
}

Json Table::json() const {
    std::string out = R"({"range":")";
    out.append(range_.name).append(R"(","step":")").append(range_.step_name);
    out.append(R"(","start":")").append(format_time(Time{first_ * range_.step})).append("\"");
    const auto list = [&](std::size_t size, const auto& text_of) {
        out += '[';
        for (std::size_t i = 0; i < size; ++i) out.append(i > 0 ? "," : "").append(text_of(i));
        out += ']';
    };
    for (std::size_t c = 0; c < kCountedNames.size(); ++c) {
        out.append(",\"").append(kCountedNames[c]).append("\":");
        list(counts_.size(), [&](std::size_t i) { return std::to_string(counts_[i][c]); });
    }
    const auto quantiles = [&](const std::vector<Spread>& spreads, double part) {
        list(counts_.size(), [&](std::size_t i) -> std::string {
            const auto ms = spreads.empty() ? std::nullopt : spreads[i].quantile(part);
            if (!ms) return "null";
            return Json::number(*ms < 10 ? std::round(*ms * 10) / 10 : std::round(*ms)).text();
        });
    };
    for (const auto& [name, spreads] : {std::pair{"wait_ms", &wait_}, std::pair{"run_ms", &run_}}) {
        out.append(",\"").append(name).append(R"(":{"p50":)");
        quantiles(*spreads, 0.5);
        out.append(R"(,"p95":)");
        quantiles(*spreads, 0.95);
        out += '}';
    }
    return Json::stored(out + '}');
}

RateTable::RateTable(Time now)
    : now_(now), first_(index_at(now, kRanges.front()) - kRateWindow / kRanges.front().step + 1) {}

void RateTable::add(std::string_view packed) {
    Visitor visitor;
    visitor.head = [&](Time, Time started_at) { since_ = earlier(since_, started_at); };
    visitor.queue_cell = [&](std::string_view queue, std::size_t range, std::int64_t index,
                             const Counts& counts) {
        if (range == 0 && index >= first_) sum(counts_[std::string(queue)], counts);
    };
    walk(packed, visitor);
}

RatesByQueue RateTable::rates() const {
    const Time since = std::max(Time{first_ * kRanges.front().step}, since_);
    const double seconds = std::chrono::duration<double>(std::max(now_ - since, kShortest)).count();
    RatesByQueue rates;
    for (const auto& [queue, counts] : counts_) {
        const auto rate = [&](Counted what) {
            return static_cast<double>(counts[static_cast<std::size_t>(what)]) / seconds;
        };
        rates[queue] = {rate(Counted::submitted), rate(Counted::succeeded) + rate(Counted::failed) +
                                                      rate(Counted::cancelled) +
                                                      rate(Counted::discarded)};
    }
    return rates;
}

}  // namespace holdfast::observe
