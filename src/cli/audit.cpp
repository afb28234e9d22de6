#include "cli/commands.h"
#include "cli/context.h"

namespace holdfast::cli {
namespace {

std::string with(std::string path, std::string_view name, const std::string& value) {
    if (value.empty()) return path;
    path.append(path.contains('?') ? "&" : "?").append(name).append("=");
    for (const char c : value) {
        constexpr std::string_view kDigits = "0123456789ABCDEF";
        const auto byte = static_cast<unsigned char>(c);
        path.append("%").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    }
    return path;
}

}  // namespace

int audit(const Arguments& arguments, Io& io) {
    Context context(io);
    std::string who;
    std::string action;
    std::string target;
    std::optional<std::int64_t> limit;
    Options options("audit", "[OPTIONS]",
                    "What operators did, newest first.\n"
                    "  holdfast audit --action queue.pause");
    options.text(who, "--who", "NAME", "Only by this one")
        .text(action, "--action", "ACTION", "Only this: task.cancel, queue.pause, bulk.start …")
        .text(target, "--target", "TARGET",
              "Only to this: task:ID, queue:NAME, bulk:ID, worker:NAME")
        .number(limit, "-n,--limit", "At most so many (100)");
    return run_client(context, options, arguments, [&] {
        std::string path =
            with(with(with("/v1/audit", "who", who), "action", action), "target", target);
        if (limit) path = with(std::move(path), "limit", std::to_string(*limit));
        const auto body = context.server().request("GET", path).body;
        const auto entries = body.as_object().at("entries").as_array();
        if (context.as_json()) {
            context.print(entries);
            return kOk;
        }
        Table table({{.name = "WHEN", .worth = 9},
                     {.name = "WHO", .worth = 8},
                     {.name = "ACTION", .worth = 7},
                     {.name = "TARGET", .worth = 6},
                     {.name = "REASON", .worth = 5},
                     {.name = "FROM", .worth = 2}});
        for (const auto& one : entries) {
            table.add({time_of(one, "at", io), text_of(one, "who"), text_of(one, "action"),
                       text_of(one, "target"), text_of(one, "reason"), text_of(one, "address")});
        }
        table.print(io);
        return kOk;
    });
}

}  // namespace holdfast::cli
