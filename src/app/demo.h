// The demo of `holdfast dev`: tasks that succeed, fail and are tried again, crash their worker, and wait for a
// person. Its worker is a process of its own, because it has to die now and then.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace holdfast::app {

inline constexpr std::string_view kDemoWorker = "demo-worker";

/// The worker's process: `holdfast demo-worker URL`.
int demo_worker(const std::vector<std::string>& arguments);

/// Submits tasks now and then, and starts the worker again whenever it has died.
class Demo {
  public:
    explicit Demo(std::string url);
    ~Demo();
    Demo(const Demo&) = delete;
    Demo& operator=(const Demo&) = delete;

    /// Returns at once; the threads leave soon after.
    void stop();

  private:
    void produce();
    void keep_a_worker();
    /// Sleeps; false: it is over.
    bool rest(std::chrono::milliseconds time);

    std::string url_;
    std::atomic<bool> stopping_ = false;
    std::thread producer_;
    std::thread keeper_;
};

}  // namespace holdfast::app
