#include "holdfast/worker.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "job_state.h"
#include "session.h"
#include "text.h"
#include "work_stream.h"

namespace holdfast::client {
namespace {

/// How long to wait for the server's answer to what was given back when leaving.
constexpr std::chrono::seconds kLastAnswers{3};
constexpr std::size_t kLongestMessage = 4096;
constexpr std::size_t kLongestStack = 32'768;

std::string default_name() {
    std::array<char, 65> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
    return std::string(host.data()) + "-" + std::to_string(::getpid());
}

Hello hello_of(const WorkerOptions& options) {
    return {.worker = options.worker,
            .queues = options.queues,
            .slots = options.slots,
            .lease = options.lease,
            .types = options.types,
            .labels = options.labels};
}

WorkerOptions checked(WorkerOptions options) {
    if (options.worker.empty()) options.worker = default_name();
    if (options.queues.empty()) throw Error(Code::invalid_argument, "a worker needs a queue");
    if (options.slots == 0) throw Error(Code::invalid_argument, "a worker needs at least one slot");
    return options;
}

TransientError no_handler(const std::string& worker, const std::string& type) {
    TransientError error("worker " + worker + " has no handler for type '" + type + "'");
    error.code = "no_handler";
    return error;
}

std::string_view shortened(std::string_view text, std::size_t most) {
    return text.substr(0, most);
}

}  // namespace

struct Worker::Impl final : StreamUser, JobOffice {
    explicit Impl(WorkerOptions its_options)
        : options(checked(std::move(its_options))),
          stream({.url = parse_url(options.server),
                  .token = options.token,
                  .reconnect_base = options.reconnect_base,
                  .reconnect_max = options.reconnect_max,
                  .catch_signals = options.drain_on_signals}),
          session(hello_of(options), options.heartbeat_every) {}

    // ---- StreamUser, on the connection's thread ----
    std::string first_frame() override;
    void received(std::string_view frame) override;
    std::vector<std::string> outgoing() override;
    Clock::time_point tick(Clock::time_point now) override;
    void lost(const std::string& why) override;
    bool established() const override;
    bool over() const override;
    bool leave_connection() override { return std::exchange(bye, false); }
    void interrupted(int signal) override;

    // ---- JobOffice, on a handler's thread ----
    void progress(const Fence& fence, double value, std::string note) override;
    void checkpoint(const Fence& fence, std::string item) override;
    bool can_wait() const override { return !options.inline_handlers; }

    void drain();
    void stop();
    void give_back_all();
    void start(Assignment task, std::chrono::milliseconds lease);
    void run_job(JobState& state);
    void finish(const Fence& fence, Final how, std::string item);
    void fail(const Fence& fence, std::string_view kind, const std::exception& error);
    void work();
    void join();
    void log(const std::string& text) const {
        if (options.log) options.log(text);
    }

    const WorkerOptions options;
    WorkStream stream;
    std::unordered_map<std::string, Handler> handlers;
    Handler any;

