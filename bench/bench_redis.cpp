// Lives per second of the Redis store: submit → claim → complete, each with its history row, timer, counts, list index
// and feed event, in batches and by several callers at once; and the memory of a waiting task. The server is one of its
// own, AOF everysec.
//
//     bench_redis [--smoke] [--only lives|steps|gates|memory] [options of redis-server, as --hash-max-listpack-value 512]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "base/uuid.h"
#include "domain/decide.h"
#include "domain/submission.h"
#include "testing/redis_server.h"
#include "testing/redis_store_fixture.h"

namespace {

using namespace holdfast;
using holdfast::testing::ask_redis;
using holdfast::testing::value_of;
using stores::Record;

Time wall_clock() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

/// One who submits, claims and completes, one batch after the other.
class Caller {
  public:
    Caller(stores::Store& store, std::uint64_t seed)
        : store_(store), mint_(Rng(seed)), queue_("bench-" + std::to_string(seed)) {}

    bool gates = false;  ///< Each task in a lane of its own.
    bool keys = false;   ///< Each with an idempotency key.

    Async<bool> submit(std::size_t batch) {
        domain::Submission submission;
        submission.type = "email.send";
        submission.queue = queue_;
        submission.payload = Json::quoted(std::string(198, 'x'));
        std::vector<domain::Change> changes;
        for (std::size_t i = 0; i < batch; ++i) {
            const Time now = wall_clock();
            const Uuid id = mint_.mint(mint_.random_partition(), now);
            if (gates) {
                submission.gate = id.text();
                submission.gate_limit = 1;
            }
            if (keys) submission.idempotency_key = "order-" + std::to_string(nonce_);
            changes.push_back(domain::decide_submit(submission, id, now));
            changes.back().nonce = ++nonce_;
        }
        return commit(std::move(changes));
    }

    Async<bool> claim(std::size_t batch) {
        stores::ClaimRequest request;
        request.queues.emplace_back().name = queue_;
        request.worker = "worker-1";
        request.max = static_cast<std::uint32_t>(batch);
        auto claimed = value_of(co_await store_.claim(std::move(request)));
        std::ranges::move(claimed, std::back_inserter(held_));
        co_return true;
    }

    Async<bool> complete(std::size_t batch) {
        std::vector<domain::Change> changes;
        while (batch-- > 0 && !held_.empty()) {
            const Record& record = held_.back();
            const domain::Complete done{record.header.fence(), Json::quoted("sent")};
            auto change = domain::decide(record, done, wall_clock());
            if (!change) throw std::runtime_error("decide() refused to complete");
            changes.push_back(*std::move(change));
            changes.back().nonce = ++nonce_;
            held_.pop_back();
        }
        return commit(std::move(changes));
    }

    Async<bool> live(std::size_t tasks, std::size_t batch) {
        for (std::size_t done = 0; done < tasks; done += batch) {
            co_await submit(batch);
            co_await claim(batch);
            if (held_.size() != batch) throw std::runtime_error("not every task was claimed");
            co_await complete(batch);
        }
        co_return true;
    }

  private:
    Async<bool> commit(std::vector<domain::Change> changes) {
        for (const auto& outcome : value_of(co_await store_.commit(std::move(changes)))) {
            if (outcome.verdict != stores::Verdict::committed)
                throw std::runtime_error("not committed: " + outcome.reason);
        }
        co_return true;
    }

    stores::Store& store_;
    UuidMint mint_;
    std::string queue_;
    std::uint64_t nonce_ = 0;
    std::vector<Record> held_;
};

class Bench {
  public:
    explicit Bench(const std::vector<std::string>& options)
        : server_(value_of(holdfast::testing::RedisServer::start(options))) {
        open();
    }

    /// Empty again.
    void open() {
        fixture_.reset();
        value_of(ask_redis(server_->port(), redis::Command("FLUSHALL")));
        fixture_.emplace(io_,
                         [this] { return "redis://127.0.0.1:" + std::to_string(server_->port()); });
    }
    Caller caller(std::uint64_t seed) { return {fixture_->store(), seed}; }

    struct Spent {
        double seconds, redis;
    };
    /// All at once, until the last has ended.
    Spent spend(std::vector<Async<bool>> works) {
        const double before = server_cpu();
        const auto start = std::chrono::steady_clock::now();
        std::size_t open = works.size();
        for (Async<bool>& work : works)
            asio::co_spawn(io_, std::move(work), [&](const std::exception_ptr& failure, bool) {
                if (failure) std::rethrow_exception(failure);
                --open;
            });
        while (open > 0) {
            if (io_.stopped()) io_.restart();
            io_.run_one();
        }
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        return {seconds.count(), server_cpu() - before};
    }
    Spent spend(Async<bool> work) {
        std::vector<Async<bool>> works;
        works.push_back(std::move(work));
        return spend(std::move(works));
    }

