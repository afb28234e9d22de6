// Server-sent events: the feed, read once for everybody who stands at the same place in it.
//
// Every 50 ms each place at which somebody stands is read, and the page is handed to all who stand there. Who is
// still busy with the last page is left where it stands: a slow reader costs nobody anything, and nothing is piled
// up for it.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/task_group.h"
#include "engine/engine.h"

namespace holdfast::http {

struct EventPage {
    std::vector<domain::FeedEvent> events;
    std::string next;    ///< The watermark behind them.
    bool reset = false;  ///< Events were missed.

    /// An event as SSE, without its id and the empty line: made for the first one who wants it, kept for the others.
    const std::string& text(std::size_t i) const;

  private:
    mutable std::vector<std::string> texts_;
};

/// What a subscriber wants to hear of; empty: everything.
struct EventFilter {
    std::optional<Uuid> task;
    std::optional<std::vector<Uuid>> tasks;  ///< Of these alone, sorted; none of them: of no task.
    std::string queue, type, tenant;
    std::vector<std::string> kinds;
    std::vector<domain::State> states;  ///< That the event leads to.

    bool wants(const domain::FeedEvent& event) const;
};
/// "queue:a type:b tenant:c state:d"
Result<> read_event_filter(std::string_view text, EventFilter& filter);
/// "id,id,id"; an empty text is a wish for no task at all.
Result<> read_event_tasks(std::string_view text, EventFilter& filter);
inline constexpr std::size_t kMostEventTasks = 200;

class Events {
  public:
    Events(engine::Engine& engine, Clock& clock, asio::any_io_executor executor);

    class Subscriber;
    Async<void> stop() { return group_.stop(); }

  private:
    Async<void> run();
    Async<void> round();
    Async<void> count();

    engine::Engine& engine_;
    Clock& clock_;
    asio::any_io_executor executor_;
    std::list<Subscriber*> subscribers_;
    Time counted_at_;
    bool running_ = false;
    bool more_ = false;  ///< Somebody got a full page: there is more to read at once.
    TaskGroup group_;
};

class Events::Subscriber {
  public:
    Subscriber(Events& events, std::string cursor, bool counters);
    ~Subscriber();
    Subscriber(const Subscriber&) = delete;
    Subscriber& operator=(const Subscriber&) = delete;

    /// The next page with something in it, or nothing when `until` or end() comes first.
    Async<std::shared_ptr<const EventPage>> next(Time until);
    /// Nothing is waited for any more.
    void end();
    /// The newest counts, once; null: none since the last call.
    std::shared_ptr<const std::string> counters() { return std::exchange(counts_, nullptr); }
    const std::string& cursor() const { return cursor_; }
    bool missed() { return std::exchange(missed_, false); }

  private:
    friend class Events;
    Events& events_;
    std::list<Subscriber*>::iterator place_;
    std::string cursor_;
    bool wants_counters_;
    bool missed_ = false;
    bool ended_ = false;
    std::shared_ptr<const EventPage> page_;
    std::shared_ptr<const std::string> counts_;
    Alarm alarm_;
};

}  // namespace holdfast::http
