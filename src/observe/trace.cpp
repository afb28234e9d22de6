#include "observe/trace.h"

#include <algorithm>

namespace holdfast::observe {
namespace {

constexpr std::size_t kLength = 55;  // of version 00: 2 + 1 + 32 + 1 + 16 + 1 + 2

void append_hex(std::string& out, std::uint64_t value, int digits) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    while (digits-- > 0) out += kDigits[(value >> (4 * digits)) & 0xf];
}

/// Upper case is not allowed in a traceparent.
bool is_hex(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::uint64_t from_hex(std::string_view digits) {
    std::uint64_t value = 0;
    for (const char c : digits)
        value = (value << 4) | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    return value;
}

std::uint64_t not_zero(Rng& rng) {
    std::uint64_t value = 0;
    while (value == 0) value = rng();
    return value;
}

}  // namespace

std::string TraceContext::trace_id() const {
    std::string text;
    append_hex(text, trace_high, 16);
    append_hex(text, trace_low, 16);
    return text;
}

std::string TraceContext::traceparent() const {
    std::string text = "00-" + trace_id() + '-';
    append_hex(text, span, 16);
    return text += sampled ? "-01" : "-00";
}

Result<TraceContext> parse_traceparent(std::string_view text) {
    const auto broken = refuse(Code::invalid_argument, "it is not a W3C traceparent");
    if (text.size() < kLength) return broken;
    const std::string_view version = text.substr(0, 2), trace = text.substr(3, 32),
                           span = text.substr(36, 16), flags = text.substr(53, 2);
    if (text[2] != '-' || text[35] != '-' || text[52] != '-' || !is_hex(version) ||
        !is_hex(trace) || !is_hex(span) || !is_hex(flags) || version == "ff")
        return broken;
    if (text.size() > kLength && (version == "00" || text[kLength] != '-')) return broken;
    const TraceContext context{from_hex(trace.substr(0, 16)), from_hex(trace.substr(16)),
                               from_hex(span), (from_hex(flags) & 1) != 0};
    if ((context.trace_high == 0 && context.trace_low == 0) || context.span == 0) return broken;
    return context;
}

TraceContext new_trace(Rng& rng) {
    return {rng(), not_zero(rng), not_zero(rng), true};
}

TraceContext child_of(const TraceContext& parent, Rng& rng) {
    TraceContext child = parent;
    while (child.span == parent.span) child.span = not_zero(rng);
    return child;
}

TraceContext continued(std::string_view traceparent, Rng& rng) {
    const auto parent = parse_traceparent(traceparent);
    return parent ? child_of(*parent, rng) : new_trace(rng);
}

std::string new_request_id(Rng& rng) {
    // Without letters that look like digits.
    constexpr std::string_view kLetters = "0123456789abcdefghjkmnpqrstvwxyz";
    std::uint64_t bits = rng();
    std::string id = "req_";
    for (int i = 0; i < 13; ++i, bits >>= 5) id += kLetters[bits & 31];
    return id;
}

}  // namespace holdfast::observe
