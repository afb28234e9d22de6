// The state machine: decide(record, command, now) → Change | Refusal. Pure and total.
#pragma once

#include <cstdint>
#include <expected>
#include <string_view>

#include "base/time.h"
#include "domain/change.h"
#include "domain/command.h"
#include "domain/record.h"
#include "domain/submission.h"

namespace holdfast::domain {

enum class Refusal : std::uint8_t {
    not_found,    ///< There is no such task.
    wrong_state,  ///< The lifecycle has no such step from here.
    stale_lease,  ///< The fence is not, or no longer, the holder's.
    already,      ///< Exactly this was done before: nothing to write, and the caller is told "ok".
    not_due,      ///< The timer rang early: nothing is due yet.
    too_many,     ///< It has as many stages or signals as a task may have.
};
constexpr std::string_view to_string(Refusal r) {
    constexpr std::array<std::string_view, 6> kNames{"not_found", "wrong_state", "stale_lease",
                                                     "already",   "not_due",     "too_many"};
    return kNames[static_cast<std::size_t>(r)];
}

using Decision = std::expected<Change, Refusal>;

/// No I/O, no clock, no chance: the same arguments give the same answer on every machine.
/// `record.header.state == none` stands for a record that does not exist.
Decision decide(const Record& record, const Command& command, Time now);

/// A new task. The submission has been validated (see submission.h), so this cannot be refused.
Change decide_submit(const Submission& submission, const Uuid& id, Time now);

/// The default lease, and how long a task waits for a signal when nothing else would wake it.
inline constexpr Duration kDefaultLease = std::chrono::seconds{30};
inline constexpr Duration kSignalPatience = std::chrono::days{7};
/// So many stages, and so many signals, are kept for a task: all of them come with its next claim.
inline constexpr std::uint16_t kMostLogged = 1000;
inline constexpr Duration kBindingTtl = std::chrono::hours{24};

/// What a claim does to a header, and nothing else. Stores that claim in their own language (Lua,
/// SQL) must do exactly this; the conformance suite compares.
void stamp_claim(Header& header, const Claim& claim, Time now);
Transition claim_transition(const Header& stamped, State from);

/// What a renewal does: no version, no history.
void stamp_renewal(Header& header, Duration lease, Time now);

}  // namespace holdfast::domain
