// What each state and event means, for documents: docs/lifecycle.md is rendered from it.
#pragma once

#include <array>
#include <string_view>

#include "domain/lifecycle.h"

namespace holdfast::domain {

inline constexpr std::array<std::string_view, kStates> kStateMeanings{
    "There is no such task, or not yet.",
    "It waits for a time, for its next poll or for a signal.",
    "It stands in a lane: the next worker that asks may have it.",
    "It was handed to a node that announces acks and has not answered yet.",
    "The node has it and has not begun.",
    "A worker runs it under a lease.",
    "It failed and is tried again when it is due.",
    "An operator put it aside.",
    "It waits for a person: it used up its attempts, failed for good, missed its deadline or "
    "poisoned its workers.",
    "It has a result.",
    "It ended with an error, because its policy says `fail` rather than `suspend`.",
    "Somebody called it off.",
    "An operator threw it away.",
};

inline constexpr std::array<std::string_view, kEvents> kEventMeanings{
    "Nothing happened yet.",
    "A producer handed it in.",
    "Its time came.",
    "Somebody sent it a signal.",
    "A worker or node was given it, with a fence and a lease.",
    "The node said that it has it.",
    "The node said that it begins.",
    "The worker delivered the result.",
    "The worker reported an error.",
    "The worker gave it back; no failure is counted.",
    "The worker finished a stage.",
    "The worker was not heard of before its lease ended.",
    "The deadline of the whole task passed.",
    "An operator put it aside.",
    "An operator lets it go on; failures are counted from zero again.",
    "It was called off.",
    "It was thrown away.",
    "An operator wants it put aside as soon as its worker lets go.",
    "An operator wants it called off as soon as its worker lets go.",
};

constexpr std::string_view meaning(State s) {
    return kStateMeanings[static_cast<std::size_t>(s)];
}
constexpr std::string_view meaning(Event e) {
    return kEventMeanings[static_cast<std::size_t>(e)];
}

}  // namespace holdfast::domain
