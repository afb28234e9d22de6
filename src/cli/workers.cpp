#include "cli/commands.h"
#include "cli/context.h"

namespace holdfast::cli {

int workers(const Arguments& arguments, Io& io) {
    Context context(io);
    Options options("workers", "[OPTIONS]", "Who works here, over a stream or by HTTP.");
    return run_client(context, options, arguments, [&] {
        auto body = context.server().workers();
        auto* object = body.if_object();
        auto* member = object != nullptr ? object->if_contains("workers") : nullptr;
        const auto list = member != nullptr && member->is_array() ? member->get_array()
                          : body.is_array()                       ? body.get_array()
                                                                  : json::array();
        if (context.as_json()) {
            context.print(list);
            return kOk;
        }
        if (list.empty()) context.say("no workers: start one with  holdfast work --queue Q -- CMD");
        Table table({{.name = "WORKER", .worth = 9},
                     {.name = "QUEUES", .worth = 8},
                     {.name = "RUNNING", .worth = 7, .right = true},
                     {.name = "SLOTS", .worth = 6, .right = true},
                     {.name = "STATE", .worth = 5},
                     {.name = "ADDRESS", .worth = 3},
                     {.name = "INSTANCE", .worth = 2},
                     {.name = "SINCE", .worth = 4}});
        for (const auto& worker : list) {
            std::string queues;
            if (const auto* names = worker.as_object().if_contains("queues");
                names != nullptr && names->is_array())
                for (const auto& name : names->get_array())
                    queues += (queues.empty() ? "" : ",") +
                              (name.is_string() ? std::string(name.get_string()) : std::string());
            auto name = text_of(worker, "worker");
            if (name.empty()) name = text_of(worker, "name");
            table.add({name, queues, text_of(worker, "running"), text_of(worker, "slots"),
                       text_of(worker, "state"), text_of(worker, "address"),
                       text_of(worker, "instance"), time_of(worker, "connected_at", io)});
        }
        table.print(io);
        return kOk;
    });
}

}  // namespace holdfast::cli
