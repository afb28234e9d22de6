// Why a task is not running, and what will move it: for the person who waits for it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "domain/record.h"

namespace holdfast::domain {

enum class Why : std::uint8_t {
    not_found,         ///< There is no such task.
    in_lane,           ///< Nothing is in its way: a worker may have it.
    queue_paused,      ///< An operator stopped handing out tasks of its queue.
    queue_full,        ///< Its queue has as many held tasks as it may.
    gate_full,         ///< Its concurrency key has as many holders as it may.
    delayed,           ///< It was submitted for a later time.
    polls_later,       ///< Its worker gave it back until a later time.
    waits_for_signal,  ///< Its worker gave it back until a signal comes.
    backing_off,       ///< It failed and is tried again later.
    overdue,           ///< Its timer has rung, and the next tick moves it.
    held,              ///< A worker has it.
    held_lease_over,   ///< A worker had it, and is not heard of any more.
    pause_requested,   ///< A worker has it, and it is to be paused.
    cancel_requested,  ///< A worker has it, and it is to be cancelled.
    paused,            ///< An operator put it aside.
    suspended,         ///< It waits for a person.
    finished,          ///< It is over.
};
inline constexpr std::array<std::string_view, 17> kWhyNames{
    "not_found", "in_lane",         "queue_paused",     "queue_full",       "gate_full",
    "delayed",   "polls_later",     "waits_for_signal", "backing_off",      "overdue",
    "held",      "held_lease_over", "pause_requested",  "cancel_requested", "paused",
    "suspended", "finished"};
constexpr std::string_view to_string(Why w) {
    return kWhyNames[static_cast<std::size_t>(w)];
}

/// What an explanation has to know about the task's queue.
struct QueueView {
    bool paused = false;            ///< Nothing is handed out.
    bool closed = false;            ///< Nothing new is taken in.
    std::uint32_t concurrency = 0;  ///< At most so many held at once; 0: no limit.
    std::int64_t held = 0;          ///< So many are.
};

struct Explanation {
    Why code = Why::not_found;
    std::string sentence;  ///< In plain English, with times, names and numbers.
    Time wakes_at;         ///< When it moves by itself at the latest; none: not by itself.
    std::string wakes_by;  ///< What moves it; empty: nothing ever will.
};

/// Pure. `gate_holders`: how many hold the task's gate now.
Explanation explain(const Header& header, const QueueView& queue, std::int64_t gate_holders,
                    Time now);

/// {code, sentence, wakes_at, wakes_by}
Json to_json(const Explanation& explanation);

}  // namespace holdfast::domain