    mutable std::mutex mutex;  ///< Of all that follows, except where said.
    Session session;
    Counts counts;
    std::optional<Clock::time_point> grace_ends, leaves_at;
    std::optional<std::string> refused;
    std::condition_variable job_waits;
    std::deque<std::shared_ptr<JobState>> waiting;
    std::vector<std::thread> threads;
    std::size_t idle = 0;
    bool closed = false;
    bool bye = false;  ///< This and the next: only of the connection's thread.
    std::string last_trouble;
};

// ---- what comes over the connection ----

std::string Worker::Impl::first_frame() {
    const std::scoped_lock lock(mutex);
    return session.hello();
}

void Worker::Impl::received(std::string_view frame) {
    Session::News news;
    {
        const std::scoped_lock lock(mutex);
        const bool was_welcome = session.welcomed();
        news = session.receive(frame, Clock::now(), std::chrono::system_clock::now());
        counts.assigned += news.assigned.size();
        counts.connected = session.welcomed();
        if (!was_welcome && session.welcomed())
            news.log.push_back("connected to " + options.server);
        if (news.refused) refused = news.refused;
    }
    if (news.bye) bye = true;
    for (auto& [task, lease] : news.assigned) start(std::move(task), lease);
    for (const auto& job : news.cancelled) job->stop.request_stop();
    for (const auto& job : news.to_pause) job->pause_requested = true;
    for (const auto& job : news.gone) job->interrupt("the lease is lost");
    for (const auto& [job, outcome] : news.checkpoints) job->answer_checkpoint(outcome);
    for (const auto& line : news.log) log(line);
}

std::vector<std::string> Worker::Impl::outgoing() {
    const std::scoped_lock lock(mutex);
    return session.take();
}

StreamUser::Clock::time_point Worker::Impl::tick(Clock::time_point now) {
    std::unique_lock lock(mutex);
    if (grace_ends && now >= *grace_ends) {
        lock.unlock();
        give_back_all();
        lock.lock();
    }
    // A server that does not answer the drain of an idle worker is not waited for until the end.
    if (!leaves_at && session.draining() && session.running() == 0 && session.owed() == 0)
        leaves_at = now + kLastAnswers;
    auto next = session.tick(now);
    for (const auto& other : {grace_ends, leaves_at})
        if (other) next = std::min(next, *other);
    return next;
}

void Worker::Impl::lost(const std::string& why) {
    bool was_connected = false;
    {
        const std::scoped_lock lock(mutex);
        was_connected = session.welcomed();
        session.lost();
        counts.connected = false;
    }
    // A server that stays away is told of once.
    if (was_connected || why != last_trouble)
        log((was_connected ? "connection lost: " : "not connected: ") + why);
    last_trouble = why;
}

bool Worker::Impl::established() const {
    const std::scoped_lock lock(mutex);
    return session.welcomed();
}

bool Worker::Impl::over() const {
    const std::scoped_lock lock(mutex);
    if (refused) return true;
    if (leaves_at && Clock::now() >= *leaves_at) return true;
    return session.parted();
}

void Worker::Impl::interrupted(int) {
    bool again = false;
    {
        const std::scoped_lock lock(mutex);
        again = session.draining();
    }
    if (again) {
        log("leaving now: what runs is given back");
        stop();
    } else {
        log("draining: finishing what runs, taking nothing new");
        drain();
    }
}

void Worker::Impl::drain() {
    {
        const std::scoped_lock lock(mutex);
        session.drain();
        if (!grace_ends && !leaves_at) grace_ends = Clock::now() + options.grace;
    }
    stream.wake();
}

void Worker::Impl::stop() {
    drain();
    give_back_all();
    stream.wake();
}

/// Handlers that have not finished find their job interrupted.
void Worker::Impl::give_back_all() {
    std::vector<std::shared_ptr<JobState>> jobs;
    {
        const std::scoped_lock lock(mutex);
        grace_ends.reset();
        if (!leaves_at) leaves_at = Clock::now() + kLastAnswers;
        waiting.clear();
        for (auto& [fence, job] : session.held()) {
            session.finish(fence, Final::yield, yield_item(fence, std::nullopt, false));
            ++counts.given_back;
            jobs.push_back(job);
        }
    }
    for (const auto& job : jobs) job->interrupt("the worker leaves: the task was given back");
}

// ---- handlers ----

void Worker::Impl::start(Assignment task, std::chrono::milliseconds lease) {
    if (options.inline_handlers) {
        JobState state(*this, std::move(task));
        return run_job(state);
    }
    auto job = std::make_shared<JobState>(*this, std::move(task));
    job->own_text();
    {
        const std::scoped_lock lock(mutex);
        session.hold(job->task.fence, job, lease, Clock::now());
        waiting.push_back(job);
        if (idle < waiting.size() && threads.size() < options.slots)
            threads.emplace_back([this] { work(); });
    }
    job_waits.notify_one();
}

void Worker::Impl::work() {
    std::unique_lock lock(mutex);
    for (;;) {
        ++idle;
        job_waits.wait(lock, [this] { return closed || !waiting.empty(); });
        --idle;
        if (waiting.empty()) return;
        const auto job = std::move(waiting.front());
        waiting.pop_front();
        lock.unlock();
        run_job(*job);
        lock.lock();
    }
}

void Worker::Impl::run_job(JobState& state) {
    const auto& fence = state.task.fence;
    Job job(state);
    try {
        const auto found = handlers.find(state.task.type);
        const auto& handler = found != handlers.end() ? found->second : any;
        if (!handler) throw no_handler(options.worker, state.task.type);
        const auto result = handler(job);
        finish(fence, Final::done, done_item(fence, result.is_null() ? "null" : json_text(result)));
    } catch (const GiveBack& give_back) {
        finish(fence, Final::yield, yield_item(fence, give_back.after, give_back.until_signal));
    } catch (const Interrupted&) {
        const std::scoped_lock lock(mutex);
        session.forget(fence);
    } catch (const PermanentError& error) {
        fail(fence, "permanent", error);
    } catch (const DependencyDown& error) {
        fail(fence, "dependency_down", error);
    } catch (const std::exception& error) {
        fail(fence, "transient", error);
    } catch (...) {
        fail(fence, "transient", std::runtime_error("the handler threw something unknown"));
    }
    bool leaves = false;
    {
        const std::scoped_lock lock(mutex);
        leaves = session.draining();
    }
    if (leaves || !options.inline_handlers) stream.wake();
}

void Worker::Impl::fail(const Fence& fence, std::string_view kind, const std::exception& error) {
    FailureText failure{.kind = kind,
                        .message = shortened(error.what(), kLongestMessage),
                        .stack = {},
                        .code = {},
                        .retry_after = std::nullopt};
    if (const auto* told = dynamic_cast<const TaskError*>(&error)) {
        failure.stack = shortened(told->stack, kLongestStack);
        failure.code = shortened(told->code, 64);
        failure.retry_after = told->retry_after;
    }
    finish(fence, Final::fail, fail_item(fence, failure));
}

void Worker::Impl::finish(const Fence& fence, Final how, std::string item) {
    const std::scoped_lock lock(mutex);
    // Given back meanwhile, or the lease is lost: the server would refuse it.
    if (!options.inline_handlers && !session.holds(fence)) {
        ++counts.refused;
        return;
    }
    session.finish(fence, how, std::move(item));
    ++(how == Final::done ? counts.done : how == Final::fail ? counts.failed : counts.given_back);
}

void Worker::Impl::progress(const Fence& fence, double value, std::string note) {
    {
        const std::scoped_lock lock(mutex);
        session.progress(fence, value, std::move(note), Clock::now());
    }
    stream.wake();
}

void Worker::Impl::checkpoint(const Fence& fence, std::string item) {
    {
        const std::scoped_lock lock(mutex);
        session.checkpoint(fence, std::move(item));
    }
    stream.wake();
}

void Worker::Impl::join() {
    give_back_all();
    {
        const std::scoped_lock lock(mutex);
        closed = true;
    }
    job_waits.notify_all();
    for (auto& thread : threads) thread.join();
    threads.clear();
}

// ---- the door ----

Worker::Worker(WorkerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Worker::~Worker() = default;

void Worker::handle(std::string type, Handler handler) {
    impl_->handlers[std::move(type)] = std::move(handler);
}
void Worker::handle_any(Handler handler) {
    impl_->any = std::move(handler);
}

void Worker::run() {
    try {
        impl_->stream.run(*impl_);
    } catch (...) {
        impl_->join();
        throw;
    }
    impl_->join();
    if (impl_->refused)
        throw Error(Code::invalid_argument, "the server refused this worker: " + *impl_->refused);
}

void Worker::drain() {
    impl_->drain();
}
void Worker::stop() {
    impl_->stop();
}

Worker::Counts Worker::counts() const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->counts;
}
const std::string& Worker::name() const {
    return impl_->options.worker;
}

}  // namespace holdfast::client