    /// A number out of INFO.
    double info(std::string_view name) const {
        const auto reply = value_of(ask_redis(server_->port(), redis::Command("INFO", "all")));
        const std::string text(reply.root().text());
        const std::size_t at = text.find("\n" + std::string(name) + ":");
        return at == std::string::npos ? 0
                                       : std::strtod(text.c_str() + at + name.size() + 2, nullptr);
    }
    void forget_feed() const {
        value_of(ask_redis(server_->port(), redis::Command("DEL", "{hf:0}:feed")));
    }

  private:
    double server_cpu() const { return info("used_cpu_user") + info("used_cpu_sys"); }

    std::unique_ptr<holdfast::testing::RedisServer> server_;
    asio::io_context io_{1};
    std::optional<holdfast::testing::RedisStoreFixture> fixture_;
};

void measure_lives(Bench& bench, std::size_t callers, std::size_t batch, std::size_t tasks) {
    bench.open();
    std::vector<Caller> all;
    std::vector<Async<bool>> works;
    all.reserve(callers);
    for (std::size_t i = 0; i < callers; ++i) {
        all.push_back(bench.caller(i + 1));
        works.push_back(all.back().live(tasks / callers, batch));
    }
    const auto spent = bench.spend(std::move(works));
    const auto lives = static_cast<double>(tasks);
    std::printf("%2zu caller%s  batch %2zu  %7.0f lives/s   %5.1f us of Redis per life\n", callers,
                callers == 1 ? " " : "s", batch, lives / spent.seconds, spent.redis / lives * 1e6);
    std::fflush(stdout);
}

Async<bool> repeat(Caller* caller, Async<bool> (Caller::*step)(std::size_t), std::size_t tasks,
                   std::size_t batch) {
    for (std::size_t done = 0; done < tasks; done += batch) co_await (caller->*step)(batch);
    co_return true;
}

void measure_steps(Bench& bench, std::size_t tasks, std::size_t batch, std::size_t callers) {
    bench.open();
    std::vector<Caller> all;
    for (std::size_t i = 0; i < callers; ++i) all.push_back(bench.caller(i + 1));
    const auto step = [&](const char* name, Async<bool> (Caller::*act)(std::size_t)) {
        std::vector<Async<bool>> works;
        for (Caller& caller : all) works.push_back(repeat(&caller, act, tasks / callers, batch));
        const auto spent = bench.spend(std::move(works));
        std::printf("  %-8s  %7.0f /s   %5.1f us of Redis per task\n", name,
                    static_cast<double>(tasks) / spent.seconds,
                    spent.redis / static_cast<double>(tasks) * 1e6);
        std::fflush(stdout);
    };
    std::printf("one step at a time, %zu callers, batch %zu, %zu tasks:\n", callers, batch, tasks);
    step("submit", &Caller::submit);
    step("claim", &Caller::claim);
    step("complete", &Caller::complete);
}

/// A claim looks at the lanes that its queue shows: what that costs when there are many.
void measure_gates(Bench& bench, std::size_t gates) {
    bench.open();
    Caller caller = bench.caller(1);
    caller.gates = true;
    bench.spend(repeat(&caller, &Caller::submit, gates, 64));
    for (const std::size_t batch : {1U, 64U}) {
        constexpr std::size_t kClaims = 10;
        const auto spent = bench.spend(repeat(&caller, &Caller::claim, batch * kClaims, batch));
        std::printf("%zu gates with a task each: a claim of %2zu takes %.1f ms\n", gates, batch,
                    spent.seconds / kClaims * 1e3);
    }
}

void measure_memory(Bench& bench, std::size_t tasks, bool keys) {
    bench.open();
    Caller caller = bench.caller(1);
    caller.keys = keys;
    const auto per_task = [&](double bytes) { return bytes / static_cast<double>(tasks); };
    const double before = bench.info("used_memory");
    bench.spend(repeat(&caller, &Caller::submit, tasks, 64));
    const double with_feed = bench.info("used_memory") - before;
    bench.forget_feed();
    const double waiting = bench.info("used_memory") - before;
    std::printf("%zu waiting tasks, 200-byte payload, %s: %.0f bytes each, and %.0f of feed\n",
                tasks, keys ? "with a key" : "no key", per_task(waiting),
                per_task(with_feed - waiting));
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> options{"--appendonly", "yes", "--appendfsync", "everysec"};
    std::size_t scale = 20;
    std::string only;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--smoke")
            scale = 1;
        else if (word == "--only" && i + 1 < argc)
            only = argv[++i];
        else
            options.emplace_back(word);
    }
    const auto wanted = [&](std::string_view what) { return only.empty() || only == what; };
    Bench bench(options);
    if (wanted("lives")) {
        for (const std::size_t callers : {1U, 4U}) {
            measure_lives(bench, callers, 16, 1024 * scale);
            measure_lives(bench, callers, 64, 2048 * scale);
        }
        measure_lives(bench, 16, 1, 1024 * scale);
    }
    if (wanted("steps")) {
        measure_steps(bench, 2048 * scale, 64, 1);
        measure_steps(bench, 1024 * scale, 1, 16);
    }
    if (wanted("gates")) measure_gates(bench, 256 * scale);
    if (wanted("memory")) {
        measure_memory(bench, 2560 * scale, false);
        measure_memory(bench, 2560 * scale, true);
    }
}
