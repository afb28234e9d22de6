// cancel, pause, resume, discard: the same for each of many tasks.
#include <algorithm>
#include <ostream>

#include "cli/bulk_report.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "cli/words.h"

namespace holdfast::cli {
namespace {

using Act = std::function<json::object(client::Client&, const std::string& id)>;

struct Acting {
    std::string verb, about;
    std::vector<std::string> ids = {};
    std::string reason = {};
    BulkWish all = {};  ///< What --query means.
};

constexpr std::string_view kActUsage = "ID…|-q FILTER [--reason TEXT]";

/// One refusal does not keep the others from being tried; the worst decides the exit code.
int act_on_each(const Acting& acting, Context& context, const Act& act) {
    int code = kOk;
    json::array results;
    for (const auto& id : acting.ids) {
        try {
            auto answer = act(context.server(), id);
            if (!context.as_json()) {
                const bool asked =
                    answer.contains("cancel_requested") || answer.contains("pause_requested");
                context.io.out << printable(id) << '\t'
                               << (asked ? acting.verb + " requested" : text_of(answer, "state"))
                               << '\n';
            }
            results.emplace_back(std::move(answer));
        } catch (const client::Error& error) {
            if (error.code == client::Code::unreachable) throw;
            client::Error named = error;
            named.detail = "cannot " + acting.verb + " " + id + ": " + error.detail;
            print_error(named, context);
            code = std::max(code, exit_code(error));
        }
    }
    if (context.as_json()) context.print(results);
    return code;
}

void declare(Options& options, Acting& acting) {
    options.arguments(acting.ids, "ID", "The tasks", false)
        .text(acting.reason, "--reason", "TEXT", "Kept with the task's history")
        .text(acting.all.filter.q, "-q,--query", "FILTER",
              "Every task that passes, in place of ids: counts first and asks");
    declare_bulk(options, acting.all);
}

/// By ids, or by a filter: one of them.
int act_on(Acting acting, Context& context, const Act& act) {
    const bool by_query = !acting.all.filter.q.empty();
    if (by_query == !acting.ids.empty())
        throw client::Error(client::Code::invalid_argument,
                            "which tasks? give either their ids or a filter: holdfast " +
                                acting.verb + " -q 'type:image.* age:>1h'");
    if (!by_query) return act_on_each(acting, context, act);
    acting.all.action = acting.verb;
    acting.all.reason = acting.reason;
    return act_on_all(acting.all, context);
}

int simple_act(Acting acting, const Arguments& arguments, Io& io,
               json::object (client::Client::*method)(std::string_view, std::string_view)) {
    Context context(io);
    Options options(acting.verb, std::string(kActUsage), acting.about);
    declare(options, acting);
    return run_client(context, options, arguments, [&] {
        return act_on(acting, context, [&](client::Client& server, const std::string& id) {
            return (server.*method)(id, acting.reason);
        });
    });
}

}  // namespace

int cancel(const Arguments& arguments, Io& io) {
    return simple_act(
        {.verb = "cancel",
         .about = "Cancels tasks. A running one is asked, and is cancelled at its next step."},
        arguments, io, &client::Client::cancel);
}

int pause(const Arguments& arguments, Io& io) {
    return simple_act(
        {.verb = "pause", .about = "Pauses tasks. A running one pauses at its next checkpoint."},
        arguments, io, &client::Client::pause);
}

int discard(const Arguments& arguments, Io& io) {
    return simple_act({.verb = "discard",
                       .about = "Gives tasks up for good. One that runs must be cancelled first."},
                      arguments, io, &client::Client::discard);
}

int resume(const Arguments& arguments, Io& io) {
    Context context(io);
    Acting acting{.verb = "resume", .about = {}};
    std::string payload;
    Options options("resume", "ID…|-q FILTER [--payload JSON] [--reason TEXT]",
                    "Resumes paused or suspended tasks; their failures are counted anew.");
    declare(options, acting);
    options.text(payload, "--payload", "JSON|-|@FILE", "A new payload; the old one stays readable");
    return run_client(context, options, arguments, [&] {
        std::optional<json::value> revised;
        if (!payload.empty()) revised = read_json(payload, io);
        if (revised && !acting.all.filter.q.empty())
            throw client::Error(client::Code::invalid_argument,
                                "--payload is for tasks that are named by their ids");
        return act_on(acting, context, [&](client::Client& server, const std::string& id) {
            return server.resume(id, acting.reason, revised);
        });
    });
}

}  // namespace holdfast::cli
