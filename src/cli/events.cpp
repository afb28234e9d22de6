#include <ostream>

#include "cli/commands.h"
#include "cli/context.h"
#include "cli/words.h"

namespace holdfast::cli {
namespace {

void print_event(const client::Event& event, const Context& context) {
    auto& io = context.io;
    if (context.as_json()) {
        context.print(json::object{{"id", event.id}, {"event", event.kind}, {"data", event.data}});
        io.out.flush();
        return;
    }
    if (event.kind == "reset") {
        io.err << "events were missed: what came before is gone\n";
        return;
    }
    const std::string gap = io.out_is_terminal ? "  " : "\t";
    auto task = text_of(event.data, "task");
    if (task.empty()) task = text_of(event.data, "id");
    io.out << time_of(event.data, "at", io) << gap << printable(task) << gap
           << printable(event.kind) << gap << printable(text_of(event.data, "to")) << gap
           << printable(text_of(event.data, "queue")) << gap
           << printable(text_of(event.data, "type")) << gap
           << printable(text_of(event.data, "message")) << '\n'
           << std::flush;
}

}  // namespace

int events(const Arguments& arguments, Io& io) {
    Context context(io);
    client::EventOptions wish;
    std::optional<std::int64_t> limit;
    Options options("events", "[OPTIONS]",
                    "Prints what happens, as it happens, until it is interrupted.\n"
                    "  holdfast events --filter 'queue:media state:suspended'");
    options.text(wish.task, "--task", "ID", "Only of this task")
        .text(wish.filter, "--filter", "TEXT", "queue:Q type:T tenant:T state:S")
        .text(wish.kinds, "--kinds", "A,B", "Only these events")
        .text(wish.since, "--since", "ID", "From here on: the id of an event that -o json printed")
        .number(limit, "-n,--limit", "End after so many");
    return run_client(context, options, arguments, [&] {
        auto left = limit.value_or(0);
        if (limit && left <= 0) return kOk;
        context.server().events(wish, [&](const client::Event& event) {
            print_event(event, context);
            return !limit || --left > 0;
        });
        return kOk;
    });
}

}  // namespace holdfast::cli
