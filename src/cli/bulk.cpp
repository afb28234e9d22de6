#include "cli/bulk_report.h"
#include "cli/commands.h"

namespace holdfast::cli {

int bulk(const Arguments& arguments, Io& io) {
    Context context(io);
    BulkWish wish;
    Options options(
        "bulk", "resume|discard|cancel|pause FILTER… [OPTIONS]",
        "Acts on every task that matches, as they were when it began. Counts first and asks.\n"
        "  holdfast bulk cancel --queue media --state queued --rate 50");
    options.argument(wish.action, "ACTION", "resume, discard, cancel or pause");
    declare_filter(options, wish.filter);
    options.flag(wish.all, "-a,--all", "Every task: for a filter that is empty");
    declare_bulk(options, wish);
    options.number(wish.limit, "-n,--limit", "At most so many")
        .text(wish.reason, "--reason", "TEXT", "Kept with the tasks' history");
    return run_client(context, options, arguments, [&] { return act_on_all(wish, context); });
}

}  // namespace holdfast::cli
