// Lives per second through the engine's API on the memory store, and what a waiting task weighs.
//
//   bench_core [--smoke] [--lives N] [--waiting N] [-o json]
//
// Never part of a test's verdict: timings are for reading.
#include <malloc.h>

#include "arguments.h"
#include "lives.h"
#include "stores/memory/memory_store.h"

namespace holdfast::bench {
namespace {

/// The median of so many rounds is reported.
constexpr int kRounds = 15;

/// A store and an engine on an io_context of their own.
class Bench {
  public:
    /// The speed of one round of lives, one call after the other.
    double round(std::size_t batch, std::size_t count) {
        lives_.start_over();
        std::size_t done = 0;
        while (done < count) {
            run(context_, lives_.submit(batch));
            done += run(context_, lives_.work(batch));
        }
        const double seconds = lives_.seconds();
        trim();
        return static_cast<double>(done) / seconds;
    }
    void fill(std::size_t waiting) {
        for (std::size_t n = 0; n < waiting; n += 1000)
            run(context_, lives_.submit(std::min<std::size_t>(1000, waiting - n)));
    }
    /// Drops finished tasks, as retention does, so that a long run measures lives and not an ever larger heap.
    void trim() {
        const Time soon = clock_.now() + std::chrono::seconds{1};
        run(context_, store_.trim({soon, soon, {}, SIZE_MAX}));
    }

  private:
    SystemClock clock_;
    asio::io_context context_{1};
    stores::MemoryStore store_{clock_};
    Lives lives_{store_, clock_, context_};
};

double lives_per_second(std::size_t batch, std::size_t lives) {
    Bench bench;
    std::vector<double> rounds;
    for (int i = 0; i < kRounds; ++i) rounds.push_back(bench.round(batch, lives / kRounds));
    return median(rounds);
}

/// Two engines take turns, so that what else the machine does hits both alike.
void few_and_many_waiting(const Report& report, std::size_t lives, std::size_t backlog) {
    Bench few, many;
    few.fill(1000);
    many.fill(backlog);
    std::vector<double> with_few, with_many, ratios;
    for (int i = 0; i < kRounds; ++i) {
        with_few.push_back(few.round(256, lives / kRounds));
        with_many.push_back(many.round(256, lives / kRounds));
        ratios.push_back(with_many.back() / with_few.back());
    }
    report("batch 256, 1 000 waiting", median(with_few), "lives/s");
    report("batch 256, many waiting", median(with_many), "lives/s");
    report("many waiting / 1 000 waiting", 100 * median(ratios), "%");
}

/// Heap bytes per waiting task, its body's text not counted.
double bytes_per_waiting(std::size_t waiting) {
    Bench bench;
    bench.fill(1000);
    const auto in_use = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
    const std::size_t before = in_use();
    bench.fill(waiting);
    bench.trim();  // the feed is bounded and not a waiting task's
    const std::size_t after = in_use();
    const std::size_t body = domain::make_body(sample()).size();
    return static_cast<double>(after - before) / static_cast<double>(waiting) -
           static_cast<double>(body);
}

int bench_main(int argc, char** argv) {
    std::size_t lives = 600'000, backlog = 1'000'000;
    Report report;
    const bool ok = parse(
        argc, argv, {{"--lives", &lives}, {"--waiting", &backlog}},
        {{"--smoke", [&] { lives = backlog = 20'000; }}, {"-o json", [&] { report.json = true; }}});
    if (!ok) {
        std::fputs("usage: bench_core [--smoke] [--lives N] [--waiting N] [-o json]\n", stderr);
        return 2;
    }
    report("batch 1", lives_per_second(1, lives / 4), "lives/s");
    report("batch 16", lives_per_second(16, lives), "lives/s");
    report("batch 256", lives_per_second(256, lives), "lives/s");
    few_and_many_waiting(report, lives, backlog);
    report("per waiting task, without body", bytes_per_waiting(backlog), "bytes");
    return 0;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
    return holdfast::bench::bench_main(argc, argv);
}
