#include <ostream>

#include "cli/commands.h"
#include "cli/task_view.h"

namespace holdfast::cli {
namespace {

struct SubmitWish {
    std::string type, payload, queue, tenant, key, delay, run_at, timeout, lease, retry;
    std::string on_exhausted, traceparent;
    std::vector<std::string> labels;
    std::optional<std::int64_t> priority;
    std::optional<std::chrono::milliseconds> wait;
    bool follow = false;
};

void put(json::object& task, std::string_view name, const std::string& text) {
    if (!text.empty()) task[name] = text;
}

/// A number is the most failures, a name a preset, an object the whole of it.
json::value retry_of(const std::string& text, Io& io) {
    if (text.find_first_not_of("0123456789") == std::string::npos)
        return json::object{{"max", read_json(text, io)}};
    if (text.starts_with('{')) return read_json(text, io);
    return json::object{{"policy", text}};
}

json::object task_of(const SubmitWish& wish, Io& io) {
    json::object task{{"type", wish.type}};
    if (!wish.payload.empty()) task["payload"] = read_json(wish.payload, io);
    put(task, "queue", wish.queue);
    put(task, "tenant", wish.tenant);
    put(task, "idempotency_key", wish.key);
    put(task, "delay", wish.delay);
    put(task, "run_at", wish.run_at);
    put(task, "timeout", wish.timeout);
    put(task, "lease", wish.lease);
    put(task, "on_exhausted", wish.on_exhausted);
    put(task, "traceparent", wish.traceparent);
    if (!wish.retry.empty()) task["retry"] = retry_of(wish.retry, io);
    if (wish.priority) task["priority"] = *wish.priority;
    if (!wish.labels.empty()) {
        auto& labels = task["labels"].emplace_object();
        for (const auto& label : wish.labels) {
            const auto at = label.find('=');
            if (at == std::string::npos || at == 0)
                throw client::Error(client::Code::invalid_argument,
                                    "--label " + label + ": write it as KEY=VALUE");
            labels[label.substr(0, at)] = label.substr(at + 1);
        }
    }
    return task;
}

}  // namespace

int submit(const Arguments& arguments, Io& io) {
    Context context(io);
    SubmitWish wish;
    Options options("submit", "TYPE [JSON|-|@FILE] [OPTIONS]",
                    "Submits a task and prints its id.\n"
                    "  holdfast submit image.resize '{\"w\":640}' --queue media --wait");
    options.argument(wish.type, "TYPE", "What kind of task it is")
        .argument(wish.payload, "PAYLOAD", "JSON, - for standard input, @FILE for a file", false)
        .text(wish.queue, "-q,--queue", "QUEUE", "Its queue (default)")
        .text(wish.tenant, "--tenant", "TENANT", "Whom it is for")
        .text(wish.key, "-k,--key", "KEY", "Idempotency key: the same key makes one task")
        .number(wish.priority, "-p,--priority", "0 to 9, 9 first (5)")
        .text(wish.delay, "--delay", "DURATION", "Not before that time has passed")
        .text(wish.run_at, "--run-at", "TIME", "Not before then, e.g. 2026-12-24T18:00:00Z")
        .texts(wish.labels, "-l,--label", "KEY=VALUE", "A label; may be repeated")
        .text(wish.retry, "--retry", "N|PRESET|JSON",
              "Failures until it is suspended, a policy's name, or {max, policy}")
        .text(wish.timeout, "--timeout", "DURATION", "For the whole task")
        .text(wish.lease, "--lease", "DURATION", "How long a silent worker may keep it (30s)")
        .choice(wish.on_exhausted, "--on-exhausted", {"suspend", "fail"}, "After the last failure")
        .text(wish.traceparent, "--traceparent", "ID", "The trace it belongs to")
        .waiting(wish.wait, "-w,--wait", std::chrono::hours(24),
                 "Until it has finished; prints the task")
        .flag(wish.follow, "-f,--follow", "Print each step until it has finished");
    return run_client(context, options, arguments, [&] {
        const auto task = task_of(wish, io);
        const auto receipt = context.server().submit(task);
        if (receipt.duplicate && !context.as_json())
            context.say("it was there already: the key is not new");
        if (wish.follow) {
            context.say("submitted " + receipt.id);
            return follow(receipt.id, context);
        }
        if (wish.wait) {
            context.say("submitted " + receipt.id + ", waiting");
            return wait_and_print(receipt.id, *wish.wait, context);
        }
        if (context.as_json()) {
            context.print(json::object{
                {"id", receipt.id}, {"state", receipt.state}, {"duplicate", receipt.duplicate}});
        } else {
            io.out << receipt.id << '\n';
        }
        return kOk;
    });
}

}  // namespace holdfast::cli
