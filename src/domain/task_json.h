// A task as clients read it: one JSON form with a version number, the same over HTTP, in the CLI
// and in dumps.
#pragma once

#include "base/json.h"
#include "domain/change.h"
#include "domain/record.h"

namespace holdfast::domain {

/// Raised when a field changes its meaning or goes; a new field does not raise it.
inline constexpr std::int64_t kTaskSchema = 1;

/// "A task" of the API. Times that are not set, and what is not known yet, are null. A record
/// without its body (a row of a list) shows neither payload nor context. `placeholder` is there only
/// if it was submitted.
Json task_json(const Record& record);

/// A row of a task's history: {event, from, to, attempt, message, actor, at, error}. `from` is null
/// for the first, `actor` when it was the engine itself.
Json transition_json(const Transition& transition);

}  // namespace holdfast::domain
