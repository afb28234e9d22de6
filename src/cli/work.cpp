// Any program as a worker.
#include <holdfast/worker.h>

#include <boost/json/parse.hpp>
#include <csignal>
#include <mutex>
#include <ostream>
#include <thread>

#include "cli/child.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "cli/verdict.h"
#include "cli/words.h"

namespace holdfast::cli {
namespace {

/// A cancel comes with the answer to a heartbeat.
constexpr std::chrono::seconds kHearCancelWithin{2};

struct WorkWish {
    std::vector<std::string> queues, types, command;
    std::string name;
    std::optional<std::int64_t> slots;
    std::chrono::milliseconds lease{0};
    std::chrono::milliseconds drain{300'000};
    std::chrono::milliseconds grace{10'000};
    bool quiet = false;
};

class Runner {
  public:
    Runner(const WorkWish& wish, const Context& context, const GroupGuard& guard)
        : wish_(wish), context_(context), guard_(guard) {}

    json::value run(client::Job& job) {
        ChildWish child;
        child.command = wish_.command;
        child.environment = {
            {"HOLDFAST_TASK_ID", job.id()},    {"HOLDFAST_ATTEMPT", std::to_string(job.attempt())},
            {"HOLDFAST_TYPE", job.type()},     {"HOLDFAST_QUEUE", job.queue()},
            {"HOLDFAST_TENANT", job.tenant()}, {"HOLDFAST_SERVER", context_.server_url()}};
        child.input = std::string(job.payload_text());
        child.grace = wish_.grace;
        child.stop = job.stop_token();
        child.guard = &guard_;
        if (!wish_.quiet)
            child.on_error_output = [this](std::string_view text) {
                const std::scoped_lock lock(speaking_);
                context_.io.err << text << std::flush;
            };
        say(job, "started, attempt " + std::to_string(job.attempt()));
        const auto end = run_child(child);
        auto verdict = verdict_of(end, job.cancelled());
        say(job, verdict.told);
        if (verdict.kind == Verdict::Kind::done) return std::move(verdict.result);
        if (verdict.kind == Verdict::Kind::permanent)
            throw failure_of<client::PermanentError>(verdict);
        throw failure_of<client::TransientError>(verdict);
    }

  private:
    template <class Failure>
    static Failure failure_of(const Verdict& verdict) {
        Failure failure(verdict.message);
        failure.stack = verdict.stack;
        failure.code = verdict.code;
        return failure;
    }
    void say(const client::Job& job, const std::string& text) {
        if (wish_.quiet) return;
        const std::scoped_lock lock(speaking_);
        context_.io.err << job.id() << "  " << printable(job.type()) << "  " << printable(text)
                        << '\n'
                        << std::flush;
    }

    const WorkWish& wish_;
    const Context& context_;
    const GroupGuard& guard_;
    std::mutex speaking_;
};

void declare(Options& options, WorkWish& wish) {
    options.texts(wish.queues, "-q,--queue", "QUEUE", "Take tasks of this queue (default)")
        .number(wish.slots, "-n,--slots", "So many at once (1)")
        .texts(wish.types, "--type", "TYPE", "Only these, where the queue has lanes by type")
        .text(wish.name, "--name", "NAME", "The worker's name (host and process id)")
        .duration(wish.lease, "--lease", "How long the server waits for a silent worker")
        .duration(wish.drain, "--drain", "Time to finish after SIGTERM (5m)")
        .duration(wish.grace, "--grace", "From SIGTERM to SIGKILL of a cancelled program (10s)")
        .flag(wish.quiet, "--quiet", "Say nothing about tasks, nor what they say")
        .rest(wish.command);
}

client::WorkerOptions worker_options(const WorkWish& wish, const Context& context) {
    client::WorkerOptions out{.server = context.server_url(), .token = context.token()};
    out.worker = wish.name;
    if (!wish.queues.empty()) out.queues = wish.queues;
    out.slots = static_cast<unsigned>(wish.slots.value_or(1));
    out.types = wish.types;
    if (wish.lease.count() > 0) out.lease = wish.lease;
    out.grace = wish.drain;
    out.drain_on_signals = true;
    out.heartbeat_every = kHearCancelWithin;
    out.log = [&context](std::string_view line) {
        context.io.err << "holdfast: " << printable(line) << '\n' << std::flush;
    };
    return out;
}

}  // namespace

int work(const Arguments& arguments, Io& io) {
    Context context(io);
    WorkWish wish;
    Options options(
        "work", "[--queue QUEUE] [--slots N] -- CMD…",
        "Runs CMD for every task: payload on its standard input, result as JSON on its standard\n"
        "output. Exit 0 is done, 65 a permanent failure, anything else is tried again. The end of\n"
        "standard error becomes the message. HOLDFAST_TASK_ID, _ATTEMPT, _TYPE and _QUEUE are "
        "set.\n"
        "SIGTERM finishes what runs; a second one gives it back.\n"
        "  holdfast work --queue media --slots 4 -- python3 resize.py");
    declare(options, wish);
    return run_client(context, options, arguments, [&] {
        if (wish.command.empty())
            throw client::Error(client::Code::invalid_argument,
                                "which program?  holdfast work --queue Q -- CMD…");
        if (wish.slots && (*wish.slots < 1 || *wish.slots > 1000))
            throw client::Error(client::Code::invalid_argument, "--slots must be from 1 to 1000");
        ::signal(SIGPIPE, SIG_IGN);  // a program that does not read its input is no reason to die
        const GroupGuard guard;
        client::Worker worker(worker_options(wish, context));
        Runner runner(wish, context, guard);
        worker.handle_any([&](client::Job& job) { return runner.run(job); });
        worker.run();
        return worker.counts().given_back > 0 ? kHandedBack : kOk;
    });
}

}  // namespace holdfast::cli
