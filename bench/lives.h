// Lives through the engine's API on any store. A life is submit + claim + complete, each with its audit row, feed
// event and counters.
#pragma once

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "stores/store.h"

namespace holdfast::bench {

using Seconds = std::chrono::duration<double>;

inline domain::Submission sample() {
    domain::Submission s;
    s.type = "image.resize";
    s.queue = "default";
    s.payload = *Json::parse(
        R"({"url":"https://example.com/pictures/0001.png","width":1024,"height":768,"format":"webp",)"
        R"("quality":82,"strip":true,"note":"a payload of about two hundred bytes, as in holdfast bench"})");
    return s;
}

inline double percentile(std::vector<double> values, double part) {
    if (values.empty()) return 0;
    const auto place = std::min(
        values.size() - 1, static_cast<std::size_t>(part * static_cast<double>(values.size())));
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(place));
    return values[place];
}
inline double median(std::vector<double> values) {
    return percentile(std::move(values), 0.5);
}

template <class T>
T run(asio::io_context& context, Async<T> work) {
    std::optional<T> result;
    asio::co_spawn(context, std::move(work), [&](const std::exception_ptr& failure, T value) {
        if (failure) std::rethrow_exception(failure);
        result = std::move(value);
    });
    context.restart();
    context.run();
    return *std::move(result);
}

/// An engine on a store; both answer on `context`.
class Lives {
  public:
    Lives(stores::Store& store, Clock& clock, asio::io_context& context)
        : engine_(store, clock, context.get_executor()) {}

    bool with_keys = false;

    Async<std::size_t> submit(std::size_t count) {
        std::vector<domain::Submission> batch(count, sample_);
        if (with_keys) {
            for (domain::Submission& s : batch)
                s.idempotency_key = "order-" + std::to_string(++keys_);
        }
        const auto start = std::chrono::steady_clock::now();
        const auto receipts = co_await engine_.submit(std::move(batch));
        spend(start, submits);
        co_return good(receipts);
    }

    /// Claims up to `count` tasks and completes them.
    Async<std::size_t> work(std::size_t count) {
        engine::ClaimCall call{.queues = {"default"}, .types = {}, .worker = "bench-1"};
        call.max = static_cast<std::uint32_t>(count);
        auto start = std::chrono::steady_clock::now();
        const auto tasks = co_await engine_.claim(std::move(call));
        spend(start, claims);
        if (!tasks) co_return 0;
        std::vector<engine::Completion> done;
        for (const auto& task : *tasks)
            done.push_back({task.record.header.id, task.record.header.fence(), {}});
        start = std::chrono::steady_clock::now();
        const auto answers = co_await engine_.complete(std::move(done));
        spend(start, completions);
        co_return good(answers);
    }

    /// Spent in the engine's calls, when one follows the other; making up the requests is not its work.
    double seconds() const { return spent_.count(); }
    void start_over() {
        spent_ = {};
        submits.clear();
        claims.clear();
        completions.clear();
    }
    /// Milliseconds of each call.
    std::vector<double> submits, claims, completions;

  private:
    static std::size_t good(const auto& answers) {
        return static_cast<std::size_t>(
            std::ranges::count_if(answers, [](const auto& a) { return a.has_value(); }));
    }
    void spend(std::chrono::steady_clock::time_point start, std::vector<double>& calls) {
        const Seconds spent = std::chrono::steady_clock::now() - start;
        spent_ += spent;
        calls.push_back(spent.count() * 1000);
    }

    Seconds spent_{};
    std::uint64_t keys_ = 0;
    engine::Engine engine_;
    domain::Submission sample_ = sample();
};

/// A line for a person, or one of JSON.
struct Report {
    bool json = false;
    void operator()(std::string_view name, double value, std::string_view unit) const {
        const char* format = json ? "{\"name\":\"%.*s\",\"value\":%.2f,\"unit\":\"%.*s\"}\n"
                                  : "%-40.*s %12.*f %.*s\n";
        if (json) {
            std::printf(format, static_cast<int>(name.size()), name.data(), value,
                        static_cast<int>(unit.size()), unit.data());
        } else {
            std::printf(format, static_cast<int>(name.size()), name.data(), value < 100 ? 2 : 0,
                        value, static_cast<int>(unit.size()), unit.data());
        }
        std::fflush(stdout);
    }
};

}  // namespace holdfast::bench
