// What an operator sees of a running server: metrics for Prometheus, and names for requests and
// traces (observe/trace.h). Logs are everybody's: base/log.h.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"
#include "engine/ports/witness.h"
#include "observe/trace.h"
#include "stores/store.h"

namespace prometheus {
class Registry;
}

namespace holdfast::observe {

/// At most so many values of a label; what comes later is counted under "other", so that a producer
/// that invents names cannot fill the memory of the server or of Prometheus.
inline constexpr std::size_t kMostQueues = 500;
inline constexpr std::size_t kMostTypes = 1000;  ///< Pairs of queue and type.
inline constexpr std::size_t kMostRoutes = 200;
inline constexpr std::size_t kMostAnswers = 2000;  ///< Of route, method and status.
inline constexpr std::string_view kOther = "other";

/// The metrics of the HTTP surface's contract. Safe to use from any thread; an event costs about a
/// hundred nanoseconds and allocates only when its names are new.
class Metrics final : public engine::Witness {
  public:
    explicit Metrics(std::string_view version);
    ~Metrics() override;
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    /// For whoever has metrics of his own, like stores::MeteredStore; it must not outlive this.
    prometheus::Registry& registry();

    /// A claim is counted in holdfast_task_wait_seconds as `at` − `created_at`. Whoever knows better
    /// when a task became due gives that moment as created_at, and none for a later attempt.
    void saw(const engine::Sighting& step) override;
    void refused(Code code) override;

    /// One request was answered. `route` is the route's pattern ("/v1/tasks/{id}"), never the path.
    void answered(std::string_view route, std::string_view method, unsigned status, Duration took);

    // Set before a scrape.
    void set_tasks(const stores::Stats& stats);  ///< What is no longer in it is no longer shown.
    void set_without_wake_source(std::size_t tasks);
    void set_workers(std::size_t workers);

    /// The page that Prometheus reads, with what the process uses now.
    std::string text();
    /// The page's Content-Type.
    static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  private:
    class Families;
    std::unique_ptr<Families> families_;
};

}  // namespace holdfast::observe
