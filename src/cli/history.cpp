#include <ostream>

#include "cli/commands.h"
#include "cli/task_view.h"
#include "cli/words.h"

namespace holdfast::cli {
namespace {

/// The stack below its step, as it was written.
void print_stack(const json::value& step, Io& io) {
    const auto* object = step.if_object();
    const auto* error = object != nullptr ? object->if_contains("error") : nullptr;
    if (error == nullptr || !io.out_is_terminal) return;
    std::string line;
    for (const char c : text_of(*error, "stack") + "\n") {
        if (c != '\n') {
            line += c;
        } else if (!line.empty()) {
            io.out << "    " << printable(line) << '\n';
            line.clear();
        }
    }
}

}  // namespace

int history(const Arguments& arguments, Io& io) {
    Context context(io);
    std::string id;
    Options options("history", "ID [OPTIONS]",
                    "Every step of a task, with every attempt's error and stack.");
    options.argument(id, "ID", "The task");
    return run_client(context, options, arguments, [&] {
        const auto steps = context.server().history(id);
        if (context.as_json()) {
            context.print(steps);
            return kOk;
        }
        for (const auto& step : steps) {
            print_step(step, context);
            print_stack(step, io);
        }
        return kOk;
    });
}

}  // namespace holdfast::cli
