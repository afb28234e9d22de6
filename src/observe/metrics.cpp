#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>

#include "base/hash.h"
#include "observe/observe.h"
#include "observe/process.h"

namespace holdfast::observe {
namespace {

using domain::Event;
using domain::State;
using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;
template <class Metric>
using Family = prometheus::Family<Metric>;

// Long polls last up to a minute, tasks up to hours.
const Histogram::BucketBoundaries kRequestSeconds{
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
const Histogram::BucketBoundaries kTaskSeconds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                               0.25,  0.5,    1,     2.5,  5,     10,   30,
                                               60,    300,    900,   3600, 14400};

double seconds(Duration d) {
    return std::max(0.0, std::chrono::duration<double>(d).count());
}

/// Two names that are looked up as they come, and kept as texts.
template <class Text>
struct Pair {
    Text first, second;
    unsigned number = 0;
};
struct PairHash {
    using is_transparent = void;
    template <class Text>
    std::size_t operator()(const Pair<Text>& p) const {
        const std::hash<std::string_view> hash;
        return mix(hash(p.first) + p.number) ^ hash(p.second);
    }
};
struct PairEqual {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const Pair<A>& a, const Pair<B>& b) const {
        return a.number == b.number && a.first == b.first && a.second == b.second;
    }
};
template <class Value>
using PairMap = boost::unordered_flat_map<Pair<std::string>, Value, PairHash, PairEqual>;
using Names = Pair<std::string_view>;

/// The value of `names`, made on first sight; null when the map is full.
template <class Value, class Make>
Value* find_or_make(PairMap<Value>& map, const Names& names, std::size_t most, Make make) {
    if (const auto found = map.find(names); found != map.end()) return &found->second;
    if (map.size() >= most) return nullptr;
    Pair<std::string> key{std::string(names.first), std::string(names.second), names.number};
    return &map.emplace(std::move(key), make()).first->second;
}

std::string_view known_method(std::string_view method) {
    constexpr std::array<std::string_view, 7> kMethods{"GET",    "HEAD",  "POST",   "PUT",
                                                       "DELETE", "PATCH", "OPTIONS"};
    return std::ranges::find(kMethods, method) != kMethods.end() ? method : kOther;
}

struct QueueSeries {
    Counter* submitted;
    Counter* retries;
    Counter* suspended;
    Counter* lease_expired;
    Histogram* run;
    Histogram* wait;
};

constexpr std::size_t kOutcomes = domain::kStates - static_cast<std::size_t>(State::succeeded);

struct TypeSeries {
    QueueSeries* queue;
    std::string queue_label, type_label;
    std::array<Counter*, kOutcomes> finished{};  // made when the first task ends so
};

}  // namespace

class Metrics::Families {
  public:
    explicit Families(std::string_view version) {
        gauge("holdfast_build_info", "The version that runs; always 1.")
            .Add({{"version", std::string(version)}})
            .Set(1);
        // The queue that everybody has: dashboards find its series before the first task.
        type_series({"default", kOther});
    }

    prometheus::Registry& registry() { return registry_; }

    void saw(const engine::Sighting& step) {
        const std::scoped_lock lock(mutex_);
        TypeSeries& type = type_series({step.queue, step.type});
        QueueSeries& queue = *type.queue;
        if (step.event == Event::submitted) queue.submitted->Increment();
        if (step.event == Event::claimed && is_set(step.created_at))
            queue.wait->Observe(seconds(step.at - step.created_at));
        if (step.event == Event::lease_ended) queue.lease_expired->Increment();
        // Nobody knows how long a worker ran that went silent.
        if (is_held(step.from) && !is_held(step.to) && step.event != Event::lease_ended &&
            is_set(step.started_at))
            queue.run->Observe(seconds(step.at - step.started_at));
        if (step.from == step.to) return;
        if (step.to == State::retrying) queue.retries->Increment();
        if (step.to == State::suspended) queue.suspended->Increment();
        if (is_final(step.to)) finished(type, step.to).Increment();
    }

    void refused(Code code) {
        if (code == Code::stale_lease) stale_refused_.Increment();
    }

    void answered(std::string_view route, std::string_view method, unsigned status, Duration took) {
        const std::scoped_lock lock(mutex_);
        Histogram** route_seconds = find_or_make(routes_, {route, {}}, kMostRoutes, [&] {
            return &request_seconds_.Add({{"route", std::string(route)}}, kRequestSeconds);
        });
        if (route_seconds == nullptr) {
            route = kOther;
            route_seconds = find_or_make(routes_, {kOther, {}}, kMostRoutes + 1, [&] {
                return &request_seconds_.Add({{"route", std::string(kOther)}}, kRequestSeconds);
            });
        }
        (*route_seconds)->Observe(seconds(took));
        answer(route, known_method(method), status).Increment();
    }

