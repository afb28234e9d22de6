#include <algorithm>
#include <ostream>

#include "cli/commands.h"
#include "cli/context.h"
#include "cli/words.h"

namespace holdfast::cli {
namespace {

struct QueueWish {
    std::string verb = "list", name;
    std::optional<std::int64_t> concurrency;
    std::optional<double> rate;
};

std::string limit_text(const json::value& queue, std::string_view name) {
    const auto text = text_of(queue, name);
    return text.empty() || text == "0" || text == "0E0" ? "-" : text;
}

void print_queues(const json::array& queues, const Context& context) {
    if (context.as_json()) return context.print(queues);
    if (queues.empty()) return context.say("no queues yet: one begins with its first task");
    Table table({{.name = "QUEUE", .worth = 9},
                 {.name = "HANDS OUT", .worth = 7},
                 {.name = "TAKES IN", .worth = 6},
                 {.name = "QUEUED", .worth = 9, .right = true},
                 {.name = "RUNNING", .worth = 9, .right = true},
                 {.name = "WAITING", .worth = 5, .right = true},
                 {.name = "RETRYING", .worth = 4, .right = true},
                 {.name = "SUSPENDED", .worth = 8, .right = true},
                 {.name = "SUCCEEDED", .worth = 3, .right = true},
                 {.name = "LIMIT", .worth = 2, .right = true},
                 {.name = "RATE", .worth = 1, .right = true}});
    for (const auto& queue : queues) {
        const auto& tasks = queue.as_object().contains("tasks") ? queue.at("tasks") : queue;
        const auto count = [&](std::string_view state) {
            return std::to_string(count_of(tasks, state));
        };
        table.add({text_of(queue, "name"), text_of(queue, "paused") == "true" ? "paused" : "yes",
                   text_of(queue, "closed") == "true" ? "closed" : "yes", count("queued"),
                   count("running"), count("waiting"), count("retrying"), count("suspended"),
                   count("succeeded"), limit_text(queue, "concurrency"),
                   limit_text(queue, "rate")});
    }
    table.print(context.io);
}

json::array list_of(json::value body) {
    if (auto* array = body.if_array()) return std::move(*array);
    auto* object = body.if_object();
    auto* member = object != nullptr ? object->if_contains("queues") : nullptr;
    return member != nullptr && member->is_array() ? std::move(member->get_array()) : json::array();
}

json::object changed(const QueueWish& wish, client::Client& server) {
    if (wish.verb == "pause") return server.pause_queue(wish.name);
    if (wish.verb == "resume") return server.resume_queue(wish.name);
    if (wish.verb == "close") return server.close_queue(wish.name);
    if (wish.verb == "open") return server.open_queue(wish.name);
    if (!wish.concurrency && !wish.rate)
        throw client::Error(client::Code::invalid_argument,
                            "say --concurrency N, --rate N or both; 0 means no limit");
    std::optional<std::uint32_t> at_once;
    if (wish.concurrency) {
        if (*wish.concurrency < 0 || *wish.concurrency > 1'000'000)
            throw client::Error(client::Code::invalid_argument,
                                "--concurrency must be from 0 (no limit) to 1000000");
        at_once = static_cast<std::uint32_t>(*wish.concurrency);
    }
    return server.limit_queue(wish.name, at_once, wish.rate);
}

}  // namespace

int queues(const Arguments& arguments, Io& io) {
    Context context(io);
    QueueWish wish;
    Options options(
        "queues", "[list|pause|resume|close|open|limit] [QUEUE] [OPTIONS]",
        "Lists queues, or changes one: pause and resume handing out, close and open taking in.\n"
        "  holdfast queues limit media --concurrency 4 --rate 10");
    options.argument(wish.verb, "ACTION", "list, pause, resume, close, open or limit", false)
        .argument(wish.name, "QUEUE", "Which one", false)
        .number(wish.concurrency, "--concurrency", "limit: at most so many at once; 0: no limit")
        .decimal(wish.rate, "--rate", "limit: at most so many a second; 0: no limit");
    return run_client(context, options, arguments, [&] {
        if (wish.verb == "list") {
            print_queues(list_of(context.server().queues()), context);
            return kOk;
        }
        const std::vector<std::string> verbs{"list", "pause", "resume", "close", "open", "limit"};
        if (std::ranges::find(verbs, wish.verb) == verbs.end()) {
            const auto meant = nearest(wish.verb, verbs);
            io.err << mark(io) << "unknown action '" << printable(wish.verb) << "'"
                   << (meant.empty() ? "" : ", did you mean '" + meant + "'?")
                   << "\n  usage: holdfast queues [list|pause|resume|close|open|limit] [QUEUE]\n";
            return kUsage;
        }
        if (wish.name.empty())
            throw client::Error(client::Code::invalid_argument,
                                "which queue?  holdfast queues " + wish.verb + " QUEUE");
        const auto queue = changed(wish, context.server());
        if (context.as_json()) {
            context.print(queue);
        } else {
            print_queues({queue}, context);
        }
        return kOk;
    });
}

}  // namespace holdfast::cli
