// The embedded store through the engine's API: lives per second, latencies, many waiting, many finished, recovery.
//
//   bench_embedded [--smoke] [--dir DIR] [--lives N] [--waiting N] [--finished N] [-o json]
//
// Everything a life writes is on: audit, feed, counters, list indexes. Never part of a test's verdict. Judge the
// figures by the disk's fdatasync, which is printed first and last.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "arguments.h"
#include "lives.h"
#include "stores/sqlite/sqlite_store.h"

namespace holdfast::bench {
namespace {

struct Settings {
    std::size_t lives = 400'000, waiting = 1'000'000, finished = 0;
    std::string dir = std::filesystem::temp_directory_path().string();
    Report report;
};

double sync_p50_ms(const std::filesystem::path& dir) {
    const std::string file = (dir / "sync").string();
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    const std::string block(4096, 'x');
    std::vector<double> times;
    for (int i = 0; i < 300; ++i) {
        if (pwrite(fd, block.data(), block.size(), i * 4096) < 0) break;
        const auto start = std::chrono::steady_clock::now();
        fdatasync(fd);
        times.push_back(Seconds(std::chrono::steady_clock::now() - start).count() * 1000);
    }
    close(fd);
    unlink(file.c_str());
    return median(times);
}

/// What this process wrote to files so far.
double bytes_written() {
    std::ifstream io("/proc/self/io");
    std::string name;
    double value = 0;
    while (io >> name >> value && name != "wchar:") {
    }
    return value;
}

/// A store in a directory of its own, which goes with it.
class Bench {
  public:
    explicit Bench(const Settings& settings) {
        std::string name = settings.dir + "/holdfast-bench-XXXXXX";
        if (mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("cannot make a directory in " + settings.dir);
        options.directory = name;
    }
    ~Bench() {
        lives.reset();
        store.reset();
        std::filesystem::remove_all(options.directory);
    }
    double open() {
        const auto start = std::chrono::steady_clock::now();
        auto opened = stores::SqliteStore::open(options, clock, context.get_executor());
        if (!opened) throw std::runtime_error(opened.error().detail);
        store = *std::move(opened);
        const double seconds = Seconds(std::chrono::steady_clock::now() - start).count();
        lives = std::make_unique<Lives>(*store, clock, context);
        return seconds;
    }
    void close() {
        run(context, store->close());
        lives.reset();
        store.reset();
    }
    /// Several clients at once, each with one batch after the other.
    double lives_per_second(std::size_t batch, std::size_t count, std::size_t clients) {
        lives->start_over();
        std::size_t done = 0, running = clients;
        const auto start = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < clients; ++i) {
            asio::co_spawn(context, client(*lives, batch, count, done),
                           [&running](const std::exception_ptr& failure) {
                               if (failure) std::rethrow_exception(failure);
                               --running;
                           });
        }
        context.restart();
        context.run();
        return static_cast<double>(done) /
               Seconds(std::chrono::steady_clock::now() - start).count();
    }
    void fill(std::size_t count) {
        for (std::size_t n = 0; n < count; n += 1000) run(context, lives->submit(1000));
    }

    stores::SqliteOptions options;
    SystemClock clock;
    asio::io_context context{1};
    std::unique_ptr<stores::SqliteStore> store;
    std::unique_ptr<Lives> lives;

