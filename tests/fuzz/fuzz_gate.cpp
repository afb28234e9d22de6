// The gate: whatever comes, it says what it is, the same whole or in pieces, and reads nothing beyond it.
#include <string>

#include "fuzz.h"
#include "http/gate.h"

using holdfast::fuzz::require;
using holdfast::http::Gate;

namespace {

std::string told(const Gate& gate, Gate::Outcome outcome) {
    if (outcome == Gate::Outcome::refused) return std::to_string(gate.refusal().status);
    if (outcome != Gate::Outcome::request) return "more";
    std::string text(gate.request().target);
    for (const auto& header : gate.request().headers)
        text.append("|").append(header.name).append(":").append(header.value);
    return text + '|' + gate.request().body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Small, so that inputs reach each of them and what stands just before and after it.
    const holdfast::http::GateLimits limits{
        .target = 48, .head = 256, .headers = 8, .body = 512, .chunk_line = 16, .trailers = 64};
    Gate whole(limits);
    std::string rest(holdfast::fuzz::text_of(data, size));
    for (int requests = 0; requests < 16; ++requests) {
        const Gate::Outcome outcome = whole.look(rest);
        const std::string seen = told(whole, outcome);

        Gate piecewise(limits);
        Gate::Outcome last = Gate::Outcome::more;
        for (std::size_t n = 1; n <= rest.size(); ++n) {
            last = piecewise.look(rest.substr(0, n));
            if (last == Gate::Outcome::request || last == Gate::Outcome::refused) break;
        }
        require(rest.empty() || told(piecewise, last) == seen);  // in pieces it must be the same;

        if (outcome != Gate::Outcome::request) break;
        const std::size_t taken = whole.next();
        require(taken > 0 && taken <= rest.size());
        rest.erase(0, taken);
    }
    return 0;
}
