#include "load/load.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unordered_map>

#include "holdfast/worker.h"
#include "load/wire.h"

namespace holdfast::load {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t kBatch = 500;
constexpr std::size_t kSubmitters = 4;
constexpr std::size_t kSingles = 16;
constexpr unsigned kSlots = 1000;
constexpr int kPerSecond = 100;
constexpr auto kPatience = std::chrono::seconds{120};

/// About 200 bytes, with a place for a number.
std::string task(std::string_view queue, std::size_t number) {
    return R"({"type":"bench","queue":")" + std::string(queue) + R"(","payload":{"n":)" +
           std::to_string(number) +
           R"(,"url":"https://example.com/images/0123456789abcdef.png","width":512,"height":512,)" +
           R"("format":"webp","quality":80,"note":"a payload of about two hundred bytes"}})";
}

double seconds_since(SteadyClock::time_point start) {
    return Seconds(SteadyClock::now() - start).count();
}

double at(std::vector<double> values, double part) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[std::min(values.size() - 1,
                           static_cast<std::size_t>(part * static_cast<double>(values.size())))];
}

/// Every id that was accepted, and how often it was handled.
class Ledger {
  public:
    void accepted(std::string id) {
        const std::lock_guard lock(mutex_);
        counts_.try_emplace(std::move(id), 0);
    }
    void handled(const std::string& id) {
        const std::lock_guard lock(mutex_);
        ++counts_[id];
    }
    void settle(Report& report) {
        for (const auto& [id, count] : counts_) {
            report.lost += count == 0 ? 1 : 0;
            report.duplicated += count > 1 ? 1 : 0;
        }
    }

  private:
    std::mutex mutex_;
    std::unordered_map<std::string, std::size_t> counts_;
};

void note_ids(std::string_view reply, Ledger* ledger) {
    if (ledger == nullptr) return;
    constexpr std::string_view kId = R"("id":")";
    for (std::size_t at = 0; (at = reply.find(kId, at)) != std::string_view::npos; at += 36) {
        at += kId.size();
        ledger->accepted(std::string(reply.substr(at, 36)));
    }
}

/// Runs these at once, on one thread, until all have returned.
void at_once(std::vector<std::function<Async<void>(asio::any_io_executor)>> all) {
    asio::io_context context(1);
    std::exception_ptr failure;
    for (const auto& make : all) {
        asio::co_spawn(context, make(context.get_executor()), [&](const std::exception_ptr& e) {
            if (e && !failure) failure = e;
        });
    }
    context.run();
    if (failure) std::rethrow_exception(failure);
}

/// Submits what is left of `tasks`, a batch at a time.
Async<void> submit_batches(asio::any_io_executor executor, Endpoint server, std::string queue,
                           std::size_t tasks, std::atomic<std::size_t>* next, Ledger* ledger) {
    Wire wire(std::move(executor));
    co_await wire.connect(server);
    for (;;) {
        const std::size_t from = next->fetch_add(kBatch);
        if (from >= tasks) co_return;
        std::string body = "[";
        for (std::size_t n = from; n < std::min(tasks, from + kBatch); ++n) {
            if (n > from) body += ',';
            body += task(queue, n);
        }
        const std::string request = post("/v1/tasks", body + ']');
        const Reply reply = co_await wire.call(&request);
        if (reply.status != 202)
            throw std::runtime_error("a batch was answered " + std::to_string(reply.status));
        note_ids(reply.body, ledger);
    }
}

void submit(const Endpoint& server, const std::string& queue, std::size_t tasks, Ledger* ledger) {
    std::atomic<std::size_t> next = 0;
    at_once({kSubmitters, [&](asio::any_io_executor executor) {
                 return submit_batches(std::move(executor), server, queue, tasks, &next, ledger);
             }});
}

