
#include "cli/bulk_report.h"
#include "cli/commands.h"

namespace holdfast::cli {
namespace {

struct Wish {
    std::string action, reason;
    client::Filter filter;
    bool dry_run = false, yes = false, all = false;
    std::optional<std::int64_t> limit;
    std::optional<double> rate;
};

json::object filter_json(const client::Filter& filter) {
    json::object out;
    const auto put = [&](std::string_view name, const std::string& text) {
        if (!text.empty()) out[name] = text;
    };
    const auto put_all = [&](std::string_view name, const std::vector<std::string>& texts) {
        if (texts.empty()) return;
        auto& list = out[name].emplace_array();
        for (const auto& text : texts) list.emplace_back(text);
    };
    put_all("state", filter.states);
    put("queue", filter.queue);
    put("type", filter.type);
    put("tenant", filter.tenant);
    put_all("label", filter.labels);
    put("since", filter.since);
    put("until", filter.until);
    return out;
}

json::object request_of(const Wish& wish) {
    json::object out{{"action", wish.action}, {"filter", filter_json(wish.filter)}};
    if (wish.limit) out["limit"] = *wish.limit;
    if (wish.rate) out["rate"] = *wish.rate;
    if (!wish.reason.empty()) out["reason"] = wish.reason;
    return out;
}

}  // namespace

int bulk(const Arguments& arguments, Io& io) {
    Context context(io);
    Wish wish;
    Options options(
        "bulk", "resume|discard|cancel|pause FILTER… [OPTIONS]",
        "Acts on every task that matches, as they were when it began. Counts first and asks.\n"
        "  holdfast bulk cancel --queue media --state queued --rate 50");
    options.argument(wish.action, "ACTION", "resume, discard, cancel or pause");
    declare_filter(options, wish.filter);
    options.flag(wish.all, "-a,--all", "Every task: for a filter that is empty")
        .flag(wish.dry_run, "--dry-run", "Only count")
        .flag(wish.yes, "-y,--yes", "Do not ask")
        .number(wish.limit, "-n,--limit", "At most so many")
        .decimal(wish.rate, "--rate", "At most so many a second")
        .text(wish.reason, "--reason", "TEXT", "Kept with the tasks' history");
    return run_client(context, options, arguments, [&] {
        auto request = request_of(wish);
        if (request.at("filter").as_object().empty() && !wish.all)
            throw client::Error(
                client::Code::invalid_argument,
                "no filter is given: narrow it (--queue Q, --state S, …), or say --all");
        auto counting = request;
        counting["dry_run"] = true;
        if (wish.dry_run || !wish.yes) {
            auto counted = context.server().bulk(counting);
            if (wish.dry_run) return print_bulk_report(std::move(counted), wish.action, context);
            if (const auto refused = context.confirm(
                    wish.action + " " + text_of(counted, "matched") + " tasks?", wish.yes))
                return *refused;
        }
        return print_bulk_report(context.server().bulk(request), wish.action, context);
    });
}

}  // namespace holdfast::cli
