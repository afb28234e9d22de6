// Lives per second of the Redis spike: submit → claim → complete, each with its history row, timer, counts and
// feed event, in batches; and the memory of a waiting task. The server is one of its own, AOF everysec.
//
//     bench_redis_spike [--smoke] [options of redis-server, as --appendfsync always]
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "base/uuid.h"
#include "domain/decide.h"
#include "domain/submission.h"
#include "stores/redis/connection.h"
#include "stores/redis/spike_store.h"
#include "testing/redis_server.h"

namespace {

using namespace holdfast;
using stores::Record;
using stores::RedisSpike;

[[noreturn]] void die(const std::string& why) {
    std::fprintf(stderr, "bench_redis_spike: %s\n", why.c_str());
    std::exit(1);
}

template <class T>
T value_of(Result<T> result) {
    if (!result) die(result.error().detail);
    return *std::move(result);
}

/// The spike blocks, so a coroutine of it is over when it was begun.
template <class T>
T run(Async<Result<T>> work) {
    asio::io_context io;
    std::optional<Result<T>> answer;
    asio::co_spawn(io, std::move(work),
                   [&](std::exception_ptr, Result<T> r) { answer = std::move(r); });
    io.run();
    return value_of(*std::move(answer));
}

Time wall_clock() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

class Client {
  public:
    Client(std::uint16_t port, std::uint64_t seed)
        : store_(value_of(RedisSpike::open(port))),
          mint_(Rng(seed)),
          queue_("bench-" + std::to_string(seed)) {}

    /// With gates: each task in a lane of its own.
    void submit(std::size_t batch, bool gates = false) {
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
            changes.push_back(domain::decide_submit(submission, id, now));
            changes.back().nonce = ++nonce_;
        }
        commit(std::move(changes));
    }

    std::vector<Record> claim(std::size_t batch) {
        stores::ClaimRequest request;
        request.queues.emplace_back().name = queue_;
        request.worker = "worker-1";
        request.max = static_cast<std::uint32_t>(batch);
        return run(store_->claim(std::move(request)));
    }

    void complete(const std::vector<Record>& held) {
        std::vector<domain::Change> changes;
        for (const Record& record : held) {
            const domain::Complete done{record.header.fence(), Json::quoted("sent")};
            auto change = domain::decide(record, done, wall_clock());
            if (!change) die("decide() refused to complete");
            changes.push_back(*std::move(change));
            changes.back().nonce = ++nonce_;
        }
        commit(std::move(changes));
    }

    void live(std::size_t tasks, std::size_t batch) {
        for (std::size_t done = 0; done < tasks; done += batch) {
            submit(batch);
            const std::vector<Record> held = claim(batch);
            if (held.size() != batch) die("not every task could be claimed");
            complete(held);
        }
    }

  private:
    void commit(std::vector<domain::Change> changes) {
        for (const stores::Outcome& outcome : run(store_->commit(std::move(changes)))) {
            if (outcome.verdict != stores::Verdict::committed)
                die("not committed: " + outcome.reason);
        }
    }

    std::unique_ptr<RedisSpike> store_;
    UuidMint mint_;
    std::string queue_;
    std::uint64_t nonce_ = 0;
};

double seconds_of(auto&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A number out of INFO.
double info(stores::redis::Connection& server, std::string_view name) {
    const auto reply = value_of(server.call({"INFO", "all"}));
    const std::string_view text = stores::redis::text_of(reply.get());
    const std::size_t at = text.find("\n" + std::string(name) + ":");
    if (at == std::string_view::npos) die("INFO has no " + std::string(name));
    return std::strtod(text.data() + at + name.size() + 2, nullptr);
}

double server_cpu(stores::redis::Connection& server) {
    return info(server, "used_cpu_user") + info(server, "used_cpu_sys");
}

void measure_lives(std::uint16_t port, std::size_t clients, std::size_t batch, std::size_t tasks) {
    auto server = value_of(stores::redis::Connection::open(port));
    value_of(server.call({"FLUSHALL"}));
    const double cpu_before = server_cpu(server);
    const double seconds = seconds_of([&] {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < clients; ++i)
            threads.emplace_back([=] { Client(port, i + 1).live(tasks / clients, batch); });
    });
    const auto lives = static_cast<double>(tasks / clients / batch * batch * clients);
    std::printf("%zu client%s  batch %2zu  %7.0f lives/s   %5.1f us of Redis per life\n", clients,
                clients == 1 ? " " : "s", batch, lives / seconds,
                (server_cpu(server) - cpu_before) / lives * 1e6);
}

