#include "engine/search.h"

#include <algorithm>

#include "domain/submission.h"

namespace holdfast::engine {
namespace {

using domain::Clause;
using domain::Field;
using domain::State;
using How = domain::Pattern::How;

/// The filter's states, without those that are not wanted.
template <class Wanted>
void keep_states(Search& search, Wanted wanted) {
    std::vector<State> kept;
    for (std::size_t s = 1; s < domain::kStates; ++s) {
        const auto state = static_cast<State>(s);
        const auto& asked = search.filter.states;
        if (!asked.empty() && std::ranges::find(asked, state) == asked.end()) continue;
        if (wanted(state)) kept.push_back(state);
    }
    search.nothing = search.nothing || kept.empty();
    if (kept.size() < domain::kStates - 1) search.filter.states = std::move(kept);
}

/// Whether a task that waits for this can be in the state.
bool can_wait(const Clause& clause, State state) {
    return std::ranges::any_of(clause.any, [&](const domain::Pattern& p) {
        if (p.text == "retry") return state == State::retrying;
        if (p.text == "paused") return state == State::paused;
        return state == State::waiting;
    });
}

const domain::Pattern* only_one(const Clause& clause, How how) {
    const bool is_one = !clause.negated && clause.any.size() == 1 && clause.any[0].how == how;
    return is_one ? clause.any.data() : nullptr;
}

/// A name that the filter has a place for. False: it stays a clause.
bool set_name(Search& search, std::string& place, const Clause& clause) {
    const domain::Pattern* name = only_one(clause, How::equal);
    if (name == nullptr || !domain::is_name(name->text)) return false;
    search.nothing = search.nothing || (!place.empty() && place != name->text);
    place = name->text;
    return true;
}

bool set_created(Search& search, const Clause& clause) {
    const domain::Pattern* span = only_one(clause, How::between);
    if (span == nullptr) return false;
    stores::Filter& f = search.filter;
    if (span->low > 0) f.since = std::max(f.since, Time{Duration{span->low}});
    if (span->high != INT64_MAX) f.until = earlier(f.until, Time{Duration{span->high}});
    search.nothing = search.nothing || span->high <= 0 ||
                     (is_set(f.since) && is_set(f.until) && f.since > f.until);
    return true;
}

bool set_group(Search& search, const Clause& clause) {
    const domain::Pattern* one = only_one(clause, How::between);
    if (one == nullptr) return false;
    const auto fingerprint = static_cast<std::uint64_t>(one->low);
    std::uint64_t& place = search.filter.fingerprint;
    search.nothing = search.nothing || (place != 0 && place != fingerprint);
    place = fingerprint;
    return true;
}

/// Whole ids are read at once.
bool set_ids(Search& search, const Clause& clause) {
    const auto is_whole = [](const domain::Pattern& p) {
        return p.how == How::equal && Uuid::parse(p.text);
    };
    if (clause.negated || !search.ids.empty() || !std::ranges::all_of(clause.any, is_whole))
        return false;
    for (const domain::Pattern& p : clause.any) search.ids.push_back(*Uuid::parse(p.text));
    return true;
}

/// False: no index serves it.
bool serve(Search& search, const Clause& clause) {
    switch (clause.field) {
        case Field::state:
            keep_states(search, [&](State state) {
                return domain::matches_text(to_string(state), clause);
            });
            return true;
        case Field::waiting:
            if (!clause.negated)
                keep_states(search, [&](State state) { return can_wait(clause, state); });
            return false;
        case Field::running:
            if (!clause.negated)
                keep_states(search, [](State state) { return state == State::running; });
            return false;
        case Field::queue:
            return set_name(search, search.filter.queue, clause);
        case Field::type:
            return set_name(search, search.filter.type, clause);
        case Field::tenant:
            return set_name(search, search.filter.tenant, clause);
        case Field::created:
            return set_created(search, clause);
        case Field::group:
            return set_group(search, clause);
        case Field::id:
            return set_ids(search, clause);
        default:
            return false;
    }
}

void add_once(std::vector<Clause>& clauses, Clause clause) {
    if (std::ranges::find(clauses, clause) == clauses.end()) clauses.push_back(std::move(clause));
}

}  // namespace

Result<> narrow(Search& search, std::string_view line, Time now) {
    auto clauses = domain::parse_query(line, now);
    if (!clauses) {
        Error error{Code::invalid_argument, "q: " + clauses.error().detail, "q"};
        error.position = static_cast<std::int32_t>(clauses.error().position);
        return std::unexpected(std::move(error));
    }
    for (Clause& clause : *clauses) {
        if (serve(search, clause)) continue;
        if (!needs_body(clause)) {
            add_once(search.filter.clauses, std::move(clause));
            continue;
        }
        // Only what has failed has an error: spares a look at all others.
        if (clause.field == Field::error && !clause.negated)
            add_once(search.filter.clauses, {Field::group, false, {}, {{How::present, {}}}});
        add_once(search.bodies, std::move(clause));
    }
    return {};
}

namespace {

bool has_only_families(const Search& search) {
    return search.bodies.empty() && search.ids.empty() && search.filter.labels.empty() &&
           std::ranges::all_of(search.filter.clauses, [](const Clause& c) {
               return c.field == Field::queue || c.field == Field::type;
           });
}

}  // namespace

bool is_indexed(const Search& search) {
    if (search.nothing || !search.ids.empty()) return true;
    const stores::Filter& f = search.filter;
    const bool by_family = !f.queue.empty() || !f.type.empty() || !f.clauses.empty();
    const int indexes = int{by_family} + int{!f.tenant.empty()} + int{f.fingerprint != 0};
    return has_only_families(search) && indexes <= 1;
}

bool is_counted(const Search& search) {
    const stores::Filter& f = search.filter;
    return has_only_families(search) && f.tenant.empty() && f.fingerprint == 0 &&
           !is_set(f.since) && !is_set(f.until);
}

bool passes(const domain::Header& h, const Search& search) {
    const stores::Filter& f = search.filter;
    const auto has_label = [&](const std::string& label) {
        return h.labels.contains('\n' + label + '\n');
    };
    return !search.nothing && h.kind == f.kind &&
           (f.states.empty() || std::ranges::find(f.states, h.state) != f.states.end()) &&
           (!is_set(f.since) || h.created_at >= f.since) &&
           (!is_set(f.until) || h.created_at <= f.until) &&
           (f.queue.empty() || h.queue == f.queue) && (f.type.empty() || h.type == f.type) &&
           (f.tenant.empty() || h.tenant == f.tenant) &&
           (f.fingerprint == 0 || h.fingerprint == f.fingerprint) &&
           std::ranges::all_of(f.labels, has_label) && domain::matches(h, f.clauses);
}

}  // namespace holdfast::engine
