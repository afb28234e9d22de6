// Names that dashboards are written against, numbers that move, and a page that promtool accepts.
#include <gtest/gtest.h>
#include <prometheus/registry.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <latch>
#include <thread>

#include "observe/observe.h"
#include "stores/layers/metered_store.h"
#include "stores/memory/memory_store.h"
#include "testing/manual_clock.h"

namespace holdfast::observe {
namespace {

using namespace std::chrono_literals;
using domain::Event;
using domain::State;
using engine::Sighting;

constexpr Time kStart{1'000'000s};

class MetricsPage : public ::testing::Test {
  protected:
    Metrics metrics{"1.2.3"};

    void step(Event event, State from, State to, std::string_view queue = "images",
              std::string_view type = "resize") {
        metrics.saw({.event = event,
                     .from = from,
                     .to = to,
                     .queue = queue,
                     .type = type,
                     .created_at = kStart,
                     .started_at = kStart + 2s,
                     .at = kStart + 5s});
    }
    /// The value of a series, written as on the page; nothing when it is not there.
    std::optional<double> value(const std::string& series) {
        const std::string page = metrics.text();
        const std::size_t at = page.find('\n' + series + ' ');
        if (at == std::string::npos) return std::nullopt;
        return std::stod(page.substr(at + series.size() + 2));
    }
    std::size_t lines_with(std::string_view part) {
        const std::string page = metrics.text();
        std::size_t count = 0;
        for (std::size_t at = 0; (at = page.find(part, at)) != std::string::npos; ++at) ++count;
        return count;
    }
};

TEST_F(MetricsPage, counts_a_life_step_by_step) {
    step(Event::submitted, State::none, State::queued);
    step(Event::claimed, State::queued, State::running);
    step(Event::failed, State::running, State::retrying);
    step(Event::woken, State::retrying, State::queued);
    step(Event::claimed, State::queued, State::running);
    step(Event::lease_ended, State::running, State::queued);
    step(Event::claimed, State::queued, State::running);
    step(Event::failed, State::running, State::suspended);
    step(Event::signalled, State::suspended, State::suspended);
    step(Event::resumed, State::suspended, State::queued);
    step(Event::claimed, State::queued, State::running);
    step(Event::checkpointed, State::running, State::running);
    step(Event::completed, State::running, State::succeeded);
    EXPECT_EQ(value(R"(holdfast_submitted_total{queue="images"})"), 1);
    EXPECT_EQ(value(R"(holdfast_retries_total{queue="images"})"), 1);
    EXPECT_EQ(value(R"(holdfast_lease_expired_total{queue="images"})"), 1);
    EXPECT_EQ(value(R"(holdfast_suspended_total{queue="images"})"), 1);
    EXPECT_EQ(value(R"(holdfast_finished_total{outcome="succeeded",queue="images",type="resize"})"),
              1);
    EXPECT_EQ(value(R"(holdfast_task_wait_seconds_count{queue="images"})"), 4);
    EXPECT_EQ(value(R"(holdfast_task_wait_seconds_sum{queue="images"})"), 20);
    EXPECT_EQ(value(R"(holdfast_task_run_seconds_count{queue="images"})"), 3)
        << "two failures and the success; a lost lease says nothing about running";
    EXPECT_EQ(value(R"(holdfast_task_run_seconds_sum{queue="images"})"), 9);
}

TEST_F(MetricsPage, every_outcome_is_counted_by_queue_and_type) {
    step(Event::failed, State::running, State::failed, "a", "x");
    step(Event::cancelled, State::queued, State::cancelled, "a", "y");
    step(Event::cancelled, State::queued, State::cancelled, "a", "y");
    step(Event::discarded, State::paused, State::discarded, "b", "x");
    EXPECT_EQ(value(R"(holdfast_finished_total{outcome="failed",queue="a",type="x"})"), 1);
    EXPECT_EQ(value(R"(holdfast_finished_total{outcome="cancelled",queue="a",type="y"})"), 2);
    EXPECT_EQ(value(R"(holdfast_finished_total{outcome="discarded",queue="b",type="x"})"), 1);
    EXPECT_EQ(value(R"(holdfast_task_run_seconds_count{queue="b"})"), 0) << "it never ran";
}

TEST_F(MetricsPage, what_has_no_time_is_not_timed_and_time_never_runs_backwards) {
    metrics.saw({.event = Event::claimed,
                 .from = State::queued,
                 .to = State::running,
                 .queue = "q",
                 .type = "t",
                 .created_at = {},
                 .started_at = {},
                 .at = kStart});
    metrics.saw({.event = Event::completed,
                 .from = State::running,
                 .to = State::succeeded,
                 .queue = "q",
                 .type = "t",
                 .created_at = kStart,
                 .started_at = kStart + 1s,
                 .at = kStart});
    EXPECT_EQ(value(R"(holdfast_task_wait_seconds_count{queue="q"})"), 0);
    EXPECT_EQ(value(R"(holdfast_task_run_seconds_count{queue="q"})"), 1);
    EXPECT_EQ(value(R"(holdfast_task_run_seconds_sum{queue="q"})"), 0);
}

TEST_F(MetricsPage, only_stale_leases_count_as_stale) {
    metrics.refused(Code::stale_lease);
    metrics.refused(Code::stale_lease);
    metrics.refused(Code::wrong_state);
    EXPECT_EQ(value("holdfast_stale_refused_total"), 2);
}

TEST_F(MetricsPage, names_that_somebody_invents_end_up_under_other) {
    for (int i = 0; i < 3000; ++i)
        step(Event::completed, State::running, State::succeeded, "one", "t" + std::to_string(i));
    EXPECT_LE(lines_with("holdfast_finished_total{"), kMostTypes + 1);
    EXPECT_GT(*value(R"(holdfast_finished_total{outcome="succeeded",queue="one",type="other"})"),
              1900);
    EXPECT_EQ(value(R"(holdfast_finished_total{outcome="succeeded",queue="one",type="t7"})"), 1);
    for (int i = 0; i < 3000; ++i)
        step(Event::submitted, State::none, State::queued, "q" + std::to_string(i), "t");
    EXPECT_LE(lines_with("holdfast_submitted_total{"), kMostQueues + 1);
    EXPECT_GT(*value(R"(holdfast_submitted_total{queue="other"})"), 2400);
    step(Event::submitted, State::none, State::queued, "one", "new");
    EXPECT_EQ(value(R"(holdfast_submitted_total{queue="one"})"), 1)
        << "a known queue keeps its name";
}

TEST_F(MetricsPage, requests_are_counted_by_route_method_and_status) {
    metrics.answered("/v1/tasks/{id}", "GET", 200, 3ms);
    metrics.answered("/v1/tasks/{id}", "GET", 200, 5ms);
    metrics.answered("/v1/tasks/{id}", "GET", 404, 1ms);
    metrics.answered("/v1/tasks", "BREW", 405, 1ms);
    EXPECT_EQ(
        value(R"(holdfast_http_requests_total{method="GET",route="/v1/tasks/{id}",status="200"})"),
        2);
    EXPECT_EQ(
        value(R"(holdfast_http_requests_total{method="GET",route="/v1/tasks/{id}",status="404"})"),
        1);
    EXPECT_EQ(
        value(R"(holdfast_http_requests_total{method="other",route="/v1/tasks",status="405"})"), 1);
    EXPECT_EQ(value(R"(holdfast_http_request_seconds_count{route="/v1/tasks/{id}"})"), 3);
    EXPECT_DOUBLE_EQ(*value(R"(holdfast_http_request_seconds_sum{route="/v1/tasks/{id}"})"), 0.009);
    for (unsigned i = 0; i < 3000; ++i)
        metrics.answered("/r" + std::to_string(i), "GET", 200 + i % 400, 1ms);
    EXPECT_LE(lines_with("holdfast_http_requests_total{"), kMostAnswers + 1);
    EXPECT_LE(lines_with("holdfast_http_request_seconds_count{"), kMostRoutes + 1);
}

TEST_F(MetricsPage, tasks_are_those_of_the_last_stats_and_no_others) {
    stores::Stats stats;
    const auto add = [&](std::string queue, std::string type, State state, std::uint64_t n) {
        stats.queues.push_back({std::move(queue), std::move(type), {}});
        stats.queues.back().by_state[static_cast<std::size_t>(state)] = n;
    };
    add("a", "x", State::queued, 3);
    add("a", "y", State::queued, 4);
    add("b", "x", State::running, 1);
    metrics.set_tasks(stats);
    EXPECT_EQ(value(R"(holdfast_tasks{queue="a",state="queued"})"), 7) << "types are added up";
    EXPECT_EQ(value(R"(holdfast_tasks{queue="a",state="running"})"), 0);
    EXPECT_EQ(value(R"(holdfast_tasks{queue="b",state="running"})"), 1);
    EXPECT_EQ(value(R"(holdfast_tasks{queue="b",state="none"})"), std::nullopt);
    stats.queues.erase(stats.queues.begin() + 2);
    stats.queues[0].by_state[static_cast<std::size_t>(State::queued)] = 0;
    metrics.set_tasks(stats);
    EXPECT_EQ(value(R"(holdfast_tasks{queue="a",state="queued"})"), 4);
    EXPECT_EQ(value(R"(holdfast_tasks{queue="b",state="running"})"), std::nullopt);
    for (int i = 0; i < 1000; ++i) add("q" + std::to_string(i), "t", State::queued, 1);
    metrics.set_tasks(stats);
    EXPECT_EQ(lines_with(",state=\"queued\"} "), kMostQueues + 1);
    EXPECT_EQ(value(R"(holdfast_tasks{queue="other",state="queued"})"), 501);
    metrics.set_tasks({});
    EXPECT_EQ(lines_with("holdfast_tasks{"), 0U);
}

TEST_F(MetricsPage, the_rest_is_there_before_anything_happened) {
    EXPECT_EQ(value(R"(holdfast_build_info{version="1.2.3"})"), 1);
    EXPECT_EQ(value("holdfast_tasks_without_wake_source"), 0);
    EXPECT_EQ(value("holdfast_workers"), 0);
    EXPECT_EQ(value("holdfast_stale_refused_total"), 0);
    EXPECT_EQ(value(R"(holdfast_submitted_total{queue="default"})"), 0);
    metrics.set_workers(3);
    metrics.set_without_wake_source(2);
    EXPECT_EQ(value("holdfast_workers"), 3);
    EXPECT_EQ(value("holdfast_tasks_without_wake_source"), 2);
}

TEST_F(MetricsPage, shows_what_the_process_uses) {
    EXPECT_GT(*value("process_resident_memory_bytes"), 1e6);
    EXPECT_LT(*value("process_resident_memory_bytes"), 1e12);
    const double before = *value("process_open_fds");
    const int fd = ::dup(0);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(value("process_open_fds"), before + 1);
    ::close(fd);
    const auto now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch());
    EXPECT_LT(*value("process_start_time_seconds"), now.count() + 2);
    EXPECT_GT(*value("process_start_time_seconds"), now.count() - 3600);
    const double used = *value("process_cpu_seconds_total");
    volatile std::uint64_t work = 0;
    for (int i = 0; i < 30'000'000; ++i) work = work + 1;
    EXPECT_GT(*value("process_cpu_seconds_total"), used);
    EXPECT_LT(*value("process_cpu_seconds_total"), used + 60);
}

/// Threads that count the same names, all of them new, at the same time.
void count_together(Metrics& metrics, int threads, int names) {
    std::latch together(threads);
    const auto count = [&] {
        together.arrive_and_wait();
        for (int i = 0; i < names; ++i) {
            metrics.saw({.event = Event::submitted,
                         .from = State::none,
                         .to = State::queued,
                         .queue = "q" + std::to_string(i),
                         .type = "t",
                         .created_at = kStart,
                         .started_at = {},
                         .at = kStart});
            metrics.answered("/r" + std::to_string(i % 100), "GET", 200, 1ms);
        }
        metrics.text();
    };
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t) all.emplace_back(count);
}