void measure_steps(std::uint16_t port, std::size_t batch, std::size_t tasks) {
    auto server = value_of(stores::redis::Connection::open(port));
    value_of(server.call({"FLUSHALL"}));
    Client client(port, 1);
    std::vector<std::vector<Record>> held;
    const auto step = [&](const char* name, auto&& work) {
        const double before = server_cpu(server);
        const double seconds = seconds_of([&] {
            for (std::size_t done = 0; done < tasks; done += batch) work();
        });
        std::printf("  %-8s  %7.0f /s   %5.1f us of Redis per task\n", name,
                    static_cast<double>(tasks) / seconds,
                    (server_cpu(server) - before) / static_cast<double>(tasks) * 1e6);
    };
    std::printf("one step at a time, batch %zu, %zu tasks:\n", batch, tasks);
    step("submit", [&] { client.submit(batch); });
    step("claim", [&] { held.push_back(client.claim(batch)); });
    step("complete", [&] {
        client.complete(held.back());
        held.pop_back();
    });
}

/// A claim looks at all lanes that its queue shows: what that costs when there are many.
void measure_gates(std::uint16_t port, std::size_t gates) {
    auto server = value_of(stores::redis::Connection::open(port));
    value_of(server.call({"FLUSHALL"}));
    Client client(port, 1);
    for (std::size_t done = 0; done < gates; done += 64) client.submit(64, true);
    for (const std::size_t batch : {1U, 64U}) {
        constexpr std::size_t kClaims = 10;
        const double seconds = seconds_of([&] {
            for (std::size_t i = 0; i < kClaims; ++i) client.claim(batch);
        });
        std::printf("%zu gates with a task each: a claim of %2zu takes %.1f ms\n", gates, batch,
                    seconds / kClaims * 1e3);
    }
}

void measure_memory(std::uint16_t port, std::size_t tasks) {
    auto server = value_of(stores::redis::Connection::open(port));
    value_of(server.call({"FLUSHALL"}));
    Client client(port, 1);
    const auto used = [&] { return info(server, "used_memory_dataset"); };
    const auto per_task = [&](double bytes) { return bytes / static_cast<double>(tasks); };
    const double total_before = info(server, "used_memory");
    for (std::size_t done = 0; done < tasks; done += 64) client.submit(64);
    const double with_feed = info(server, "used_memory") - total_before;
    value_of(server.call({"DEL", "{p0}:feed"}));
    const double waiting = info(server, "used_memory") - total_before;
    std::printf(
        "%zu waiting tasks, 200-byte payload: %.0f bytes each, and %.0f of feed (dataset %.0f)\n",
        tasks, per_task(waiting), per_task(with_feed - waiting), per_task(used()));
}

}  // namespace

int main(int argc, char** argv) {
    const bool smoke = argc > 1 && std::string_view(argv[1]) == "--smoke";
    const auto server = value_of(holdfast::testing::RedisServer::start(
        {"--appendonly", "yes", "--appendfsync", "everysec"}));
    const std::size_t scale = smoke ? 1 : 40;
    for (const std::size_t clients : {1U, 2U, 4U}) {
        measure_lives(server->port(), clients, 1, 512 * scale);
        measure_lives(server->port(), clients, 16, 1024 * scale);
        measure_lives(server->port(), clients, 64, 2048 * scale);
    }
    measure_steps(server->port(), 64, 1024 * scale);
    measure_gates(server->port(), 256 * scale);
    measure_memory(server->port(), 2560 * scale);
}
