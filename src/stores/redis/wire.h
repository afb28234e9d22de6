// What the scripts are told and what they answer, beside headers: changes, requests, outcomes, history and feed. The
// forms stand at the top of each lua file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/change.h"
#include "redis/reply.h"
#include "stores/store.h"

namespace holdfast::stores::redis {

/// What a store's options have to say about how things are written.
struct Manner {
    std::size_t longest_inside =
        60;  ///< Bodies and outcomes up to this stand in the record's hash.
    /// Whether the entries of a queue stay pending until their task is over (keep-in-PEL).
    std::function<bool(std::string_view queue)> keeps = [](std::string_view) { return false; };
    Duration reclaim_idle{0};
};

struct EncodedChange {
    std::string bytes;
    std::size_t weight = 0;  ///< How many records it writes.
    bool creates = false;    ///< It makes new work, which may be turned away when memory is short.
};
EncodedChange encode_change(const Change& change, const Manner& manner);
Result<Outcome> decode_outcome(holdfast::redis::Value answer);

std::string encode_claim(const ClaimRequest& request, std::uint32_t max, const Manner& manner);
std::string encode_renewal(const Renewal& renewal);

/// {ref, state, attempt, h, c, wake µs, body, outcome}
Result<Record> decode_record(holdfast::redis::Value answer);

/// A row of history: packed by commit, or a claim's.
std::optional<domain::Transition> decode_row(std::string_view bytes);
/// The events of one feed entry.
std::vector<domain::FeedEvent> decode_events(std::string_view bytes);

}  // namespace holdfast::stores::redis
