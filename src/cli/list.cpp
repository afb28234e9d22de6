#include <algorithm>
#include <iterator>

#include "cli/commands.h"
#include "cli/task_view.h"

namespace holdfast::cli {

int list(const Arguments& arguments, Io& io) {
    constexpr std::int64_t kLargestPage = 1000;
    Context context(io);
    client::Filter filter;
    std::optional<std::int64_t> limit;
    bool all = false;
    Options options("list", "[OPTIONS]",
                    "Lists tasks, newest first.\n"
                    "  holdfast list --state suspended --queue media -o json");
    declare_filter(options, filter);
    options.number(limit, "-n,--limit", "At most so many (100)")
        .flag(all, "-a,--all", "All of them, however many");
    return run_client(context, options, arguments, [&] {
        auto left = std::max<std::int64_t>(1, limit.value_or(100));
        json::array tasks;
        std::string cursor;
        do {
            const auto size = all ? kLargestPage : std::min(left, kLargestPage);
            auto page = context.server().list(filter, static_cast<std::size_t>(size), cursor);
            left -= static_cast<std::int64_t>(page.tasks.size());
            std::ranges::move(page.tasks, std::back_inserter(tasks));
            cursor = std::move(page.next_cursor);
        } while (!cursor.empty() && (all || left > 0));
        print_tasks(tasks, context);
        if (!cursor.empty() && !context.as_json())
            context.say("there are more: --limit N, or --all");
        return kOk;
    });
}

}  // namespace holdfast::cli
