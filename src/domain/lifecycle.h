// The life of a task, as data. Every step that may ever happen is a row of kLifecycle; nothing else
// does. docs/lifecycle.md is rendered from this table.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::domain {

enum class State : std::uint8_t {
    none,        ///< There is no such task (yet).
    waiting,     ///< For a time, a poll or a signal.
    queued,      ///< In a lane: the next worker may have it.
    dispatched,  ///< Handed to a node that has not answered yet.
    accepted,    ///< The node has it, and has not begun.
    running,     ///< A worker holds it under a lease.
    retrying,    ///< It failed, and is due again later.
    paused,      ///< Put aside by an operator.
    suspended,   ///< Parked for a person: it used up its attempts, failed for good, or poisoned its
                 ///< workers.
    succeeded,
    failed,
    cancelled,
    discarded,
};
inline constexpr std::size_t kStates = 13;

/// What happened. The same word is used in history, in the feed, in metrics and in the documents.
enum class Event : std::uint8_t {
    none,
    submitted,
    woken,      ///< Its time came.
    signalled,  ///< Somebody sent it a signal.
    claimed,
    accepted,
    started,
    completed,
    failed,
    yielded,  ///< The worker gave it back, uncounted.
    checkpointed,
    lease_ended,  ///< The worker went silent.
    timed_out,    ///< The deadline of the whole task passed.
    paused,
    resumed,
    cancelled,
    discarded,
    pause_requested,
    cancel_requested,
};
inline constexpr std::size_t kEvents = 19;

inline constexpr std::array<std::string_view, kStates> kStateNames{
    "none",   "waiting",   "queued",    "dispatched", "accepted",  "running",  "retrying",
    "paused", "suspended", "succeeded", "failed",     "cancelled", "discarded"};
inline constexpr std::array<std::string_view, kEvents> kEventNames{
    "none",         "submitted",   "woken",           "signalled",       "claimed",
    "accepted",     "started",     "completed",       "failed",          "yielded",
    "checkpointed", "lease_ended", "timed_out",       "paused",          "resumed",
    "cancelled",    "discarded",   "pause_requested", "cancel_requested"};

constexpr std::string_view to_string(State s) {
    return kStateNames[static_cast<std::size_t>(s)];
}
constexpr std::string_view to_string(Event e) {
    return kEventNames[static_cast<std::size_t>(e)];
}
std::optional<State> state_from(std::string_view name);
std::optional<Event> event_from(std::string_view name);

/// Over: nothing moves it any more.
constexpr bool is_final(State s) {
    return s >= State::succeeded;
}
/// A worker or node has it, under a lease.
constexpr bool is_held(State s) {
    return s >= State::dispatched && s <= State::running;
}
/// Waits for a person, with no timer of its own.
constexpr bool is_parked(State s) {
    return s == State::paused || s == State::suspended;
}
/// Has a moment at which it becomes claimable.
constexpr bool is_timed(State s) {
    return s == State::waiting || s == State::retrying;
}

struct Step {
    State from;
    Event event;
    State to;
    friend constexpr bool operator==(const Step&, const Step&) = default;
};

