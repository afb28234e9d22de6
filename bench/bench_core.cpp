// Lives per second through the engine's API on the memory store, and what a waiting task weighs.
//
//   bench_core [--smoke] [--lives N] [--waiting N] [-o json]
//
// A life is submit + claim + complete, each with its audit row, feed event and counters. Never part of a test's
// verdict: timings are for reading.
#include <malloc.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "stores/memory/memory_store.h"

namespace holdfast {
namespace {

/// The median of so many rounds is reported.
constexpr int kRounds = 15;

struct Settings {
    std::size_t lives = 600'000;
    std::size_t backlog = 1'000'000;
    bool json = false;
};

domain::Submission sample() {
    domain::Submission s;
    s.type = "image.resize";
    s.queue = "default";
    s.payload = *Json::parse(
        R"({"url":"https://example.com/pictures/0001.png","width":1024,"height":768,"format":"webp",)"
        R"("quality":82,"strip":true,"note":"a payload of about two hundred bytes, as in holdfast bench"})");
    return s;
}

/// A store and an engine on an io_context of their own.
class Bench {
  public:
    /// Adds to seconds() what `call` takes.
    auto timed(auto&& call) {
        const auto start = std::chrono::steady_clock::now();
        auto result = call();
        spent_ += std::chrono::steady_clock::now() - start;
        return result;
    }

    template <class T>
    T run(Async<T> work) {
        std::optional<T> result;
        asio::co_spawn(context_, std::move(work), [&](const std::exception_ptr& failure, T value) {
            if (failure) std::rethrow_exception(failure);
            result = std::move(value);
        });
        context_.restart();
        context_.run();
        return *std::move(result);
    }

    std::size_t submit(std::size_t count) {
        std::vector<domain::Submission> batch(count, sample_);
        const auto receipts = timed([&] { return run(engine_.submit(std::move(batch))); });
        return static_cast<std::size_t>(
            std::ranges::count_if(receipts, [](const auto& r) { return r.has_value(); }));
    }

    /// Claims up to `count` tasks and completes them.
    std::size_t work(std::size_t count) {
        engine::ClaimCall call{.queues = {"default"}, .types = {}, .worker = "bench-1"};
        call.max = static_cast<std::uint32_t>(count);
        const auto tasks = timed([&] { return run(engine_.claim(std::move(call))); });
        std::vector<engine::Completion> done;
        for (const auto& task : *tasks)
            done.push_back({task.record.header.id, task.record.header.fence(), {}});
        const auto answers = timed([&] { return run(engine_.complete(std::move(done))); });
        return static_cast<std::size_t>(
            std::ranges::count_if(answers, [](const auto& a) { return a.has_value(); }));
    }

    /// Spent in the engine; making up the requests is not its work.
    double seconds() const { return std::chrono::duration<double>(spent_).count(); }
    void start_over() { spent_ = {}; }

    /// Drops finished tasks, as retention does, so that a long run measures lives and not an ever larger heap.
    void trim() {
        const Time soon = clock_.now() + std::chrono::seconds{1};
        run(store_.trim({soon, soon, {}, SIZE_MAX}));
    }

  private:
    std::chrono::steady_clock::duration spent_{};
    SystemClock clock_;
    asio::io_context context_{1};
    stores::MemoryStore store_{clock_};
    engine::Engine engine_{store_, clock_, context_.get_executor()};
    domain::Submission sample_ = sample();
};

void fill(Bench& bench, std::size_t waiting) {
    for (std::size_t n = 0; n < waiting; n += std::min<std::size_t>(1000, waiting - n))
        bench.submit(std::min<std::size_t>(1000, waiting - n));
}

/// The speed of one round of lives.
double round(Bench& bench, std::size_t batch, std::size_t lives) {
    bench.start_over();
    std::size_t done = 0;
    while (done < lives) {
        bench.submit(batch);
        done += bench.work(batch);
    }
    const double seconds = bench.seconds();
    bench.trim();
    return static_cast<double>(done) / seconds;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

double lives_per_second(std::size_t batch, std::size_t lives) {
    Bench bench;
    std::vector<double> rounds;
    for (int i = 0; i < kRounds; ++i) rounds.push_back(round(bench, batch, lives / kRounds));
    return median(rounds);
}

struct Compared {
    double few, many, ratio;
};

/// Two engines take turns, so that what else the machine does hits both alike.
Compared few_and_many_waiting(std::size_t lives, std::size_t backlog) {
    Bench few, many;
    fill(few, 1000);
    fill(many, backlog);
    std::vector<double> with_few, with_many, ratios;
    for (int i = 0; i < kRounds; ++i) {
        with_few.push_back(round(few, 256, lives / kRounds));
        with_many.push_back(round(many, 256, lives / kRounds));
        ratios.push_back(with_many.back() / with_few.back());
    }
    return {median(with_few), median(with_many), median(ratios)};
}

/// Heap bytes per waiting task, its body's text not counted.
double bytes_per_waiting(std::size_t waiting) {
    Bench bench;
    bench.submit(1000);
    const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (std::size_t n = 0; n < waiting; n += 1000) bench.submit(1000);
    bench.trim();  // the feed is bounded and not a waiting task's
    const std::size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    const std::size_t body = domain::make_body(sample()).size();
    return static_cast<double>(after - before) / static_cast<double>(waiting) -
           static_cast<double>(body);
}

void report(const Settings& settings, std::string_view name, double value, std::string_view unit) {
    const char* format = settings.json ? "{\"name\":\"%.*s\",\"value\":%.0f,\"unit\":\"%.*s\"}\n"
                                       : "%-34.*s %12.0f %.*s\n";
    std::printf(format, static_cast<int>(name.size()), name.data(), value,
                static_cast<int>(unit.size()), unit.data());
    std::fflush(stdout);
}

int bench_main(const Settings& settings) {
    report(settings, "batch 1", lives_per_second(1, settings.lives / 4), "lives/s");
    report(settings, "batch 16", lives_per_second(16, settings.lives), "lives/s");
    report(settings, "batch 256", lives_per_second(256, settings.lives), "lives/s");
    const auto [few, many, ratio] = few_and_many_waiting(settings.lives, settings.backlog);
    report(settings, "batch 256, 1 000 waiting", few, "lives/s");
    report(settings, "batch 256, many waiting", many, "lives/s");
    report(settings, "many waiting / 1 000 waiting", 100 * ratio, "%");
    report(settings, "per waiting task, without body", bytes_per_waiting(settings.backlog),
           "bytes");
    return 0;
}

}  // namespace
}  // namespace holdfast

int main(int argc, char** argv) {
    holdfast::Settings settings;
    for (int i = 1; i < argc; ++i) {
        const std::string_view arg = argv[i];
        const auto number = [&](std::size_t& value) {
            const std::string_view text = ++i < argc ? argv[i] : "";
            const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
            return ec == std::errc{} && end == text.data() + text.size() && value > 0;
        };
        bool ok = true;
        if (arg == "--smoke") {
            settings.lives = 20'000;
            settings.backlog = 20'000;
        } else if (arg == "--lives") {
            ok = number(settings.lives);
        } else if (arg == "--waiting") {
            ok = number(settings.backlog);
        } else if (arg == "-o" && i + 1 < argc && std::string_view(argv[i + 1]) == "json") {
            settings.json = true;
            ++i;
        } else {
            ok = false;
        }
        if (!ok) {
            std::fprintf(stderr,
                         "usage: bench_core [--smoke] [--lives N] [--waiting N] [-o json]\n");
            return 2;
        }
    }
    return holdfast::bench_main(settings);
}
