// Names that follow a request through the system: W3C trace context and request ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/rng.h"

namespace holdfast::observe {

/// https://www.w3.org/TR/trace-context/
struct TraceContext {
    std::uint64_t trace_high = 0, trace_low = 0;  ///< Together never 0.
    std::uint64_t span = 0;                       ///< Never 0.
    bool sampled = false;

    std::string trace_id() const;     ///< 32 hex digits
    std::string traceparent() const;  ///< "00-<trace id>-<span id>-01"
    friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

/// The value of a `traceparent` header. A version newer than ours is read as far as we know it.
Result<TraceContext> parse_traceparent(std::string_view text);
/// A trace that begins here.
TraceContext new_trace(Rng& rng);
/// A step within the same trace.
TraceContext child_of(const TraceContext& parent, Rng& rng);
/// The child of what the caller sent, or a new trace when that is missing or broken: a bad header
/// must not fail a request.
TraceContext continued(std::string_view traceparent, Rng& rng);

/// "req_" and 13 letters or digits: 64 random bits, easy to read out and to paste.
std::string new_request_id(Rng& rng);

}  // namespace holdfast::observe
