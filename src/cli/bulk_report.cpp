#include "cli/bulk_report.h"

#include <ostream>
#include <thread>

#include "cli/words.h"

namespace holdfast::cli {

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
    if (const auto* refused = report.if_contains("refused");
        refused != nullptr && refused->is_array())
        for (const auto& item : refused->get_array())
            context.io.err << printable(text_of(item, "id")) << ": "
                           << printable(text_of(item, "reason")) << '\n';
    return kOk;
}

}  // namespace holdfast::cli
