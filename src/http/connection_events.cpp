// A connection that is handed over to server-sent events.
#include "http/connection.h"
#include "http/events.h"
#include "http/problem.h"

namespace holdfast::http {
namespace {

constexpr Duration kHeartbeat = std::chrono::seconds{15};
constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
    "X-Accel-Buffering: no\r\nConnection: close\r\nX-Request-Id: ";

struct Wish {
    EventFilter filter;
    std::string cursor;
    bool counters = false;
};

Result<Wish> wish_of(const Call& call) {
    Wish wish;
    if (!call.params[0].empty()) {
        TRY(wish.filter.task, call.id());
    }
    if (const std::string* text = call.parameter("filter"))
        TRY_VOID(read_event_filter(*text, wish.filter));
    if (const std::string* tasks = call.parameter("tasks"))
        TRY_VOID(read_event_tasks(*tasks, wish.filter));
    if (const std::string* kinds = call.parameter("kinds")) {
        for (std::string_view rest = *kinds; !rest.empty();) {
            const std::size_t end = std::min(rest.find(','), rest.size());
            wish.filter.kinds.emplace_back(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    const std::string* counters = call.parameter("counters");
    wish.counters = counters != nullptr && *counters == "1";
    const std::string* since = call.parameter("since");
    const std::string_view last = call.request->header("last-event-id");
    wish.cursor = since != nullptr ? *since : last.empty() ? "now" : std::string(last);
    if (wish.cursor == "oldest") wish.cursor.clear();
    return wish;
}

/// Where to begin. Asked before the head is sent: a watermark that is none, and a task that is none, are errors
/// and not streams in which nothing ever happens.
Async<Result<std::string>> place_of(engine::Engine* engine, const Wish* wish) {
    if (wish->filter.task) CO_TRY_VOID(co_await engine->get(*wish->filter.task));
    CO_TRY(const stores::FeedPage page, co_await engine->feed(wish->cursor, 1));
    co_return wish->cursor == "now" ? page.next : wish->cursor;
}

/// The events of a page that are wanted; the last one carries the watermark.
void add_page(std::string& out, const EventPage& page, const EventFilter& filter) {
    const std::size_t before = out.size();
    for (std::size_t i = 0; i < page.events.size(); ++i) {
        if (!filter.wants(page.events[i])) continue;
        out += page.text(i);
        out += '\n';
    }
    if (out.size() > before) {
        out.pop_back();
        out += "id: " + page.next + "\n\n";
    }
}

}  // namespace

Async<void> Connection::serve_events(Call call) {
    const auto wish = wish_of(call);
    const auto known = wish ? co_await place_of(&call.engine(), &*wish)
                            : Result<std::string>(std::unexpected(wish.error()));
    if (!known) {
        write(out_, problem(known.error(), call.request_id), false, false);
        co_return;
    }
    out_ += kHead;
    out_ += call.request_id + "\r\n\r\nretry: 2000\n\n: hb\n\n";
    Events::Subscriber subscriber(call.services->events, *known, wish->counters);
    keeper_.leave = [this, &subscriber] {
        cut();
        subscriber.end();
    };
    Time spoken_at = server_.clock_.now();
    while (!server_.stopping() && co_await flush()) {
        const auto page = co_await subscriber.next(spoken_at + kHeartbeat);
        if (subscriber.missed()) out_ += "event: reset\ndata: {}\n\n";
        if (page) add_page(out_, *page, wish->filter);
        if (const auto counts = subscriber.counters())
            out_.append("event: counters\ndata: ").append(*counts).append("\n\n");
        const Time now = server_.clock_.now();
        // Also for whom nothing was of interest: the watermark goes on.
        if (out_.empty() && now >= spoken_at + kHeartbeat)
            out_ += ": hb\nid: " + subscriber.cursor() + "\n\n";
        if (!out_.empty()) spoken_at = now;
    }
    keeper_ = {};
}

}  // namespace holdfast::http