/// One task per request.
Async<void> submit_singles(asio::any_io_executor executor, Endpoint server, std::string queue,
                           std::size_t tasks, std::atomic<std::size_t>* next) {
    Wire wire(std::move(executor));
    co_await wire.connect(server);
    for (std::size_t n = 0; (n = next->fetch_add(1)) < tasks;) {
        const std::string request = post("/v1/tasks", task(queue, n));
        const Reply reply = co_await wire.call(&request);
        if (reply.status != 202)
            throw std::runtime_error("a task was answered " + std::to_string(reply.status));
    }
}

/// A worker on one connection that does nothing with each task but count it.
class Drain {
  public:
    Drain(const std::string& url, std::string queue, std::size_t expected, unsigned slots,
          std::function<void(client::Job&)> look)
        : worker_(options(url, std::move(queue), slots)),
          expected_(expected),
          look_(std::move(look)) {
        worker_.handle_any([this](client::Job& job) {
            look_(job);
            if (++seen_ == expected_) all_seen_.count_down();
            return boost::json::value(nullptr);
        });
        thread_ = std::thread([this] { worker_.run(); });
    }
    ~Drain() {
        worker_.drain();
        if (thread_.joinable()) thread_.join();
    }
    Drain(const Drain&) = delete;
    Drain& operator=(const Drain&) = delete;

    /// Returns when every outcome was answered.
    void finish() {
        const auto limit = SteadyClock::now() + kPatience;
        while (!all_seen_.try_wait()) {
            if (SteadyClock::now() > limit) break;  // what is missing counts as lost
            std::this_thread::sleep_for(std::chrono::microseconds{200});
        }
        worker_.drain();
        thread_.join();
    }

  private:
    static client::WorkerOptions options(const std::string& url, std::string queue,
                                         unsigned slots) {
        client::WorkerOptions options;
        options.server = url;
        options.worker = "bench";
        options.queues = {std::move(queue)};
        options.slots = slots;
        options.inline_handlers = true;
        return options;
    }

    client::Worker worker_;
    std::size_t expected_;
    std::function<void(client::Job&)> look_;
    std::atomic<std::size_t> seen_ = 0;
    std::latch all_seen_{1};
    std::thread thread_;
};

std::string fetch(const Endpoint& server, std::string_view path) {
    std::string body;
    at_once({[&](asio::any_io_executor executor) -> Async<void> {
        return [](asio::any_io_executor e, Endpoint to, std::string p,
                  std::string* out) -> Async<void> {
            Wire wire(std::move(e));
            co_await wire.connect(to);
            const std::string request = get(p);
            *out = std::string((co_await wire.call(&request)).body);
        }(std::move(executor), server, std::string(path), &body);
    }});
    return body;
}

double resident_mb(const Endpoint& server) {
    const std::string text = fetch(server, "/metrics");
    constexpr std::string_view kName = "\nprocess_resident_memory_bytes ";
    const std::size_t found = text.find(kName);
    return found == std::string::npos ? 0 : std::stod(text.substr(found + kName.size())) / 1e6;
}

/// A steady trickle: from the moment a submit is sent to the moment its handler is entered.
std::vector<double> latencies(const Options& options, const Endpoint& server,
                              const std::string& queue, Ledger& ledger) {
    const std::size_t count = options.latency_seconds * kPerSecond;
    std::vector<SteadyClock::time_point> sent(count), entered(count);
    Drain drain(options.url, queue, count, 64, [&](client::Job& job) {
        const std::size_t n =
            static_cast<std::size_t>(job.payload().at("n").to_number<std::int64_t>());
        entered[n] = SteadyClock::now();
        ledger.handled(job.id());
    });
    std::this_thread::sleep_for(std::chrono::milliseconds{300});
    at_once({[&](asio::any_io_executor executor) {
        return [](asio::any_io_executor e, Endpoint to, std::string q, std::size_t n_tasks,
                  std::vector<SteadyClock::time_point>* sent_at, Ledger* book) -> Async<void> {
            Wire wire(e);
            co_await wire.connect(to);
            asio::steady_timer timer(e);
            const auto start = SteadyClock::now();
            for (std::size_t n = 0; n < n_tasks; ++n) {
                timer.expires_at(start + n * std::chrono::milliseconds{1000 / kPerSecond});
                co_await timer.async_wait(asio::use_awaitable);
                const std::string request = post("/v1/tasks", task(q, n));
                (*sent_at)[n] = SteadyClock::now();
                const Reply reply = co_await wire.call(&request);
                note_ids(reply.body, book);
            }
        }(std::move(executor), server, queue, count, &sent, &ledger);
    }});
    drain.finish();
    std::vector<double> ms;
    for (std::size_t n = 0; n < count; ++n) {
        if (entered[n] != SteadyClock::time_point{})
            ms.push_back(Seconds(entered[n] - sent[n]).count() * 1000);
    }
    return ms;
}

