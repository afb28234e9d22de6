#include <ostream>

#include "cli/commands.h"
#include "cli/context.h"
#include "cli/words.h"

namespace holdfast::cli {

int signal(const Arguments& arguments, Io& io) {
    Context context(io);
    std::string id, data, signal_id;
    Options options("signal", "ID [JSON|-|@FILE] [OPTIONS]",
                    "Wakes a task that waits for a signal, with data for its worker.");
    options.argument(id, "ID", "The task")
        .argument(data, "DATA", "JSON, - for standard input, @FILE for a file", false)
        .text(signal_id, "--id", "TEXT", "The same id is taken once");
    return run_client(context, options, arguments, [&] {
        const auto value = data.empty() ? json::value() : read_json(data, io);
        const auto answer = context.server().signal(id, value, signal_id);
        if (context.as_json()) {
            context.print(answer);
        } else {
            io.out << printable(id) << '\t' << printable(text_of(answer, "state")) << '\n';
        }
        return kOk;
    });
}

}  // namespace holdfast::cli
