// What an operator did, kept as a record of its own: in the same Change as the act, where the act has one.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "domain/change.h"
#include "domain/command.h"
#include "domain/record.h"

namespace holdfast::domain {

struct Act {
    By by;
    std::string action;  ///< "task.cancel", "queue.pause", "bulk.start", "worker.drain" …
    std::string
        target;        ///< "task:ID", "queue:NAME", "bulk:ID", "worker:NAME", or "tasks": several.
    Json detail = {};  ///< What else is worth knowing; null: nothing.
};

struct AuditEntry {
    Uuid id;
    Time at;
    Act act;
};

/// The record of an act. It is listed by time, action (its type), who and target (its labels).
Put audit_put(const Act& act, const Uuid& id, Time at);
/// The end of such a record.
Put audit_end(const Header& header, Time at);
AuditEntry audit_entry(const Record& record);

/// The labels that a search goes by; what does not fit a label is written as a blank there.
std::string audit_label(std::string_view name, std::string_view value);

}  // namespace holdfast::domain
