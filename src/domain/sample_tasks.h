// Tasks for tests, brought into any state by the steps that really lead there.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "domain/decide.h"

namespace holdfast::domain::samples {

using namespace std::chrono_literals;

inline constexpr Time kNow{std::chrono::sys_days{std::chrono::November / 15 / 2026} + 23h};
inline constexpr Uuid kId{0x0193'3b1c'5a00'7abc, 0x8000'0000'0000'0001};
inline constexpr std::string_view kWorker = "w-1";

inline Submission submission() {
    Submission s;
    s.type = "image.resize";
    s.payload = Json::parse(R"({"width":100})").value();
    return s;
}

/// The record as it is once a store has applied `change`.
inline Record applied(Record record, const Change& change) {
    const Put& put = change.puts.front();
    record.header = put.header;
    if (put.body) record.body = *put.body;
    if (put.outcome) record.outcome = *put.outcome;
    return record;
}

/// Takes a step that must be allowed: throws when it is refused.
inline Record after(const Record& record, const Command& command, Time now = kNow) {
    return applied(record, decide(record, command, now).value());
}

/// Takes a step that must be refused: throws when it is allowed.
inline Refusal refused(const Record& record, const Command& command, Time now = kNow) {
    const Decision decision = decide(record, command, now);
    if (decision) throw std::logic_error("a step that must be refused was allowed");
    return decision.error();
}

inline Record submitted(const Submission& s = submission(), Time now = kNow) {
    return applied({}, decide_submit(s, kId, now));
}

inline Claim claim(const Record& record, State to = State::running, Time now = kNow) {
    return {.to = to,
            .worker = std::string(kWorker),
            .epoch = next_epoch(record.header.epoch, now),
            .lease = kDefaultLease};
}

inline Record dispatched() {
    const Record queued = submitted();
    return after(queued, claim(queued, State::dispatched));
}
/// Claimed by kWorker at `now`, for kDefaultLease.
inline Record claimed(const Record& record, Time now = kNow) {
    return after(record, claim(record, State::running, now), now);
}
inline Record running(const Submission& s = submission()) {
    return claimed(submitted(s));
}

inline Fail failure(const Record& record, ErrorKind kind = ErrorKind::transient,
                    std::string message = "no route to host") {
    return {record.header.fence(), {kind, std::move(message), "", ""}, {}};
}

/// Fails under its own fence and, when it is to be tried again, is woken and claimed at that time.
inline Record failed_and_claimed(const Record& record, ErrorKind kind = ErrorKind::transient) {
    const Time now = record.header.updated_at;
    const Record failed = after(record, failure(record, kind), now);
    const Time due = failed.header.due_at;
    return claimed(after(failed, Tick{}, due), due);
}

}  // namespace holdfast::domain::samples
