// What goes wrong, by kind: one group per fingerprint.
#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

#include "domain/failure.h"
#include "engine/engine.h"

namespace holdfast::engine {
namespace {

using Counts = std::array<std::uint64_t, domain::kStates>;

/// Tasks of one group that are looked at for a sample, its tenants and its last failure.
constexpr std::size_t kLookedAt = 100;
constexpr std::size_t kLookBudget = 2'000;
constexpr std::size_t kWalked = 1'000;  ///< And then so many at once for its first failure.
constexpr std::size_t kWorthAWalk = 4;  ///< So many groups are looked at together.
/// Histories that are read for the last failure of a group.
constexpr std::size_t kLastReads = 10;

std::uint64_t at(const Counts& counts, State state) {
    return counts[static_cast<std::size_t>(state)];
}

FailureGroup group_of(std::uint64_t fingerprint, const Counts& counts) {
    FailureGroup group;
    group.fingerprint = fingerprint;
    group.by_state = counts;
    for (std::size_t s = 1; s < counts.size(); ++s) {
        if (!domain::is_final(static_cast<State>(s))) group.open += counts[s];
    }
    group.failed = at(counts, State::failed);
    return group;
}

/// What succeeded in the end is looked at only if nothing else is left: its error is in its history alone.
std::vector<State> sampled_states(const FailureGroup& group) {
    std::vector<State> states;
    for (std::size_t s = 1; s < domain::kStates; ++s) {
        const auto state = static_cast<State>(s);
        if (state != State::succeeded && group.by_state[s] > 0) states.push_back(state);
    }
    if (states.empty()) states.push_back(State::succeeded);
    return states;
}

std::uint64_t sampled_count(const FailureGroup& group) {
    std::uint64_t count = 0;
    for (const State state : sampled_states(group)) count += at(group.by_state, state);
    return count;
}

domain::Clause has_failed() {
    return {domain::Field::group, false, {}, {{domain::Pattern::How::present, {}}}};
}

/// Counts of states that the search does not ask for are none.
Counts wanted(Counts counts, const Search& search) {
    const auto& states = search.filter.states;
    for (std::size_t s = 0; s < counts.size(); ++s) {
        const auto state = static_cast<State>(s);
        if (!states.empty() && std::ranges::find(states, state) == states.end()) counts[s] = 0;
    }
    return counts;
}

/// The states that are asked for and that some task which failed is in: tasks in others need no look.
std::vector<State> failing_states(const stores::Stats& stats, const Search& search) {
    Counts all{};
    for (const stores::FailureCounts& row : stats.failures) {
        for (std::size_t s = 1; s < all.size(); ++s) all[s] += row.by_state[s];
    }
    const Counts asked = wanted(all, search);
    std::vector<State> states;
    for (std::size_t s = 1; s < asked.size(); ++s) {
        if (asked[s] > 0) states.push_back(static_cast<State>(s));
    }
    return states;
}

bool is_empty(const Counts& counts) {
    return std::ranges::all_of(counts, [](std::uint64_t n) { return n == 0; });
}

/// Nothing but states and one fingerprint: the counts by fingerprint tell it.
bool is_counted_by_failure(Search search) {
    search.filter.fingerprint = 0;
    return is_counted(search) && search.filter.queue.empty() && search.filter.type.empty() &&
           search.filter.clauses.empty();
}

domain::Failure failure_from(const Json& error) {
    const auto value = error.value();
    const auto text = [&](std::string_view name) {
        const auto* member = value.is_object() ? value.get_object().if_contains(name) : nullptr;
        return member != nullptr && member->is_string() ? std::string(member->get_string())
                                                        : std::string{};
    };
    const auto kind = domain::error_kind_from(text("kind"));
    return {kind.value_or(domain::ErrorKind::transient), text("message"), text("stack"),
            text("code")};
}

void describe(FailureGroup& group, const Json& error) {
    domain::Failure failure = failure_from(error);
    group.message = domain::normalised(failure.message);
    group.sample = std::move(failure.message);
    group.kind = to_string(failure.kind);
    group.code = std::move(failure.code);
    group.stack = std::move(failure.stack);
}

bool is_of(const FailureGroup& group, const Json& error) {
    return domain::fingerprint(group.type, failure_from(error)) == group.fingerprint;
}

/// Only a failure leads to where these tasks are, and nothing but a signal changes them there.
bool is_as_it_failed(const domain::Header& h) {
    return h.signals == 0 &&
           (h.state == State::retrying || h.state == State::suspended || h.state == State::failed);
}

}  // namespace

Engine::Suspect Engine::suspect(const domain::Header& h) {
    // Where its one attempt ended by the failure, nothing of the kind happened before.
    const bool is_only =
        h.attempt == 1 && is_set(h.started_at) &&
        (h.ended_by == domain::Event::failed || h.ended_by == domain::Event::lease_ended);
    if (is_only && is_as_it_failed(h)) return {h.key(), h.updated_at, h.updated_at};
    return {h.key(), is_only ? h.started_at : h.created_at, h.updated_at};
}

/// Adds one task's failures to the times of the group.
Async<Result<FailureGroup>> Engine::with_history(FailureGroup group, domain::Key key) {
    CO_TRY(const auto history, co_await store_.history(key));
    Time first, last;
    for (const domain::Transition& step : history) {
        if (step.error.empty()) continue;
        last = step.at;
        if (!is_set(first) && is_of(group, Json::stored(step.error.view()))) first = step.at;
    }
    group.first_seen = earlier(group.first_seen, is_set(first) ? first : last);
    group.last_seen = std::max(group.last_seen, last);
    co_return group;
}

/// Where headers tell only between which moments tasks failed, their histories tell when: reads those that can matter.
/// `tasks` begins with the newest.
Async<Result<FailureGroup>> Engine::with_times(FailureGroup group, std::vector<Suspect> tasks,
                                               bool is_all, FailureLook* look) {
    std::erase_if(tasks, [&](const Suspect& task) {
        if (task.from != task.until) return false;
        group.first_seen = earlier(group.first_seen, task.from);
        group.last_seen = std::max(group.last_seen, task.until);
        return true;
    });
    if (!tasks.empty())
        std::ranges::sort(tasks.begin() + 1, tasks.end(), std::ranges::greater{}, &Suspect::until);
    std::size_t read = 0;
    for (; read < std::min(tasks.size(), kLastReads); ++read) {
        if (tasks[read].until <= group.last_seen) break;
        CO_TRY(group, co_await with_history(std::move(group), tasks[read].key));
    }
    std::ranges::sort(tasks.begin() + static_cast<std::ptrdiff_t>(read), tasks.end(), {},
                      &Suspect::from);
    const auto may_be_first = [&] {
        return read < tasks.size() &&
               (!is_set(group.first_seen) || tasks[read].from < group.first_seen);
    };
    for (; is_all && may_be_first() && look->histories > 0; ++read, --look->histories) {
        CO_TRY(group, co_await with_history(std::move(group), tasks[read].key));
    }
    if (!is_all || may_be_first()) group.first_seen = {};
    co_return group;
}

void Engine::GroupTasks::add(const domain::Header& header) {
    if (tasks.empty()) sample = header;
    if (tasks.size() < kLookedAt && !header.tenant.empty()) tenants.insert(header.tenant);
    tasks.push_back(suspect(header));
}

/// The newest tasks of many groups by one walk over them all: a store without an index by fingerprint would look at
/// the same tasks again for each group. Ends when every group has its share.
Async<Result<std::map<std::uint64_t, Engine::GroupTasks>>> Engine::walk(
    std::vector<FailureGroup> groups, Search search, FailureLook* look) {
    std::map<std::uint64_t, GroupTasks> found;
    std::map<std::uint64_t, std::uint64_t> missing;
    std::set<State> states;
    for (const FailureGroup& group : groups) {
        found[group.fingerprint];
        missing[group.fingerprint] = std::min<std::uint64_t>(sampled_count(group), kLookedAt);
        const std::vector<State> sampled = sampled_states(group);
        states.insert(sampled.begin(), sampled.end());
    }
    search.filter.states.assign(states.begin(), states.end());
    search.filter.clauses.push_back(has_failed());
    std::string next;
    do {
        CO_TRY(stores::Page page, co_await find(search, std::move(next), kWalked, look->headers));
        look->headers -= page.scanned;
        look->scanned += page.scanned;
        for (const stores::ListRow& row : page.rows) {
            const auto group = found.find(row.header.fingerprint);
            if (group == found.end()) continue;
            group->second.add(row.header);
            const auto still = missing.find(row.header.fingerprint);
            if (still != missing.end() && --still->second == 0) missing.erase(still);
        }
        next = std::move(page.next);
    } while (!next.empty() && !missing.empty() && look->headers > 0);
    for (const FailureGroup& group : groups) {
        GroupTasks& tasks = found[group.fingerprint];
        tasks.is_all = next.empty() || tasks.tasks.size() >= sampled_count(group);
    }
    co_return found;
}

/// Adds to what is known of a group what is missing for its sample, and, if they can all be looked at, for its first
/// failure.
Async<Result<Engine::GroupTasks>> Engine::tasks_of(FailureGroup group, Search search,
                                                   GroupTasks known, FailureLook* look) {
    const std::uint64_t count = sampled_count(group);
    if (known.is_all) co_return known;
    search.filter.fingerprint = group.fingerprint;
    search.filter.states = sampled_states(group);
    std::string next;
    if (known.tasks.size() < std::min<std::uint64_t>(count, kLookedAt) && look->samples > 0) {
        CO_TRY(stores::Page page,
               co_await find(search, {}, kLookedAt, std::min(kLookBudget, look->samples)));
        look->samples -= page.scanned;
        look->scanned += page.scanned;
        if (page.rows.size() >= known.tasks.size()) {
            known = {};
            for (const stores::ListRow& row : page.rows) known.add(row.header);
            next = std::move(page.next);
            known.is_all = next.empty();
        }
    }
    const bool is_walked = search.bodies.empty() && count <= known.tasks.size() + look->headers;
    if (known.is_all || !is_walked) co_return known;
    if (next.empty()) known = {};
    do {
        CO_TRY(stores::Page page, co_await find(search, std::move(next), kWalked, look->headers));
        look->headers -= page.scanned;
        look->scanned += page.scanned;
        for (const stores::ListRow& row : page.rows) known.add(row.header);
        next = std::move(page.next);
    } while (!next.empty() && look->headers > 0);
    known.is_all = next.empty();
    co_return known;
}

Async<Result<FailureGroup>> Engine::with_sample(FailureGroup group, Search search, GroupTasks known,
                                                FailureLook* look) {
    CO_TRY(GroupTasks found, co_await tasks_of(group, std::move(search), std::move(known), look));
    if (found.tasks.empty()) co_return group;
    const domain::Header sample = std::move(found.sample);
    group.tenants = found.tenants.size();
    group.sample_task = sample.id;
    group.type = sample.type;
    group.queue = sample.queue;
    CO_TRY(group,
           co_await with_times(std::move(group), std::move(found.tasks), found.is_all, look));
    co_return co_await with_error(std::move(group), sample.key());
}

Async<Result<FailureGroup>> Engine::with_error(FailureGroup group, domain::Key sample) {
    CO_TRY(const auto records, co_await get_all({sample.id}));
    if (records.empty()) co_return group;
    const Json error = Json::stored(records.front().outcome.view()).member("error");
    if (!error.is_null()) {
        describe(group, error);
        co_return group;
    }
    CO_TRY(const auto history, co_await store_.history(sample));
    for (const domain::Transition& step : history | std::views::reverse) {
        if (step.error.empty()) continue;
        describe(group, Json::stored(step.error.view()));
        break;
    }
    co_return group;
}

Async<Result<Failures>> Engine::failures(Search search, std::size_t limit) {
    if (limit < 1 || limit > kMostGroups) co_return invalid("limit", "must be between 1 and 200");
    CO_TRY_VOID(check_filter(search.filter));
    Failures failures;
    std::map<std::uint64_t, Counts> counted;
    CO_TRY(const stores::Stats stats, co_await store_.stats());
    if (is_counted_by_failure(search)) {
        for (const stores::FailureCounts& row : stats.failures) {
            const bool is_meant =
                search.filter.fingerprint == 0 || search.filter.fingerprint == row.fingerprint;
            if (is_meant && !search.nothing)
                counted[row.fingerprint] = wanted(row.by_state, search);
        }
    } else {
        Search failed = search;
        failed.filter.clauses.push_back(has_failed());
        failed.filter.states = failing_states(stats, search);
        failed.nothing = search.nothing || failed.filter.states.empty();
        CO_TRY(const Scanned scanned, co_await scan(failed, [&](const domain::Header& h) {
                   ++counted[h.fingerprint][static_cast<std::size_t>(h.state)];
               }));
        failures.scanned = scanned.scanned;
        failures.exact = scanned.complete;
    }
    const bool all_states = search.filter.states.empty() && search.filter.fingerprint == 0;
    for (const auto& [fingerprint, counts] : counted) {
        FailureGroup group = group_of(fingerprint, counts);
        const bool is_over = group.open == 0 && group.failed == 0;
        if (is_empty(counts) || (all_states && is_over)) continue;
        failures.groups.push_back(std::move(group));
    }
    failures.total = failures.groups.size();
    std::ranges::sort(failures.groups, [](const FailureGroup& a, const FailureGroup& b) {
        return std::tie(a.open, a.failed, a.fingerprint) >
               std::tie(b.open, b.failed, b.fingerprint);
    });
    if (failures.groups.size() > limit) failures.groups.resize(limit);
    FailureLook look;
    std::map<std::uint64_t, GroupTasks> known;
    if (failures.groups.size() >= kWorthAWalk && search.bodies.empty()) {
        CO_TRY(known, co_await walk(failures.groups, search, &look));
    }
    for (FailureGroup& group : failures.groups) {
        CO_TRY(group, co_await with_sample(std::move(group), search,
                                           std::move(known[group.fingerprint]), &look));
    }
    failures.scanned += look.scanned;
    co_return failures;
}

Async<Result<FailureGroup>> Engine::failure(std::uint64_t fingerprint) {
    stores::Filter filter;
    filter.fingerprint = fingerprint;
    CO_TRY(Failures found, co_await failures(std::move(filter), 1));
    if (found.groups.empty())
        co_return refuse(Code::not_found, "no task has failed with this fingerprint");
    co_return std::move(found.groups.front());
}

}  // namespace holdfast::engine
