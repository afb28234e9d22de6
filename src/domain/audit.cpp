#include "domain/audit.h"

#include <algorithm>

namespace holdfast::domain {
namespace {

std::string text_of(const Json& json) {
    const auto value = json.value();
    return value.is_string() ? std::string(value.get_string()) : std::string{};
}

}  // namespace

std::string audit_label(std::string_view name, std::string_view value) {
    std::string label = std::string(name).append("=").append(value);
    std::ranges::replace(label, '\n', ' ');
    return label;
}

Put audit_put(const Act& act, const Uuid& id, Time at) {
    Put put;
    Header& h = put.header;
    h.kind = Kind::audit;
    h.id = id;
    h.version = 1;
    h.state = State::succeeded;
    h.type = act.action;
    h.created_at = h.updated_at = h.finished_at = at;
    h.labels =
        '\n' + audit_label("target", act.target) + '\n' + audit_label("who", act.by.who) + '\n';
    JsonObject body;
    body.add("who", act.by.who)
        .add("address", act.by.address)
        .add("action", act.action)
        .add("target", act.target)
        .add("reason", act.by.why)
        .add("detail", act.detail);
    put.body = Bytes(body.done().text());
    put.audit = false;  // it is one
    put.transition = {Event::submitted, State::none, h.state, 0, at, {}, act.by.who, {}};
    return put;
}

Put audit_end(const Header& header, Time at) {
    Put put;
    put.header = header;
    put.expected_version = header.version;
    ++put.header.version;
    put.erase = true;
    put.audit = false;
    put.transition = {Event::discarded, header.state, header.state, 0, at, {}, {}, {}};
    return put;
}

AuditEntry audit_entry(const Record& record) {
    const Json body = Json::stored(record.body.view());
    AuditEntry entry;
    entry.id = record.header.id;
    entry.at = record.header.created_at;
    entry.act.by = {text_of(body.member("who")), text_of(body.member("reason")),
                    text_of(body.member("address"))};
    entry.act.action = text_of(body.member("action"));
    entry.act.target = text_of(body.member("target"));
    entry.act.detail = body.member("detail");
    return entry;
}

}  // namespace holdfast::domain