TEST_F(MetricsPage, loses_nothing_when_many_threads_count_names_that_are_new) {
    for (int round = 0; round < 20; ++round) {
        Metrics fresh("1");
        count_together(fresh, 4, 300);
        const std::string page = fresh.text();
        for (const std::string_view queue : {"q0", "q150", "q299"})
            ASSERT_NE(
                page.find("holdfast_submitted_total{queue=\"" + std::string(queue) + "\"} 4\n"),
                std::string::npos)
                << queue;
    }
}

/// What promtool says about a page; empty when it has nothing to say.
std::string promtool(const std::string& page) {
    const auto file =
        std::filesystem::temp_directory_path() / ("holdfast-metrics-" + std::to_string(getpid()));
    std::ofstream(file) << page;
    std::FILE* pipe = ::popen(("promtool check metrics <" + file.string() + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return "promtool could not be started";
    std::string said;
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
    const int status = ::pclose(pipe);
    std::filesystem::remove(file);
    return status == 0 ? said : "status " + std::to_string(status) + ": " + said;
}

TEST_F(MetricsPage, passes_promtool_together_with_the_metrics_of_the_store) {
    testing::ManualClock clock;
    stores::MemoryStore memory{clock};
    const stores::MeteredStore store{memory, clock, metrics.registry()};
    step(Event::submitted, State::none, State::queued);
    step(Event::claimed, State::queued, State::running);
    step(Event::completed, State::running, State::succeeded);
    metrics.answered("/v1/tasks/{id}", "GET", 200, 3ms);
    metrics.set_tasks({{{"images", "resize", {}}}, {}});
    const std::string page = metrics.text();
    EXPECT_EQ(promtool(page), "");
    for (const std::string_view name :
         {"tasks", "submitted_total", "finished_total", "task_run_seconds", "task_wait_seconds",
          "retries_total", "suspended_total", "lease_expired_total", "stale_refused_total",
          "commit_seconds", "commit_batch", "tasks_without_wake_source", "http_requests_total",
          "http_request_seconds", "workers", "build_info"})
        EXPECT_NE(page.find("# TYPE holdfast_" + std::string(name) + ' '), std::string::npos)
            << name;
    EXPECT_NE(promtool(page + "holdfast_bad{ 1\n"), "") << "it does look";
}

}  // namespace
}  // namespace holdfast::observe