  private:
    static Async<> client(Lives& lives, std::size_t batch, std::size_t count, std::size_t& done) {
        while (done < count) {
            co_await lives.submit(batch);
            done += co_await lives.work(batch);
        }
    }
};

void speeds(const Settings& s) {
    struct Row {
        const char* name;
        std::size_t batch, clients, share;
        bool keys;
    };
    constexpr Row kRows[] = {{"batch 1, 1 client", 1, 1, 100, false},
                             {"batch 1, 32 clients", 1, 32, 20, false},
                             {"batch 16, 4 clients", 16, 4, 4, false},
                             {"batch 256, 4 clients", 256, 4, 1, false},
                             {"batch 1000, 4 clients", 1000, 4, 1, false},
                             {"batch 256, 4 clients, with keys", 256, 4, 1, true},
                             {"batch 1000, 4 clients, with keys", 1000, 4, 1, true}};
    for (const Row& row : kRows) {
        Bench bench(s);
        bench.open();
        bench.lives->with_keys = row.keys;
        const double before = bytes_written();
        s.report(row.name, bench.lives_per_second(row.batch, s.lives / row.share, row.clients),
                 "lives/s");
        s.report("  written per life",
                 (bytes_written() - before) / static_cast<double>(s.lives / row.share), "bytes");
        if (row.batch != 256 || row.keys) continue;
        s.report("  submit of 256, p50", percentile(bench.lives->submits, 0.5), "ms");
        s.report("  submit of 256, p99", percentile(bench.lives->submits, 0.99), "ms");
        s.report("  claim of 256, p99", percentile(bench.lives->claims, 0.99), "ms");
        s.report("  completion of 256, p99", percentile(bench.lives->completions, 0.99), "ms");
    }
}

/// Two stores take turns, so that what else the machine and its disk do hits both alike.
void many_waiting(const Settings& s) {
    Bench few(s), many(s);
    few.open();
    many.options.body_cache_bytes = 0;
    many.open();
    few.fill(1000);
    many.fill(1000);
    const auto in_use = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
    const std::size_t before = in_use();
    many.fill(s.waiting);
    s.report("per waiting task, body on disk",
             static_cast<double>(in_use() - before) / static_cast<double>(s.waiting), "bytes");
    constexpr std::size_t kRounds = 9;
    std::vector<double> with_few, with_many, ratios;
    for (std::size_t i = 0; i < kRounds; ++i) {
        with_few.push_back(few.lives_per_second(256, s.lives / kRounds, 4));
        with_many.push_back(many.lives_per_second(256, s.lives / kRounds, 4));
        ratios.push_back(with_many.back() / with_few.back());
    }
    s.report("batch 256, 1 000 waiting", median(with_few), "lives/s");
    s.report("batch 256, many waiting", median(with_many), "lives/s");
    s.report("many waiting / 1 000 waiting", 100 * median(ratios), "%");

    many.close();
    s.report("reopened with many waiting, warm", many.open(), "s");
    many.close();
    for (const auto& file : std::filesystem::directory_iterator(many.options.directory)) {
        const int fd = ::open(file.path().c_str(), O_RDONLY);
        fdatasync(fd);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
    }
    s.report("reopened with many waiting, cold", many.open(), "s");
}

void many_finished(const Settings& s) {
    Bench bench(s);
    bench.open();
    s.report("batch 256, none finished", bench.lives_per_second(256, s.lives, 4), "lives/s");
    bench.lives_per_second(1000, s.finished, 4);
    s.report("batch 256, many finished", bench.lives_per_second(256, s.lives, 4), "lives/s");
    bench.close();
    s.report("reopened with many finished", bench.open(), "s");
    std::vector<double> pages, loads;
    std::string cursor;
    for (int i = 0; i < 50; ++i) {
        const auto start = std::chrono::steady_clock::now();
        stores::Filter filter;
        filter.states = {domain::State::succeeded};
        const auto page =
            run(bench.context, bench.store->list(filter, cursor, 50, stores::kListBudget));
        pages.push_back(Seconds(std::chrono::steady_clock::now() - start).count() * 1000);
        cursor = page->next;
        const auto look = std::chrono::steady_clock::now();
        run(bench.context, bench.store->load({page->rows[0].header.key()}));
        loads.push_back(Seconds(std::chrono::steady_clock::now() - look).count() * 1000);
    }
    s.report("  a page of 50 finished, p50", median(pages), "ms");
    s.report("  one finished task, p50", median(loads), "ms");
}

int bench_main(int argc, char** argv) {
    Settings s;
    const bool ok = parse(
        argc, argv, {{"--lives", &s.lives}, {"--waiting", &s.waiting}, {"--finished", &s.finished}},
        {{"--smoke", [&] { s.lives = 8'000, s.waiting = 20'000, s.finished = 20'000; }},
         {"-o json", [&] { s.report.json = true; }}},
        {{"--dir", &s.dir}});
    if (!ok) {
        std::fputs(
            "usage: bench_embedded [--smoke] [--dir DIR] [--lives N] [--waiting N] [--finished N] "
            "[-o json]\n",
            stderr);
        return 2;
    }
    s.report("fdatasync p50 before", sync_p50_ms(s.dir), "ms");
    speeds(s);
    s.report("fdatasync p50 between", sync_p50_ms(s.dir), "ms");
    many_waiting(s);
    if (s.finished > 0) many_finished(s);
    s.report("fdatasync p50 after", sync_p50_ms(s.dir), "ms");
    return 0;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
    return holdfast::bench::bench_main(argc, argv);
}
