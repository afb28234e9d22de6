#include "cli/bulk_report.h"

#include <ostream>
#include <thread>

#include "cli/words.h"

namespace holdfast::cli {
namespace {

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
    put("q", filter.q);
    put_all("state", filter.states);
    put("queue", filter.queue);
    put("type", filter.type);
    put("tenant", filter.tenant);
    put_all("label", filter.labels);
    put("since", filter.since);
    put("until", filter.until);
    return out;
}

json::object request_of(const BulkWish& wish) {
    json::object out{{"action", wish.action}, {"filter", filter_json(wish.filter)}};
    if (wish.limit) out["limit"] = *wish.limit;
    if (wish.rate) out["rate"] = *wish.rate;
    if (!wish.reason.empty()) out["reason"] = wish.reason;
    return out;
}

/// Those that the report names; where it names only the first, also how many for which reason.
void print_refusals(const json::object& report, Context& context) {
    const auto* refused = report.if_contains("refused");
    if (refused == nullptr || !refused->is_array()) return;
    for (const auto& item : refused->get_array())
        context.io.err << printable(text_of(item, "id")) << ": "
                       << printable(text_of(item, "reason")) << '\n';
    const auto* reasons = report.if_contains("refused_by");
    const auto named = static_cast<std::int64_t>(refused->get_array().size());
    if (reasons == nullptr || !reasons->is_object() || count_of(report, "refused_count") <= named)
        return;
    for (const auto& [reason, count] : reasons->get_object())
        context.io.err << (count.is_int64() ? count.get_int64() : 0)
                       << " refused: " << printable(reason) << '\n';
}

}  // namespace

void declare_bulk(Options& options, BulkWish& wish) {
    options.flag(wish.dry_run, "--dry-run", "Only count")
        .flag(wish.yes, "-y,--yes", "Do not ask")
        .decimal(wish.rate, "--rate", "At most so many a second");
}

int act_on_all(const BulkWish& wish, Context& context) {
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
}

int print_bulk_report(json::object report, const std::string& verb, Context& context) {
    constexpr std::chrono::milliseconds kLookEvery{500};
    const auto id = text_of(report, "bulk_id");
    while (!id.empty() && text_of(report, "state") == "running") {
        context.say(verb + ": " + text_of(report, "done") + " of " + text_of(report, "matched"));
        std::this_thread::sleep_for(kLookEvery);
        report = context.server().bulk_report(id);
    }
    if (context.as_json()) {
        context.print(report);
        return kOk;
    }
    const std::string gap = context.io.out_is_terminal ? "  " : "\t";
    context.io.out << "matched " << text_of(report, "matched") << gap << "done "
                   << text_of(report, "done") << gap << "refused "
                   << text_of(report, "refused_count") << '\n';
    print_refusals(report, context);
    return kOk;
}

}  // namespace holdfast::cli
