// Which tasks are meant, as far as a store can tell by headers, and what only their bodies tell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/query.h"
#include "stores/store.h"

namespace holdfast::engine {

inline constexpr std::size_t kMostIds = 1000;
/// Bodies that one search reads before it says how far it came.
inline constexpr std::size_t kBodyBudget = 2'000;

struct Search {
    stores::Filter filter;
    std::vector<domain::Clause> bodies;  ///< Clauses that need the body.
    std::vector<Uuid> ids;               ///< Only these, if there are any.
    bool nothing = false;                ///< Its parts exclude each other.

    Search(stores::Filter by = {}) : filter(std::move(by)) {}  // NOLINT: a filter is a search
};

/// Adds what a filter line says: what an index serves to the filter, the rest as clauses. Doing so twice changes nothing.
/// An error names the field `q`, and the place in the line.
Result<> narrow(Search& search, std::string_view line, Time now);

/// Everything that is looked at is found: no row is passed over because of a clause.
bool is_indexed(const Search& search);
/// Nothing but states, queues and types: counts tell it without a look at any task.
bool is_counted(const Search& search);
/// The header passes everything but the clauses that need a body.
bool passes(const domain::Header& header, const Search& search);

}  // namespace holdfast::engine