// clang-format off
inline constexpr std::array kLifecycle{
    Step{State::none,       Event::submitted,        State::queued},
    Step{State::none,       Event::submitted,        State::waiting},     // delay, run_at
    Step{State::waiting,    Event::woken,            State::queued},
    Step{State::waiting,    Event::signalled,        State::queued},
    Step{State::queued,     Event::claimed,          State::running},
    Step{State::queued,     Event::claimed,          State::dispatched},  // by a node that announces acks
    Step{State::dispatched, Event::accepted,         State::accepted},
    Step{State::dispatched, Event::started,          State::running},     // nodes that skip the ack
    Step{State::accepted,   Event::started,          State::running},

    Step{State::running,    Event::completed,        State::succeeded},
    Step{State::accepted,   Event::completed,        State::succeeded},   // a result is a result
    Step{State::dispatched, Event::completed,        State::succeeded},

    Step{State::running,    Event::failed,           State::retrying},
    Step{State::running,    Event::failed,           State::suspended},   // permanent, or attempts used up
    Step{State::running,    Event::failed,           State::failed},      // the same with on_exhausted=fail
    Step{State::running,    Event::failed,           State::paused},      // a pause was requested
    Step{State::accepted,   Event::failed,           State::retrying},
    Step{State::accepted,   Event::failed,           State::suspended},
    Step{State::accepted,   Event::failed,           State::failed},
    Step{State::accepted,   Event::failed,           State::paused},
    Step{State::dispatched, Event::failed,           State::retrying},
    Step{State::dispatched, Event::failed,           State::suspended},
    Step{State::dispatched, Event::failed,           State::failed},
    Step{State::dispatched, Event::failed,           State::paused},
    Step{State::retrying,   Event::woken,            State::queued},

    Step{State::running,    Event::yielded,          State::queued},      // drain: somebody else, now
    Step{State::running,    Event::yielded,          State::waiting},     // poll later, or wait for a signal
    Step{State::running,    Event::yielded,          State::paused},      // a pause was requested
    Step{State::accepted,   Event::yielded,          State::queued},
    Step{State::accepted,   Event::yielded,          State::waiting},
    Step{State::accepted,   Event::yielded,          State::paused},
    Step{State::dispatched, Event::yielded,          State::queued},
    Step{State::dispatched, Event::yielded,          State::waiting},
    Step{State::dispatched, Event::yielded,          State::paused},

    Step{State::running,    Event::checkpointed,     State::running},
    Step{State::running,    Event::checkpointed,     State::paused},      // a pause was requested

    Step{State::running,    Event::lease_ended,      State::queued},
    Step{State::running,    Event::lease_ended,      State::paused},      // a pause was requested
    Step{State::running,    Event::lease_ended,      State::suspended},   // poison: it keeps killing workers
    Step{State::running,    Event::lease_ended,      State::failed},      // poison with on_exhausted=fail
    Step{State::accepted,   Event::lease_ended,      State::queued},
    Step{State::accepted,   Event::lease_ended,      State::paused},
    Step{State::accepted,   Event::lease_ended,      State::suspended},
    Step{State::accepted,   Event::lease_ended,      State::failed},
    Step{State::dispatched, Event::lease_ended,      State::queued},
    Step{State::dispatched, Event::lease_ended,      State::paused},
    Step{State::dispatched, Event::lease_ended,      State::suspended},
    Step{State::dispatched, Event::lease_ended,      State::failed},

    Step{State::waiting,    Event::timed_out,        State::suspended},
    Step{State::waiting,    Event::timed_out,        State::failed},      // on_timeout=fail
    Step{State::queued,     Event::timed_out,        State::suspended},
    Step{State::queued,     Event::timed_out,        State::failed},
    Step{State::dispatched, Event::timed_out,        State::suspended},
    Step{State::dispatched, Event::timed_out,        State::failed},
    Step{State::accepted,   Event::timed_out,        State::suspended},
    Step{State::accepted,   Event::timed_out,        State::failed},
    Step{State::running,    Event::timed_out,        State::suspended},
    Step{State::running,    Event::timed_out,        State::failed},
    Step{State::retrying,   Event::timed_out,        State::suspended},
    Step{State::retrying,   Event::timed_out,        State::failed},

    Step{State::waiting,    Event::paused,           State::paused},
    Step{State::queued,     Event::paused,           State::paused},
    Step{State::retrying,   Event::paused,           State::paused},
    Step{State::dispatched, Event::pause_requested,  State::dispatched},
    Step{State::accepted,   Event::pause_requested,  State::accepted},
    Step{State::running,    Event::pause_requested,  State::running},

    Step{State::waiting,    Event::resumed,          State::queued},      // do not wait any longer
    Step{State::retrying,   Event::resumed,          State::queued},      // retry now
    Step{State::suspended,  Event::resumed,          State::queued},
    Step{State::paused,     Event::resumed,          State::queued},
    Step{State::paused,     Event::resumed,          State::waiting},     // its time has not come yet
    Step{State::dispatched, Event::resumed,          State::dispatched},  // takes a requested pause back
    Step{State::accepted,   Event::resumed,          State::accepted},
    Step{State::running,    Event::resumed,          State::running},

    Step{State::waiting,    Event::cancelled,        State::cancelled},
    Step{State::queued,     Event::cancelled,        State::cancelled},
    Step{State::retrying,   Event::cancelled,        State::cancelled},
    Step{State::paused,     Event::cancelled,        State::cancelled},
    Step{State::suspended,  Event::cancelled,        State::cancelled},
    Step{State::dispatched, Event::cancel_requested, State::dispatched},
    Step{State::accepted,   Event::cancel_requested, State::accepted},
    Step{State::running,    Event::cancel_requested, State::running},
    Step{State::dispatched, Event::cancelled,        State::cancelled},   // at yield, fail, lease end or deadline
    Step{State::accepted,   Event::cancelled,        State::cancelled},
    Step{State::running,    Event::cancelled,        State::cancelled},   // and at a checkpoint

    Step{State::waiting,    Event::discarded,        State::discarded},
    Step{State::queued,     Event::discarded,        State::discarded},
    Step{State::retrying,   Event::discarded,        State::discarded},
    Step{State::paused,     Event::discarded,        State::discarded},
    Step{State::suspended,  Event::discarded,        State::discarded},

    Step{State::waiting,    Event::signalled,        State::waiting},     // for its time only: kept for the claim
    Step{State::queued,     Event::signalled,        State::queued},
    Step{State::dispatched, Event::signalled,        State::dispatched},
    Step{State::accepted,   Event::signalled,        State::accepted},
    Step{State::running,    Event::signalled,        State::running},
    Step{State::retrying,   Event::signalled,        State::retrying},
    Step{State::paused,     Event::signalled,        State::paused},
    Step{State::suspended,  Event::signalled,        State::suspended},
};
// clang-format on

constexpr bool is_allowed(Step step) {
    return std::ranges::find(kLifecycle, step) != kLifecycle.end();
}
/// Whether anything at all may happen to a task in `from` by `event`.
constexpr bool has_step(State from, Event event) {
    return std::ranges::any_of(kLifecycle,
                               [&](const Step& s) { return s.from == from && s.event == event; });
}

static_assert(std::ranges::none_of(kLifecycle, [](const Step& s) { return is_final(s.from); }),
              "nothing leaves a final state");
static_assert(std::ranges::all_of(kLifecycle,
                                  [](const Step& s) {
                                      return std::ranges::count(kLifecycle, s) == 1;
                                  }),
              "every step is said once");
static_assert(std::ranges::none_of(kLifecycle,
                                   [](const Step& s) {
                                       return is_held(s.to) && !is_held(s.from) &&
                                              s.event != Event::claimed;
                                   }),
              "only a claim hands a task out, so every holder has a fence");

}  // namespace holdfast::domain