    void set_tasks(const stores::Stats& stats) {
        std::map<std::string_view, std::array<std::uint64_t, domain::kStates>> queues;
        for (const stores::QueueCounts& counts : stats.queues) {
            const bool room = queues.size() < kMostQueues || queues.contains(counts.queue);
            auto& sums = queues[room ? std::string_view(counts.queue) : kOther];
            for (std::size_t s = 0; s < sums.size(); ++s) sums[s] += counts.by_state[s];
        }
        const std::scoped_lock lock(mutex_);
        for (auto it = tasks_.begin(); it != tasks_.end();) {
            if (queues.contains(it->first)) {
                ++it;
                continue;
            }
            for (Gauge* gauge : it->second) tasks_by_state_.Remove(gauge);
            it = tasks_.erase(it);
        }
        for (const auto& [queue, sums] : queues) set_queue(std::string(queue), sums);
    }

    std::string text() {
        {
            const std::scoped_lock lock(mutex_);
            const ProcessUse use = read_process_use();
            resident_.Set(static_cast<double>(use.resident_bytes));
            fds_.Set(static_cast<double>(use.open_fds));
            started_.Set(use.start_seconds);
            cpu_.Increment(std::max(0.0, use.cpu_seconds - cpu_.Value()));
        }
        std::ostringstream page;
        prometheus::TextSerializer().Serialize(page, registry_.Collect());
        return std::move(page).str();
    }

    Gauge& without_wake_source() { return without_wake_source_; }
    Gauge& workers() { return workers_; }

