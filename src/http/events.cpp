#include "http/events.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>

#include "http/stats_json.h"

namespace holdfast::http {
namespace {

constexpr Duration kEvery = std::chrono::milliseconds{50};
constexpr Duration kCountEvery = std::chrono::seconds{1};
constexpr std::size_t kEventsAtOnce = 1000;

std::string sse(const domain::FeedEvent& e) {
    const auto state = [](domain::State s) {
        return s == domain::State::none ? Json{} : Json::quoted(to_string(s));
    };
    JsonObject data;
    data.add(e.subject.kind == domain::Kind::task ? "task" : "id", e.subject.id.text())
        .add("kind", to_string(e.subject.kind))
        .add("event", e.name)
        .add("from", state(e.from))
        .add("to", state(e.to))
        .add("attempt", std::int64_t{e.attempt})
        .add("version", static_cast<std::int64_t>(e.version))
        .add("at", format_time(e.at))
        .add("queue", e.queue)
        .add("type", e.type)
        .add_some("tenant", e.tenant)
        .add_some("message", e.message);
    return "event: " + e.name + "\ndata: " + data.done().text() + '\n';
}

std::shared_ptr<const EventPage> render(stores::FeedPage feed) {
    auto page = std::make_shared<EventPage>();
    // How the place is watched is of no interest to who watches tasks.
    std::erase_if(feed.events, [](const domain::FeedEvent& event) {
        return event.subject.kind == domain::Kind::series ||
               event.subject.kind == domain::Kind::audit;
    });
    page->events = std::move(feed.events);
    page->next = std::move(feed.next);
    page->reset = feed.reset;
    return page;
}

}  // namespace

const std::string& EventPage::text(std::size_t i) const {
    if (texts_.empty()) texts_.resize(events.size());
    if (texts_[i].empty()) texts_[i] = sse(events[i]);
    return texts_[i];
}

bool EventFilter::wants(const domain::FeedEvent& e) const {
    const auto is_or_any = [](const std::string& wanted, const std::string& given) {
        return wanted.empty() || wanted == given;
    };
    if (tasks &&
        (e.subject.kind != domain::Kind::task || !std::ranges::binary_search(*tasks, e.subject.id)))
        return false;
    return (!task || *task == e.subject.id) && is_or_any(queue, e.queue) &&
           is_or_any(type, e.type) && is_or_any(tenant, e.tenant) &&
           (kinds.empty() || std::ranges::find(kinds, e.name) != kinds.end()) &&
           (states.empty() || std::ranges::find(states, e.to) != states.end());
}

Result<> read_event_filter(std::string_view text, EventFilter& filter) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view clause = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (clause.empty()) continue;
        const std::size_t colon = std::min(clause.find(':'), clause.size());
        const std::string_view name = clause.substr(0, colon);
        const std::string value(clause.substr(std::min(colon + 1, clause.size())));
        if (name == "queue") {
            filter.queue = value;
        } else if (name == "type") {
            filter.type = value;
        } else if (name == "tenant") {
            filter.tenant = value;
        } else if (const auto state = domain::state_from(value); name == "state" && state) {
            filter.states.push_back(*state);
        } else {
            return invalid("filter",
                           "must be queue:…, type:…, tenant:… or state:… of a known state, "
                           "separated by blanks");
        }
    }
    return {};
}

Result<> read_event_tasks(std::string_view text, EventFilter& filter) {
    auto& tasks = filter.tasks.emplace();
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        const auto id = Uuid::parse(text.substr(0, end));
        if (!id) return invalid("tasks", id.error().detail);
        if (tasks.size() == kMostEventTasks) return invalid("tasks", "has more than 200 ids");
        tasks.push_back(*id);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    std::ranges::sort(tasks);
    return {};
}

Events::Events(engine::Engine& engine, Clock& clock, asio::any_io_executor executor)
    : engine_(engine), clock_(clock), executor_(executor), group_(std::move(executor)) {}

Events::Subscriber::Subscriber(Events& events, std::string cursor, bool counters)
    : events_(events),
      place_(events.subscribers_.insert(events.subscribers_.end(), this)),
      cursor_(std::move(cursor)),
      wants_counters_(counters),
      alarm_(events.clock_, events.executor_) {
    if (!std::exchange(events.running_, true)) events.group_.spawn(events.run());
}

Events::Subscriber::~Subscriber() {
    events_.subscribers_.erase(place_);
}

Async<std::shared_ptr<const EventPage>> Events::Subscriber::next(Time until) {
    while (!page_ && !counts_ && !ended_) {
        if (!co_await alarm_.wait_until(until)) break;
    }
    co_return std::exchange(page_, nullptr);
}

void Events::Subscriber::end() {
    ended_ = true;
    alarm_.ring();
}

Async<void> Events::run() {
    Alarm alarm(clock_, executor_);
    while (!subscribers_.empty() && !group_.stopping()) {
        co_await round();
        if (clock_.now() >= counted_at_ + kCountEvery) co_await count();
        if (more_) {
            co_await asio::post(executor_, asio::use_awaitable);
        } else {
            co_await alarm.wait_for(kEvery);
        }
    }
    running_ = false;
}

/// Subscribers come and go while a page is read: they are looked up again by where they stand.
Async<void> Events::round() {
    more_ = false;
    std::vector<std::string> places;
    for (const Subscriber* s : subscribers_) {
        if (!s->page_ && std::ranges::find(places, s->cursor_) == places.end())
            places.push_back(s->cursor_);
    }
    for (const std::string& place : places) {
        auto feed = co_await engine_.feed(place, kEventsAtOnce);
        if (!feed) continue;  // the store is silent; the next round asks again
        const auto page = render(*std::move(feed));
        more_ = more_ || page->events.size() == kEventsAtOnce;
        for (Subscriber* s : subscribers_) {
            if (s->page_ || s->cursor_ != place) continue;
            s->cursor_ = page->next;
            s->missed_ = s->missed_ || page->reset;
            if (page->events.empty() && !page->reset) continue;
            s->page_ = page;
            s->alarm_.ring();
        }
    }
}

Async<void> Events::count() {
    counted_at_ = clock_.now();
    const auto wanted = [](const Subscriber* s) { return s->wants_counters_; };
    if (std::ranges::none_of(subscribers_, wanted)) co_return;
    const auto stats = co_await engine_.stats();
    if (!stats) co_return;
    const auto text = std::make_shared<const std::string>(stats_json(*stats));
    for (Subscriber* s : subscribers_) {
        if (!wanted(s)) continue;
        s->counts_ = text;
        s->alarm_.ring();
    }
}

}  // namespace holdfast::http