Report measured(const Options& options) {
    const auto begin = [&](std::string_view phase) {
        if (options.on_phase) options.on_phase(phase);
    };
    const Endpoint server = Endpoint::of(options.url);
    const std::string mark =
        std::to_string(SteadyClock::now().time_since_epoch().count() % 100'000'000);
    const auto queue = [&](std::string_view name) {
        return "bench-" + std::string(name) + '-' + mark;
    };
    const auto rate = [&](double seconds) { return static_cast<double>(options.tasks) / seconds; };
    Report report;
    report.tasks = options.tasks;
    report.fsync_before_ms = fdatasync_ms(options.disk);
    const auto ready = boost::json::parse(fetch(server, "/readyz"));
    report.durability = std::string(ready.at("durability").as_string());
    report.store = std::string(ready.at("store").as_string());
    Ledger ledger;
    const auto count = [&](client::Job& job) { ledger.handled(job.id()); };

    begin("submit_bulk");
    auto start = SteadyClock::now();
    submit(server, queue("drain"), options.tasks, &ledger);
    report.submit_bulk = rate(seconds_since(start));

    begin("drain");
    start = SteadyClock::now();
    Drain(options.url, queue("drain"), options.tasks, kSlots, count).finish();
    report.drain = rate(seconds_since(start));

    begin("single_submit");
    std::atomic<std::size_t> next = 0;
    start = SteadyClock::now();
    at_once({kSingles, [&](asio::any_io_executor executor) {
                 return submit_singles(std::move(executor), server, queue("single"), options.tasks,
                                       &next);
             }});
    report.single_submit = rate(seconds_since(start));

    begin("end_to_end");
    start = SteadyClock::now();
    {
        Drain drain(options.url, queue("all"), options.tasks, kSlots, count);
        submit(server, queue("all"), options.tasks, &ledger);
        drain.finish();
    }
    report.end_to_end = rate(seconds_since(start));

    begin("latency");
    const std::vector<double> ms = latencies(options, server, queue("latency"), ledger);
    report.latency_p50_ms = at(ms, 0.5);
    report.latency_p99_ms = at(ms, 0.99);

    begin("backlog");
    if (options.backlog > options.tasks)  // those of single_submit are waiting already
        submit(server, queue("backlog"), options.backlog - options.tasks, nullptr);
    report.backlog_rss_mb = resident_mb(server);

    ledger.settle(report);
    report.fsync_after_ms = fdatasync_ms(options.disk);
    return report;
}

}  // namespace

Result<Report> run(const Options& options) {
    try {
        return measured(options);
    } catch (const std::exception& failure) {
        return refuse(Code::unavailable,
                      std::string("the benchmark could not go on: ") + failure.what());
    }
}

double fdatasync_ms(const std::string& folder) {
    std::string path = folder + "/holdfast-fsync-XXXXXX";
    const int file = ::mkstemp(path.data());
    if (file < 0) return 0;
    ::unlink(path.c_str());
    const std::string block(4096, 'x');
    std::vector<double> ms;
    for (int i = 0; i < 100; ++i) {
        const auto start = SteadyClock::now();
        if (::write(file, block.data(), block.size()) < 0 || ::fdatasync(file) != 0) break;
        ms.push_back(seconds_since(start) * 1000);
    }
    ::close(file);
    return at(std::move(ms), 0.5);
}

}  // namespace holdfast::load