  private:
    Family<Counter>& counter(const char* name, const char* help) {
        return prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
    }
    Family<Gauge>& gauge(const char* name, const char* help) {
        return prometheus::BuildGauge().Name(name).Help(help).Register(registry_);
    }
    Family<Histogram>& histogram(const char* name, const char* help) {
        return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_);
    }

    /// For a queue too many that of "other"; for a type too many that queue's "other".
    TypeSeries& type_series(const Names& names) {
        const auto make = [&](std::string_view type) {
            return [this, &names, type] {
                auto [label, queue] = queue_series(names.first);
                return TypeSeries{queue, std::move(label), std::string(type), {}};
            };
        };
        if (TypeSeries* own = find_or_make(types_, names, kMostTypes, make(names.second)))
            return *own;
        // Each queue has one more place, and so has "other".
        const bool known = queues_.contains(Names{names.first, {}});
        const std::string_view queue = known || queues_.size() < kMostQueues ? names.first : kOther;
        return *find_or_make(types_, {queue, kOther}, kMostTypes + kMostQueues + 1, make(kOther));
    }

    struct LabelledQueue {
        std::string label;
        QueueSeries* series;
    };
    LabelledQueue queue_series(std::string_view queue) {
        const auto make = [&](std::string_view label) {
            return [this, label] { return make_queue(std::string(label)); };
        };
        if (QueueSeries** own = find_or_make(queues_, {queue, {}}, kMostQueues, make(queue)))
            return {std::string(queue), *own};
        return {std::string(kOther),
                *find_or_make(queues_, {kOther, {}}, kMostQueues + 1, make(kOther))};
    }

    QueueSeries* make_queue(const std::string& queue) {
        const prometheus::Labels labels{{"queue", queue}};
        return &all_queues_.emplace_back(
            QueueSeries{&submitted_.Add(labels), &retries_.Add(labels), &suspended_.Add(labels),
                        &lease_expired_.Add(labels), &run_seconds_.Add(labels, kTaskSeconds),
                        &wait_seconds_.Add(labels, kTaskSeconds)});
    }

    Counter& finished(TypeSeries& type, State outcome) {
        Counter*& counter = type.finished[static_cast<std::size_t>(outcome) -
                                          static_cast<std::size_t>(State::succeeded)];
        if (counter == nullptr)
            counter = &finished_.Add({{"queue", type.queue_label},
                                      {"type", type.type_label},
                                      {"outcome", std::string(to_string(outcome))}});
        return *counter;
    }

    Counter& answer(std::string_view route, std::string_view method, unsigned status) {
        const auto make = [&] {
            return &requests_.Add({{"route", std::string(route)},
                                   {"method", std::string(method)},
                                   {"status", std::to_string(status)}});
        };
        if (Counter** own = find_or_make(answers_, {route, method, status}, kMostAnswers, make))
            return **own;
        route = method = kOther;
        status = 0;
        return **find_or_make(answers_, {route, method, status}, kMostAnswers + 1, make);
    }

    void set_queue(const std::string& queue,
                   const std::array<std::uint64_t, domain::kStates>& by_state) {
        auto [place, fresh] = tasks_.try_emplace(queue);
        auto& gauges = place->second;
        for (std::size_t s = 1; s < domain::kStates; ++s) {  // 0 is none
            Gauge*& gauge = gauges[s - 1];
            if (fresh)
                gauge = &tasks_by_state_.Add(
                    {{"queue", queue}, {"state", std::string(domain::kStateNames[s])}});
            gauge->Set(static_cast<double>(by_state[s]));
        }
    }

    prometheus::Registry registry_;
    Family<Counter>& submitted_ = counter("holdfast_submitted_total", "Tasks accepted, by queue.");
    Family<Counter>& finished_ =
        counter("holdfast_finished_total", "Tasks that ended, by queue, type and outcome.");
    Family<Counter>& retries_ =
        counter("holdfast_retries_total", "Failures after which a task is tried again.");
    Family<Counter>& suspended_ =
        counter("holdfast_suspended_total", "Times that a task was parked for a person.");
    Family<Counter>& lease_expired_ =
        counter("holdfast_lease_expired_total", "Leases that ended because a worker went silent.");
    Family<Histogram>& run_seconds_ = histogram(
        "holdfast_task_run_seconds", "Time an attempt ran, until its worker said how it ended.");
    Family<Histogram>& wait_seconds_ = histogram(
        "holdfast_task_wait_seconds", "Time from when a task could run until it was handed out.");
    Counter& stale_refused_ =
        counter("holdfast_stale_refused_total",
                "Calls of workers refused because somebody else owns the task now.")
            .Add({});
    Family<Counter>& requests_ =
        counter("holdfast_http_requests_total", "Requests answered, by route, method and status.");
    Family<Histogram>& request_seconds_ =
        histogram("holdfast_http_request_seconds", "Time until a request was answered.");
    Family<Gauge>& tasks_by_state_ =
        gauge("holdfast_tasks", "Tasks in the store, by queue and state.");
    Gauge& without_wake_source_ = gauge("holdfast_tasks_without_wake_source",
                                        "Unfinished tasks that nothing will ever move; must be 0.")
                                      .Add({});
    Gauge& workers_ = gauge("holdfast_workers", "Workers seen lately.").Add({});
    Gauge& resident_ =
        gauge("process_resident_memory_bytes", "Resident memory of the process.").Add({});
    Gauge& fds_ = gauge("process_open_fds", "Open file descriptors of the process.").Add({});
    Gauge& started_ =
        gauge("process_start_time_seconds", "When the process began, since 1970.").Add({});
    Counter& cpu_ =
        counter("process_cpu_seconds_total", "Processor time, user and kernel.").Add({});

    std::mutex mutex_;  // guards what follows
    PairMap<TypeSeries> types_;
    PairMap<QueueSeries*> queues_;
    std::deque<QueueSeries> all_queues_;
    PairMap<Histogram*> routes_;
    PairMap<Counter*> answers_;
    std::map<std::string, std::array<Gauge*, domain::kStates - 1>, std::less<>> tasks_;
};

Metrics::Metrics(std::string_view version) : families_(std::make_unique<Families>(version)) {}
Metrics::~Metrics() = default;

prometheus::Registry& Metrics::registry() {
    return families_->registry();
}

void Metrics::saw(const engine::Sighting& step) {
    families_->saw(step);
}

void Metrics::refused(Code code) {
    families_->refused(code);
}

void Metrics::answered(std::string_view route, std::string_view method, unsigned status,
                       Duration took) {
    families_->answered(route, method, status, took);
}

void Metrics::set_tasks(const stores::Stats& stats) {
    families_->set_tasks(stats);
}

void Metrics::set_without_wake_source(std::size_t tasks) {
    families_->without_wake_source().Set(static_cast<double>(tasks));
}

void Metrics::set_workers(std::size_t workers) {
    families_->workers().Set(static_cast<double>(workers));
}

std::string Metrics::text() {
    return families_->text();
}

}  // namespace holdfast::observe
