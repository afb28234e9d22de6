#include <algorithm>
#include <iterator>
#include <ostream>

#include "cli/bulk_report.h"
#include "cli/commands.h"
#include "cli/task_view.h"
#include "cli/words.h"

namespace holdfast::cli {
namespace {

struct SuspendedWish {
    std::string verb = "list";
    std::vector<std::string> ids;
    client::Filter filter;
    std::string reason;
    bool all = false, yes = false;
    std::optional<std::int64_t> limit;
};

bool is_narrow(const client::Filter& filter) {
    return !filter.q.empty() || !filter.queue.empty() || !filter.type.empty() ||
           !filter.tenant.empty() || !filter.labels.empty() || !filter.since.empty() ||
           !filter.until.empty();
}

int list_them(const SuspendedWish& wish, Context& context) {
    constexpr std::int64_t kPage = 100;  // each comes with its history
    auto left = wish.all ? INT64_MAX : std::max<std::int64_t>(1, wish.limit.value_or(100));
    json::array tasks;
    std::string cursor;
    do {
        auto page = context.server().suspended(
            wish.filter, static_cast<std::size_t>(std::min(left, kPage)), cursor);
        left -= static_cast<std::int64_t>(page.tasks.size());
        std::ranges::move(page.tasks, std::back_inserter(tasks));
        cursor = std::move(page.next_cursor);
    } while (!cursor.empty() && left > 0);
    print_tasks(tasks, context);
    if (!tasks.empty() && !context.as_json())
        context.say("what happened:  holdfast history ID   go on:  holdfast suspended resume ID…");
    return kOk;
}

int act(const SuspendedWish& wish, Context& context) {
    auto& server = context.server();
    const bool resumes = wish.verb == "resume";
    if (!wish.ids.empty())
        return print_bulk_report(resumes ? server.resume_suspended(wish.ids, wish.reason)
                                         : server.discard_suspended(wish.ids, wish.reason),
                                 wish.verb, context);
    if (!wish.all && !is_narrow(wish.filter)) {
        context.io.err << mark(context.io) << "which ones?\n  some:  holdfast suspended "
                       << wish.verb
                       << " ID…\n  by filter:  --queue Q, --type T, …\n  every one:  --all\n";
        return kUsage;
    }
    // To discard cannot be undone; to resume only costs work.
    if (!resumes)
        if (const auto refused =
                context.confirm("Discard every suspended task that matches?", wish.yes))
            return *refused;
    return print_bulk_report(resumes ? server.resume_suspended(wish.filter, wish.reason)
                                     : server.discard_suspended(wish.filter, wish.reason),
                             wish.verb, context);
}

}  // namespace

int suspended(const Arguments& arguments, Io& io) {
    Context context(io);
    SuspendedWish wish;
    Options options("suspended", "[list|resume|discard] [ID…] [OPTIONS]",
                    "Tasks that wait for a person.\n"
                    "  holdfast suspended                     lists them with their last error\n"
                    "  holdfast suspended resume --all        tries every one again\n"
                    "  holdfast suspended discard --type t    gives up those of a type");
    options.argument(wish.verb, "ACTION", "list, resume or discard", false)
        .arguments(wish.ids, "ID", "Some of them", false);
    declare_filter(options, wish.filter, false);
    options.flag(wish.all, "-a,--all", "All of them")
        .flag(wish.yes, "-y,--yes", "Do not ask")
        .number(wish.limit, "-n,--limit", "List at most so many (100)")
        .text(wish.reason, "--reason", "TEXT", "Kept with the tasks' history");
    return run_client(context, options, arguments, [&] {
        if (wish.verb == "list") return list_them(wish, context);
        if (wish.verb == "resume" || wish.verb == "discard") return act(wish, context);
        io.err << mark(io) << "unknown action '" << printable(wish.verb)
               << "'\n  usage: holdfast suspended [list|resume|discard]\n";
        return kUsage;
    });
}

}  // namespace holdfast::cli
