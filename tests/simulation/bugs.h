// Bugs planted on purpose, each a switch, to prove that the simulation would find them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::simulation {

enum class Bug : std::uint8_t {
    none,
    no_fencing,              ///< A late worker speaks for whoever holds the task now.
    ack_before_commit,       ///< Answers before the group is durable.
    visible_before_durable,  ///< Others see a change that a crash can still take back.
    promote_twice,  ///< Two schedulers promote the same task, without looking at its version.
    forget_a_wake,  ///< A failed task is not given its timer.
    audit_outside_commit,  ///< History is written after the state, by itself.
    reuse_an_epoch,        ///< Epochs are counted, and the count is lost with unsynced claims.
    lose_a_permit,         ///< A permit is not given back.
    duplicate_append,      ///< A repeated append is not recognised.
    deaf_to_renewals,      ///< A heartbeat is answered, and the lease is not extended.
    lose_a_lane,           ///< A woken task is queued, and stands in no lane.
};

inline constexpr std::array<std::string_view, 12> kBugNames{
    "none",          "no_fencing",       "ack_before_commit",    "visible_before_durable",
    "promote_twice", "forget_a_wake",    "audit_outside_commit", "reuse_an_epoch",
    "lose_a_permit", "duplicate_append", "deaf_to_renewals",     "lose_a_lane"};
constexpr std::string_view to_string(Bug bug) {
    return kBugNames[static_cast<std::size_t>(bug)];
}

}  // namespace holdfast::simulation
