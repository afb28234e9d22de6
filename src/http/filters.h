// Which tasks are meant: read from a query or from a body, by the same rules.
#pragma once

#include "http/call.h"
#include "http/fields.h"

namespace holdfast::http {

/// From the query parameters state, queue, type, tenant, label, since, until, fingerprint.
Result<stores::Filter> filter_of(const Call& call);
/// From {state, queue, type, tenant, label, since, until, fingerprint}.
Result<stores::Filter> filter_of(Fields fields);

/// The same and q, ids; `only`: in this state, whatever else is said.
Result<engine::Search> search_of(const Call& call, domain::State only = domain::State::none);

/// Hexadecimal, and not 0; an error names `fingerprint`.
Result<std::uint64_t> fingerprint_of(std::string_view text);
/// Fingerprints are hexadecimal wherever a person sees them: no JSON number holds 64 bits for sure.
std::string fingerprint_text(std::uint64_t fingerprint);

}  // namespace holdfast::http
