#include "app/demo.h"

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/json/value.hpp>
#include <csignal>
#include <cstdint>

#include "base/log.h"
#include "holdfast/client.h"
#include "holdfast/worker.h"

namespace holdfast::app {
namespace {

using std::chrono::milliseconds;
namespace json = boost::json;

constexpr std::string_view kQueue = "demo";
constexpr std::size_t kMostSuspended =
    12;  ///< Then nothing new is broken until somebody has looked.

/// A kind of task: how often it comes, in ticks of half a second.
struct Kind {
    std::string_view type;
    unsigned every;
};
constexpr std::array kKinds{Kind{"demo.thumbnail", 1}, Kind{"demo.transcribe", 4},
                            Kind{"demo.flaky", 6}, Kind{"demo.broken", 30}, Kind{"demo.crash", 40}};

client::Submission submission(std::string_view type, unsigned number) {
    client::Submission s;
    s.type = std::string(type);
    s.queue = std::string(kQueue);
    s.payload = json::object{{"n", number}, {"file", "cat-" + std::to_string(number) + ".png"}};
    s.lease = milliseconds{4000};
    s.retry = json::object{{"max", 4},
                           {"policy", json::object{{"schedule", json::array{"1s", "2s", "4s"}}}}};
    return s;
}

json::value thumbnail(client::Job& job) {
    std::this_thread::sleep_for(milliseconds{150});
    return json::object{{"width", 256}, {"of", job.payload().at("file")}};
}

/// In stages: an attempt that comes after another goes on where that one stood.
json::value transcribe(client::Job& job) {
    constexpr std::array<const char*, 3> kStages{"download", "split", "transcribe"};
    for (std::size_t i = 0; i < kStages.size(); ++i) {
        if (job.checkpoint(kStages[i]) != nullptr) continue;
        job.progress(static_cast<double>(i) / kStages.size(), kStages[i]);
        std::this_thread::sleep_for(milliseconds{500});
        job.checkpoint(kStages[i], json::object{{"part", i}});
    }
    return json::object{{"words", 1200}};
}

json::value flaky(client::Job& job) {
    std::this_thread::sleep_for(milliseconds{200});
    if (job.attempt() < 3)
        throw client::TransientError("the provider answered 503: try again later");
    return json::object{{"attempts", job.attempt()}};
}

json::value broken(client::Job& job) {
    throw client::PermanentError("no such file: " +
                                 std::string(job.payload().at("file").as_string()));
}

json::value crash(client::Job& job) {
    std::this_thread::sleep_for(milliseconds{300});
    if (job.attempt() == 1) ::kill(::getpid(), SIGKILL);
    return json::object{{"survived", true}};
}

std::size_t suspended(client::Client& client) {
    const auto stats = client.stats();
    return stats.at("tasks").at("suspended").to_number<std::size_t>();
}

}  // namespace

int demo_worker(const std::vector<std::string>& arguments) {
    if (arguments.empty()) return 2;
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    client::WorkerOptions options;
    options.server = arguments.front();
    options.worker = "demo";
    options.queues = {std::string(kQueue)};
    options.slots = 4;
    options.drain_on_signals = true;
    options.grace = milliseconds{500};
    client::Worker worker(std::move(options));
    worker.handle("demo.thumbnail", thumbnail);
    worker.handle("demo.transcribe", transcribe);
    worker.handle("demo.flaky", flaky);
    worker.handle("demo.broken", broken);
    worker.handle("demo.crash", crash);
    worker.run();
    return 0;
}

Demo::Demo(std::string url) : url_(std::move(url)) {
    producer_ = std::thread([this] { produce(); });
    keeper_ = std::thread([this] { keep_a_worker(); });
}

Demo::~Demo() {
    stop();
    producer_.join();
    keeper_.join();
}

void Demo::stop() {
    stopping_ = true;
}

bool Demo::rest(milliseconds time) {
    constexpr milliseconds kNap{50};
    for (; time > milliseconds{0} && !stopping_; time -= kNap) std::this_thread::sleep_for(kNap);
    return !stopping_;
}

void Demo::produce() {
    client::Client client(url_);
    for (unsigned tick = 0; rest(milliseconds{500}); ++tick) {
        try {
            for (const Kind& kind : kKinds) {
                if (tick % kind.every != 0) continue;
                if (kind.type == "demo.broken" && suspended(client) >= kMostSuspended) continue;
                client.submit(submission(kind.type, tick));
            }
        } catch (const std::exception& failure) {
            log::debug("the demo could not submit", {{"error", failure.what()}});
        }
    }
}

void Demo::keep_a_worker() {
    std::string program = "holdfast";
    std::string command(kDemoWorker);
    std::array<char*, 4> argv{program.data(), command.data(), url_.data(), nullptr};
    do {
        pid_t child = -1;
        if (::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv.data(), environ) != 0)
            return;
        int status = 0;
        while (::waitpid(child, &status, WNOHANG) == 0) {
            if (rest(milliseconds{200})) continue;
            ::kill(child, SIGTERM);
            for (int naps = 0; naps < 10 && ::waitpid(child, &status, WNOHANG) == 0; ++naps)
                std::this_thread::sleep_for(milliseconds{100});
            if (::kill(child, 0) == 0) ::kill(child, SIGKILL);
            ::waitpid(child, &status, 0);
            return;
        }
    } while (rest(milliseconds{500}));
}

}  // namespace holdfast::app
