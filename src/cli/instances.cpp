#include "cli/commands.h"
#include "cli/context.h"

namespace holdfast::cli {
namespace {

std::string roles_of(const json::value& instance) {
    std::string text;
    const auto* roles = instance.as_object().if_contains("roles");
    if (roles == nullptr || !roles->is_array()) return text;
    for (const auto& role : roles->get_array()) {
        if (role.is_string())
            text.append(text.empty() ? "" : ",").append(std::string(role.get_string()));
    }
    return text;
}

}  // namespace

int instances(const Arguments& arguments, Io& io) {
    Context context(io);
    Options options("instances", "[OPTIONS]",
                    "The servers that share this store; * is the one that answers.");
    return run_client(context, options, arguments, [&] {
        const auto body = context.server().request("GET", "/v1/instances").body;
        const auto list = body.as_object().at("instances").as_array();
        if (context.as_json()) {
            context.print(list);
            return kOk;
        }
        Table table({{.name = "INSTANCE", .worth = 9},
                     {.name = "ROLES", .worth = 7},
                     {.name = "WORKERS", .worth = 6, .right = true},
                     {.name = "ADDRESS", .worth = 8},
                     {.name = "VERSION", .worth = 3},
                     {.name = "SINCE", .worth = 5},
                     {.name = "SEEN", .worth = 4}});
        for (const auto& one : list) {
            table.add({text_of(one, "id") + (text_of(one, "self") == "true" ? " *" : ""),
                       roles_of(one), text_of(one, "workers"), text_of(one, "address"),
                       text_of(one, "version"), time_of(one, "started_at", io),
                       time_of(one, "seen_at", io)});
        }
        table.print(io);
        return kOk;
    });
}

}  // namespace holdfast::cli
