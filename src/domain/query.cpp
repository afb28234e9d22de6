// Whether a task passes a clause.
#include "domain/query.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <charconv>

#include "base/json.h"

namespace holdfast::domain {
namespace {

using How = Pattern::How;

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains(std::string_view text, std::string_view part) {
    return !std::ranges::search(text, part, {}, lower, lower).empty() || part.empty();
}

/// `*` is any text; everything else is itself. Goes back to the last `*` only, so the work is bounded by the product of
/// the lengths.
bool fits_glob(std::string_view text, std::string_view glob) {
    std::size_t t = 0, g = 0, star = std::string_view::npos, resume = 0;
    while (t < text.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            resume = t;
        } else if (g < glob.size() && glob[g] == text[t]) {
            ++g;
            ++t;
        } else if (star != std::string_view::npos) {
            g = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    return glob.find_first_not_of('*', g) == std::string_view::npos;
}

bool fits(std::string_view text, const Pattern& pattern) {
    switch (pattern.how) {
        case How::equal:
            return text == pattern.text;
        case How::glob:
            return fits_glob(text, pattern.text);
        case How::contains:
            return contains(text, pattern.text);
        case How::prefix:
            return text.starts_with(pattern.text);
        case How::present:
            return !text.empty();
        case How::between:
            return false;
    }
    std::unreachable();
}

bool any_fits(std::string_view text, const Clause& clause) {
    return std::ranges::any_of(clause.any, [&](const Pattern& p) { return fits(text, p); });
}

bool any_holds(std::int64_t number, const Clause& clause) {
    return std::ranges::any_of(
        clause.any, [&](const Pattern& p) { return number >= p.low && number <= p.high; });
}

bool any_holds(Time moment, const Clause& clause) {
    return is_set(moment) && any_holds(moment.time_since_epoch().count(), clause);
}

std::string_view label_of(std::string_view labels, std::string_view key) {
    const std::size_t at = labels.find('\n' + std::string(key) + '=');
    if (at == std::string_view::npos) return {};
    const std::string_view value = labels.substr(at + key.size() + 2);
    return value.substr(0, value.find('\n'));
}

bool waits_for(const Header& h, std::string_view what) {
    if (what == "retry") return h.state == State::retrying;
    if (what == "paused") return h.state == State::paused;
    return h.state == State::waiting && h.until_signal == (what == "signal");
}

bool passes_group(const Header& h, const Clause& clause) {
    return std::ranges::any_of(clause.any, [&](const Pattern& p) {
        return p.how == How::present ? h.fingerprint != 0
                                     : h.fingerprint == static_cast<std::uint64_t>(p.low);
    });
}

bool passes(const Header& h, const Clause& clause) {
    switch (clause.field) {
        case Field::state:
            return any_fits(to_string(h.state), clause);
        case Field::queue:
            return any_fits(h.queue, clause);
        case Field::type:
            return any_fits(h.type, clause);
        case Field::tenant:
            return any_fits(h.tenant, clause);
        case Field::id:
            return any_fits(h.id.text(), clause);
        case Field::label:
            return any_fits(label_of(h.labels, clause.path), clause);
        case Field::worker:
            return any_fits(h.worker, clause);
        case Field::attempt:
            return any_holds(h.attempt, clause);
        case Field::retries:
            return any_holds(h.retry_count, clause);
        case Field::priority:
            return any_holds(h.priority, clause);
        case Field::created:
            return any_holds(h.created_at, clause);
        case Field::updated:
            return any_holds(h.updated_at, clause);
        case Field::running:
            return h.state == State::running && any_holds(h.started_at, clause);
        case Field::wait:
            return (h.state == State::waiting || h.state == State::retrying) &&
                   any_holds(h.due_at, clause);
        case Field::waiting:
            return std::ranges::any_of(clause.any,
                                       [&](const Pattern& p) { return waits_for(h, p.text); });
        case Field::group:
            return passes_group(h, clause);
        case Field::error:
        case Field::input:
            return true;
    }
    std::unreachable();
}

/// What is at a path like "user.tags.0"; null: nothing is.
const boost::json::value* at_path(const boost::json::value* value, std::string_view path) {
    while (value != nullptr && !path.empty()) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        const std::string_view step = path.substr(0, dot);
        path.remove_prefix(std::min(dot + 1, path.size()));
        if (const auto* object = value->if_object()) {
            value = object->if_contains(step);
        } else if (const auto* array = value->if_array()) {
            std::size_t place = 0;
            const auto [end, error] =
                std::from_chars(step.data(), step.data() + step.size(), place);
            const bool is_place = error == std::errc{} && end == step.data() + step.size();
            value = is_place && place < array->size() ? &(*array)[place] : nullptr;
        } else {
            return nullptr;
        }
    }
    return value;
}

bool passes_input(const Json& payload, const Clause& clause) {
    if (clause.path.empty()) return any_fits(payload.text(), clause);
    const boost::json::value whole = payload.value();
    const boost::json::value* value = at_path(&whole, clause.path);
    if (value == nullptr) return false;
    if (const auto* text = value->if_string()) return any_fits(std::string_view(*text), clause);
    return any_fits(Json::of(*value).text(), clause);
}

bool passes_error(const Json& error, const Clause& clause) {
    const boost::json::value message = error.member("message").value();
    const auto* text = message.if_string();
    return text != nullptr && any_fits(std::string_view(*text), clause);
}

}  // namespace

bool matches_text(std::string_view text, const Clause& clause) {
    return any_fits(text, clause) != clause.negated;
}

bool matches(const Header& header, const Clause& clause) {
    return needs_body(clause) || passes(header, clause) != clause.negated;
}

bool matches(const Header& header, const std::vector<Clause>& clauses) {
    return std::ranges::all_of(clauses, [&](const Clause& c) { return matches(header, c); });
}

bool matches(const Record& record, const Clause& clause) {
    if (!needs_body(clause)) return matches(record.header, clause);
    const bool passed =
        clause.field == Field::error
            ? passes_error(Json::stored(record.outcome.view()).member("error"), clause)
            : passes_input(Json::stored(record.body.view()).member("payload"), clause);
    return passed != clause.negated;
}

}  // namespace holdfast::domain
