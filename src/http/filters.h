// Which tasks are meant: read from a query or from a body, by the same rules.
#pragma once

#include "http/call.h"
#include "http/fields.h"

namespace holdfast::http {

/// From the query parameters state, queue, type, tenant, label, since, until, fingerprint.
Result<stores::Filter> filter_of(const Call& call);
/// From {state, queue, type, tenant, label, since, until, fingerprint}.
Result<stores::Filter> filter_of(Fields fields);

/// Fingerprints are hexadecimal wherever a person sees them: no JSON number holds 64 bits for sure.
std::string fingerprint_text(std::uint64_t fingerprint);

}  // namespace holdfast::http
