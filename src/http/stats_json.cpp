#include "http/stats_json.h"

#include "http/filters.h"
#include "http/render.h"

namespace holdfast::http {

Json counts_json(const Counts& by_state) {
    JsonObject object;
    for (std::size_t s = 1; s < by_state.size(); ++s)
        object.add(domain::kStateNames[s], static_cast<std::int64_t>(by_state[s]));
    return object.done();
}

std::string stats_json(const stores::Stats& stats) {
    Counts total{};
    for (const auto& counts : stats.queues) {
        for (std::size_t s = 0; s < total.size(); ++s) total[s] += counts.by_state[s];
    }
    std::string out = R"({"tasks":)" + counts_json(total).text() + R"(,"queues":)";
    add_list(out, stats.queues, [](const auto& counts) {
        return JsonObject{}
            .add("queue", counts.queue)
            .add("type", counts.type)
            .add("tasks", counts_json(counts.by_state))
            .done()
            .text();
    });
    out += R"(,"failures":)";
    add_list(out, stats.failures, [](const auto& counts) {
        return JsonObject{}
            .add("fingerprint", fingerprint_text(counts.fingerprint))
            .add("tasks", counts_json(counts.by_state))
            .done()
            .text();
    });
    out += R"(,"oldest":)";
    add_list(out, stats.oldest, [](const stores::Oldest& oldest) {
        return JsonObject{}
            .add("queue", oldest.queue)
            .add("at", format_time(oldest.since))
            .done()
            .text();
    });
    return out + '}';
}

}  // namespace holdfast::http
