// How a bulk job is written down.
#include <algorithm>
#include <array>
#include <boost/json/value.hpp>

#include "engine/bulk.h"

namespace holdfast::engine {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 4> kActionNames{"resume", "discard", "cancel", "pause"};

json::object filter_json(const stores::Filter& f) {
    json::array states;
    for (const State s : f.states) states.emplace_back(to_string(s));
    json::array labels;
    for (const std::string& label : f.labels) labels.emplace_back(label);
    return {{"states", std::move(states)},
            {"labels", std::move(labels)},
            {"queue", f.queue},
            {"type", f.type},
            {"tenant", f.tenant},
            {"fingerprint", f.fingerprint},
            {"since_us", f.since.time_since_epoch().count()},
            {"until_us", f.until.time_since_epoch().count()}};
}

std::string text(const json::value& v) {
    return std::string(v.as_string());
}

stores::Filter read_filter(const json::object& o) {
    stores::Filter f;
    for (const json::value& s : o.at("states").as_array())
        f.states.push_back(*domain::state_from(text(s)));
    for (const json::value& l : o.at("labels").as_array()) f.labels.push_back(text(l));
    f.queue = text(o.at("queue"));
    f.type = text(o.at("type"));
    f.tenant = text(o.at("tenant"));
    f.fingerprint = o.at("fingerprint").to_number<std::uint64_t>();
    f.since = Time{Duration{o.at("since_us").to_number<std::int64_t>()}};
    f.until = Time{Duration{o.at("until_us").to_number<std::int64_t>()}};
    return f;
}

}  // namespace

std::string_view to_string(BulkAction action) {
    return kActionNames[static_cast<std::size_t>(action)];
}

std::optional<BulkAction> bulk_action_from(std::string_view name) {
    const auto found = std::ranges::find(kActionNames, name);
    if (found == kActionNames.end()) return std::nullopt;
    return static_cast<BulkAction>(found - kActionNames.begin());
}

Search Engine::BulkJob::search() const {
    Search search(request.filter);
    if (!narrow(search, request.q, asked_at)) search.nothing = true;
    return search;
}

Bytes Engine::BulkJob::body() const {
    json::object refused_by;
    for (const auto& [reason, count] : report.refused_by) refused_by[reason] = count;
    json::array refused;
    for (const BulkRefusal& r : report.refused)
        refused.push_back({{"id", r.id.text()}, {"reason", r.reason}});
    const json::object o{{"action", to_string(request.action)},
                         {"filter", filter_json(request.filter)},
                         {"q", request.q},
                         {"asked_us", asked_at.time_since_epoch().count()},
                         {"limit", request.limit},
                         {"rate", request.rate},
                         {"who", request.by.who},
                         {"why", request.by.why},
                         {"cursor", cursor},
                         {"matched", report.matched},
                         {"expected", report.expected ? json::value(*report.expected) : nullptr},
                         {"done", report.done},
                         {"refused_count", report.refused_count},
                         {"refused_by", std::move(refused_by)},
                         {"refused", std::move(refused)}};
    return Bytes(Json::of(o).text());
}

Engine::BulkJob Engine::BulkJob::from(const domain::Record& record) {
    BulkJob job;
    job.header = record.header;
    const json::value value = Json::stored(record.body.view()).value();
    const json::object& o = value.as_object();
    job.request.action = bulk_action_from(text(o.at("action"))).value_or(BulkAction::pause);
    job.request.filter = read_filter(o.at("filter").as_object());
    if (const json::value* q = o.if_contains("q")) {  // jobs of earlier versions have none
        job.request.q = text(*q);
        job.asked_at = Time{Duration{o.at("asked_us").to_number<std::int64_t>()}};
        for (const auto& reason : o.at("refused_by").as_object())
            job.report.refused_by[reason.key()] = reason.value().to_number<std::uint64_t>();
    }
    if (const json::value* expected = o.if_contains("expected"); expected && !expected->is_null())
        job.report.expected = expected->to_number<std::uint64_t>();
    job.request.limit = o.at("limit").to_number<std::size_t>();
    job.request.rate = o.at("rate").to_number<double>();
    job.request.by = {text(o.at("who")), text(o.at("why"))};
    job.cursor = text(o.at("cursor"));
    job.report.matched = o.at("matched").to_number<std::uint64_t>();
    job.report.done = o.at("done").to_number<std::uint64_t>();
    job.report.refused_count = o.at("refused_count").to_number<std::uint64_t>();
    for (const json::value& r : o.at("refused").as_array()) {
        job.report.refused.push_back(
            {Uuid::parse(text(r.at("id"))).value_or(Uuid{}), text(r.at("reason"))});
    }
    job.report.bulk_id = record.header.id;
    job.report.state = record.header.state;
    return job;
}

}  // namespace holdfast::engine
