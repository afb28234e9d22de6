#include "cli/commands.h"
#include "cli/context.h"

namespace holdfast::cli {

int failures(const Arguments& arguments, Io& io) {
    Context context(io);
    std::string q;
    std::optional<std::int64_t> limit;
    Options options("failures", "[OPTIONS]",
                    "What goes wrong, by kind: the group with most unfinished tasks first.\n"
                    "  holdfast failures -q 'queue:media age:<1d'\n"
                    "  holdfast resume -q 'group:FINGERPRINT state:suspended'");
    options.text(q, "-q,--query", "FILTER", "Only of tasks that pass")
        .number(limit, "-n,--limit", "At most so many (50)");
    return run_client(context, options, arguments, [&] {
        const auto size = std::max<std::int64_t>(1, limit.value_or(50));
        const auto answer = context.server().failures(q, static_cast<std::size_t>(size));
        if (context.as_json()) {
            context.print(answer);
            return kOk;
        }
        Table table({{.name = "GROUP", .worth = 9},
                     {.name = "OPEN", .worth = 9, .right = true},
                     {.name = "FAILED", .worth = 8, .right = true},
                     {.name = "TYPE", .worth = 6},
                     {.name = "LAST SEEN", .worth = 3},
                     {.name = "MESSAGE", .worth = 7, .cut = true}});
        const auto* groups = answer.if_contains("groups");
        if (groups != nullptr && groups->is_array())
            for (const auto& group : groups->get_array())
                table.add({text_of(group, "fingerprint"), text_of(group, "open"),
                           text_of(group, "failed"), text_of(group, "type"),
                           time_of(group, "last_seen", io), text_of(group, "message")});
        if (table.empty()) context.say("nothing has failed");
        table.print(io);
        return kOk;
    });
}

}  // namespace holdfast::cli
