#include "cli/commands.h"
#include "cli/task_view.h"

namespace holdfast::cli {

int get(const Arguments& arguments, Io& io) {
    Context context(io);
    std::string id;
    std::optional<std::chrono::milliseconds> wait;
    bool following = false;
    Options options("get", "ID [OPTIONS]", "Prints a task.");
    options.argument(id, "ID", "The task")
        .waiting(wait, "-w,--wait", std::chrono::hours(24), "Until it has finished")
        .flag(following, "-f,--follow", "Print each step until it has finished");
    return run_client(context, options, arguments, [&] {
        if (following) return follow(id, context);
        if (wait) return wait_and_print(id, *wait, context);
        print_task(context.server().get(id), context);
        return kOk;
    });
}

}  // namespace holdfast::cli
