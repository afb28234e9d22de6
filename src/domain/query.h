// The filter language: which tasks are meant, in a line of text. docs/reference/filter-language.md is its manual.
//
// A line is a list of clauses, and a task must pass all of them. Moments are absolute once a line was read: "age:>1h"
// means the same tasks on every page, and in a job that runs for a day.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "domain/record.h"

namespace holdfast::domain {

enum class Field : std::uint8_t {
    state,
    queue,
    type,
    tenant,
    id,
    label,  ///< Of the key `path`.
    worker,
    attempt,
    retries,
    priority,
    created,  ///< Also written as age.
    updated,
    running,  ///< Since when the attempt runs.
    wait,     ///< Until when a task waits for its time.
    waiting,  ///< For what: delay, retry, signal, paused.
    group,    ///< The fingerprint of the last failure.
    error,    ///< The last error's message: only the body tells.
    input,    ///< The payload, or what is at `path` in it: only the body tells.
};

/// One of the values that a clause allows.
struct Pattern {
    enum class How : std::uint8_t {
        equal,
        glob,      ///< `*` is any text.
        contains,  ///< Somewhere, whatever its case.
        prefix,
        between,  ///< low to high, both included.
        present,  ///< Anything but nothing.
    };
    How how = How::equal;
    std::string text;
    std::int64_t low = INT64_MIN, high = INT64_MAX;  ///< Counts, or µs since 1970.

    friend bool operator==(const Pattern&, const Pattern&) = default;
};

struct Clause {
    Field field{};
    bool negated = false;
    std::string path;          ///< label, input: which one.
    std::vector<Pattern> any;  ///< At least one; it is enough that one fits.

    friend bool operator==(const Clause&, const Clause&) = default;
};

inline constexpr std::size_t kLongestQuery = 2000;  ///< In characters.
inline constexpr std::size_t kMostClauses = 50;

/// Why a line cannot be read, and where: `position` counts its characters from 0.
struct QueryError {
    std::string detail;
    std::size_t position = 0;
};

/// `now` is what ages and waits are counted from.
std::expected<std::vector<Clause>, QueryError> parse_query(std::string_view line, Time now);

/// Whether a header cannot tell.
constexpr bool needs_body(const Clause& clause) {
    return clause.field == Field::error || clause.field == Field::input;
}

/// The header passes; a clause that needs the body passes, too.
bool matches(const Header& header, const Clause& clause);
bool matches(const Header& header, const std::vector<Clause>& clauses);
/// The same by header and body.
bool matches(const Record& record, const Clause& clause);

/// A text passes: for queue, type and tenant, where there are many records of one.
bool matches_text(std::string_view text, const Clause& clause);

}  // namespace holdfast::domain
