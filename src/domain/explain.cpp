#include "domain/explain.h"

#include "domain/draft.h"

namespace holdfast::domain {
namespace {

constexpr std::string_view kTicker = "the next tick of the engine";

/// Seconds are fine enough for a person, except when there are none.
std::string roughly(Duration d) {
    const Duration step = d < std::chrono::seconds{1} ? std::chrono::milliseconds{1}
                                                      : Duration{std::chrono::seconds{1}};
    return format_duration(d - d % step);
}

/// "2026-11-15T23:37:11.042Z (in 4m12s)"
std::string moment(Time t, Time now) {
    const std::string distance = t > now ? "in " + roughly(t - now) : roughly(now - t) + " ago";
    return format_time(t) + " (" + distance + ")";
}

/// "1 attempt", "2 attempts"
std::string counted(std::uint64_t n, const std::string& noun) {
    return std::to_string(n) + ' ' + noun + (n == 1 ? "" : "s");
}

/// "2 of 3 times", or "2 times" where nothing limits them.
std::string failures(const Header& h, const Policy& policy) {
    if (policy.max == 0) return counted(h.retry_count, "time");
    return std::to_string(h.retry_count) + " of " + counted(policy.max, "time");
}

bool is_past(Time t, Time now) {
    return is_set(t) && t <= now;
}

Explanation queued(const Header& h, const QueueView& queue, std::int64_t gate_holders) {
    if (queue.paused)
        return {Why::queue_paused,
                "Its queue " + h.queue + " is paused: nothing of it is handed out.", kNoTime,
                "an operator: resume the queue"};
    if (queue.concurrency > 0 && queue.held >= queue.concurrency)
        return {Why::queue_full,
                "Its queue " + h.queue + " may have " + counted(queue.concurrency, "task") +
                    " running at once, and has " + std::to_string(queue.held) + '.',
                kNoTime, "a task of its queue that ends"};
    if (h.gate_limit > 0 && gate_holders >= h.gate_limit)
        return {Why::gate_full,
                "Its concurrency key " + h.gate + " admits " + counted(h.gate_limit, "task") +
                    " at once, and has " + std::to_string(gate_holders) + '.',
                kNoTime, "a task of its concurrency key that ends"};
    std::string sentence = "It is ready: the next worker that asks queue " + h.queue +
                           " for work may have it (priority " + std::to_string(h.priority) + ").";
    if (queue.closed) sentence += " The queue takes no new tasks, and hands out those it has.";
    return {Why::in_lane, std::move(sentence), kNoTime, "a worker"};
}

Explanation timed(const Header& h, Time now) {
    const std::string at = moment(h.due_at, now);
    if (is_past(h.due_at, now))
        return {Why::overdue, "Its time came at " + at + ", and it becomes ready at once.",
                h.due_at, std::string(kTicker)};
    if (h.until_signal)
        return {Why::waits_for_signal,
                "It waits for a signal; without one it goes on at " + at + '.', h.due_at,
                "a signal, or its timer"};
    if (h.state == State::retrying) {
        const std::string what =
            h.retry_count > 0 ? "It failed " + failures(h, policy_of(h)) + " and"
                              : std::string("Something it needs is down, which is not counted; it");
        return {Why::backing_off, what + " is tried again at " + at + '.', h.due_at, "its timer"};
    }
    if (h.attempt > 0)
        return {Why::polls_later, "Its worker gave it back for a while; it goes on at " + at + '.',
                h.due_at, "its timer"};
    return {Why::delayed, "It was submitted to run at " + at + '.', h.due_at, "its timer"};
}

std::string what_the_holder_does(const Header& h, Time now) {
    switch (h.state) {
        case State::dispatched:
            return "It was handed to " + h.worker + ", which has not answered yet";
        case State::accepted:
            return h.worker + " has accepted it and not begun yet";
        default:
            return h.worker + " is running it since " + moment(h.started_at, now);
    }
}

Explanation held(const Header& h, Time now) {
    const std::string lease = moment(h.lease_until, now);
    if (is_past(h.lease_until, now))
        return {Why::held_lease_over,
                h.worker + " has not been heard of; its lease ended at " + lease +
                    ", and the task is taken back.",
                h.lease_until, std::string(kTicker)};
    if (h.cancel_requested)
        return {Why::cancel_requested,
                "It is cancelled as soon as " + h.worker +
                    " yields, fails or reaches a checkpoint, or when its lease ends at " + lease +
                    ". If it completes first, it has succeeded.",
                h.lease_until, "its worker"};
    if (h.pause_requested)
        return {Why::pause_requested,
                "It is paused as soon as " + h.worker +
                    " yields, fails or reaches a checkpoint, or when its lease ends at " + lease +
                    '.',
                h.lease_until, "its worker"};
    return {Why::held,
            what_the_holder_does(h, now) + " (attempt " + std::to_string(h.attempt) +
                "); the lease lasts until " + lease + '.',
            h.lease_until, "its worker"};
}

std::string why_suspended(const Header& h) {
    const Policy policy = policy_of(h);
    if (h.ended_by == Event::timed_out) return "Its deadline passed at " + format_time(h.deadline);
    if (h.ended_by == Event::lease_ended)
        return counted(h.crashes, "worker") + (h.crashes == 1 ? " was" : " were") + " lost with it";
    if (policy.max > 0 && h.retry_count >= policy.max) return "It failed " + failures(h, policy);
    return "It failed in a way that trying again cannot mend";
}

Explanation parked(const Header& h) {
    if (h.state == State::paused)
        return {Why::paused, "An operator put it aside.", kNoTime,
                "an operator: resume, cancel or discard"};
    return {Why::suspended, why_suspended(h) + ", and it waits for a person.", kNoTime,
            "an operator: resume or discard"};
}

Explanation finished(const Header& h, Time now) {
    return {Why::finished,
            "It " +
                std::string(h.state == State::succeeded || h.state == State::failed ? "" : "was ") +
                std::string(to_string(h.state)) + " at " + moment(h.finished_at, now) + ", after " +
                counted(h.attempt, "attempt") + '.',
            kNoTime, ""};
}

Explanation unfinished(const Header& h, const QueueView& queue, std::int64_t gate_holders,
                       Time now) {
    if (is_past(h.deadline, now))
        return {Why::overdue, "Its deadline passed at " + moment(h.deadline, now) + '.', h.deadline,
                std::string(kTicker)};
    Explanation e = h.is_held()         ? held(h, now)
                    : is_timed(h.state) ? timed(h, now)
                                        : queued(h, queue, gate_holders);
    if (is_set(h.deadline)) e.sentence += " Its deadline is " + moment(h.deadline, now) + '.';
    return e;
}

}  // namespace

Explanation explain(const Header& h, const QueueView& queue, std::int64_t gate_holders, Time now) {
    if (h.state == State::none) return {Why::not_found, "There is no such task.", kNoTime, ""};
    if (is_final(h.state)) return finished(h, now);
    if (is_parked(h.state)) return parked(h);
    return unfinished(h, queue, gate_holders, now);
}

Json to_json(const Explanation& e) {
    return JsonObject{}
        .add("code", to_string(e.code))
        .add("sentence", e.sentence)
        .add("wakes_at", is_set(e.wakes_at) ? Json::quoted(format_time(e.wakes_at)) : Json{})
        .add("wakes_by", e.wakes_by.empty() ? Json{} : Json::quoted(e.wakes_by))
        .done();
}

}  // namespace holdfast::domain
