#include "cli/commands.h"
#include "cli/context.h"

namespace holdfast::cli {

int stats(const Arguments& arguments, Io& io) {
    Context context(io);
    Options options("stats", "[OPTIONS]", "Counts by queue, type and state.");
    return run_client(context, options, arguments, [&] {
        const auto stats = context.server().stats();
        if (context.as_json()) {
            context.print(stats);
            return kOk;
        }
        Table table({{.name = "QUEUE", .worth = 9},
                     {.name = "TYPE", .worth = 8},
                     {.name = "STATE", .worth = 7},
                     {.name = "TASKS", .worth = 9, .right = true}});
        const auto* queues = stats.if_contains("queues");
        if (queues != nullptr && queues->is_array()) {
            for (const auto& row : queues->get_array()) {
                const auto* tasks =
                    row.is_object() ? row.get_object().if_contains("tasks") : nullptr;
                if (tasks == nullptr || !tasks->is_object()) continue;
                for (const auto& [state, count] : tasks->get_object())
                    if (count.is_int64() && count.get_int64() > 0)
                        table.add({text_of(row, "queue"), text_of(row, "type"), std::string(state),
                                   std::to_string(count.get_int64())});
            }
        }
        if (table.empty()) context.say("no tasks yet");
        table.print(io);
        return kOk;
    });
}

}  // namespace holdfast::cli
