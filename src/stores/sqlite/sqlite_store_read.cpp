// Reading: unfinished tasks from memory, finished ones from disk.
#include <algorithm>
#include <ranges>
#include <set>

#include "stores/sqlite/header_codec.h"
#include "stores/sqlite/pipeline.h"
#include "stores/sqlite/reading_thread.h"
#include "stores/sqlite/scribe.h"
#include "stores/sqlite/sqlite_store.h"

namespace holdfast::stores {

using memory::kNoSlot;
using memory::Slot;
using memory::SlotId;
using sqlite::FinishedQuery;
using sqlite::FinishedRow;
using sqlite::Tried;

struct SqliteStore::FinishedPage {
    std::vector<FinishedRow> rows;
    std::size_t scanned = 0;
    std::uint64_t next = 0;  ///< Not 0: rows below this one were not looked at.
};

namespace {

std::uint64_t stamp_of(Time time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

/// Each is looked at with a statement of its own per state; beyond this many, all rows are looked at.
constexpr std::size_t kMostFamilies = 64;

bool is_wanted(const Filter& filter, State state) {
    return filter.states.empty() || std::ranges::find(filter.states, state) != filter.states.end();
}

std::vector<State> wanted_states(const Filter& filter, bool final) {
    std::vector<State> states;
    for (std::size_t i = 1; i < domain::kStates; ++i) {
        const auto state = static_cast<State>(i);
        if (domain::is_final(state) == final && is_wanted(filter, state)) states.push_back(state);
    }
    return states;
}

/// Whether a row of the finished tasks is asked for. Looks into its header only where it must, and needs no names.
class Sieve {
  public:
    Sieve(Filter filter, std::set<std::uint64_t> families, const sqlite::Names& names)
        : filter_(std::move(filter)),
          families_(std::move(families)),
          tenant_(names.find(filter_.tenant)) {
        // Names are the store's thread's, so what they mean is found out here.
        const auto is_about = [](domain::Field field) {
            return [field](const domain::Clause& c) { return c.field == field; };
        };
        for (const domain::Clause& clause :
             filter_.clauses | std::views::filter(is_about(domain::Field::tenant))) {
            if (tenants_.empty()) tenants_.assign(names.size(), true);
            for (sqlite::Names::Number number = 0; number < tenants_.size(); ++number)
                tenants_[number] =
                    tenants_[number] && domain::matches_text(names.text(number).view(), clause);
        }
        by_family_ = !filter_.queue.empty() || !filter_.type.empty() ||
                     std::ranges::any_of(filter_.clauses, is_about(domain::Field::queue)) ||
                     std::ranges::any_of(filter_.clauses, is_about(domain::Field::type));
        std::erase_if(filter_.clauses, [](const domain::Clause& c) {
            return c.field == domain::Field::queue || c.field == domain::Field::type ||
                   c.field == domain::Field::tenant;
        });
    }

    bool is_by_family() const { return by_family_; }

    bool passes(const FinishedRow& row) const {
        if (by_family_ && !families_.contains(row.family)) return false;
        if (!filter_.tenant.empty() && row.tenant != tenant_) return false;
        if (!tenants_.empty() && (row.tenant >= tenants_.size() || !tenants_[row.tenant]))
            return false;  // a number that was given since: of a task made since
        if (filter_.fingerprint != 0 && row.fingerprint != filter_.fingerprint) return false;
        if (filter_.labels.empty() && filter_.clauses.empty() && !is_set(filter_.since) &&
            !is_set(filter_.until))
            return true;
        Header h;
        sqlite::unpack_header(row.header, no_names_, h);
        h.id = row.id;
        h.state = row.state;
        return (!is_set(filter_.since) || h.created_at >= filter_.since) &&
               (!is_set(filter_.until) || h.created_at <= filter_.until) &&
               std::ranges::all_of(filter_.labels,
                                   [&](const std::string& label) {
                                       return h.labels.find('\n' + label + '\n') !=
                                              std::string::npos;
                                   }) &&
               domain::matches(h, filter_.clauses);
    }

  private:
    Filter filter_;
    std::set<std::uint64_t> families_;
    sqlite::Names::Number tenant_;
    bool by_family_ = false;
    std::vector<bool> tenants_;  ///< Which ones pass, by number; empty: all.
    sqlite::Names no_names_;
};

}  // namespace

void SqliteStore::note_missing(const Slot& slot, std::size_t place, Missing& missing) const {
    if (slot.disk.dropped) missing.emplace_back(place, slot.made);
}

Async<Result<>> SqliteStore::fill_bodies(std::vector<Record>* records, Missing missing) {
    if (missing.empty()) co_return Result<>{};
    std::vector<std::uint64_t> made(missing.size());
    std::ranges::transform(missing, made.begin(), [](const auto& m) { return m.second; });
    CO_TRY(std::vector<Bytes> bodies, co_await reading([this, made = std::move(made)] {
               return journal_->archive().bodies(made);
           }));
    for (std::size_t i = 0; i < missing.size(); ++i)
        (*records)[missing[i].first].body = std::move(bodies[i]);
    co_return Result<>{};
}

Async<Result<std::vector<std::optional<FinishedRow>>>> SqliteStore::find_finished(
    std::vector<Uuid> ids) {
    co_return co_await reading(
        [this, ids = std::move(ids)] { return journal_->archive().finished(ids); });
}

Async<Result<std::vector<std::optional<Record>>>> SqliteStore::load(std::vector<Key> keys) {
    std::vector<std::optional<Record>> answer(keys.size());
    std::vector<Record> records;
    std::vector<std::size_t> places, absent;
    Missing missing;
    std::uint64_t needed = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const SlotId id = index_.find(keys[i]);
        if (id == kNoSlot) {
            if (keys[i].kind == domain::Kind::task && may_be_on_disk(keys[i].id))
                absent.push_back(i);
            continue;
        }
        const Slot& slot = index_.slot(id);
        needed = std::max(needed, slot.disk.group);
        note_missing(slot, records.size(), missing);
        records.push_back(index_.record_of(slot));
        places.push_back(i);
    }
    CO_TRY_VOID(co_await pipeline_->wait(needed));
    if (!absent.empty()) CO_TRY_VOID(co_await moves_are_durable());
    const std::uint64_t gone = scribe_->moves().gone;
    if (!absent.empty()) {
        std::vector<Uuid> ids;
        ids.reserve(absent.size());
        for (const std::size_t i : absent) ids.push_back(keys[i].id);
        CO_TRY(const auto rows, co_await find_finished(std::move(ids)));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!rows[i]) {  // it was never there, or it came into memory meanwhile
                if (const SlotId id = index_.find(keys[absent[i]]); id != kNoSlot) {
                    const Slot& slot = index_.slot(id);
                    needed = std::max(needed, slot.disk.group);
                    note_missing(slot, records.size(), missing);
                    records.push_back(index_.record_of(slot));
                    places.push_back(absent[i]);
                }
                continue;
            }
            Record record;
            if (!scribe_->header_of(*rows[i], record.header))
                co_return refuse(Code::unavailable,
                                 "the row of " + rows[i]->id.text() + " is damaged");
            record.outcome = rows[i]->outcome;
            missing.emplace_back(records.size(), rows[i]->made);
            records.push_back(std::move(record));
            places.push_back(absent[i]);
        }
    }
    CO_TRY_VOID(co_await pipeline_->wait(needed));
    CO_TRY_VOID(co_await fill_bodies(&records, missing));
    // A record that changed or went while its body was read would be half of the one and half of the other.
    const bool torn = std::ranges::any_of(missing, [&](const auto& m) {
        const Header& h = records[m.first].header;
        const SlotId id = index_.find(h.key());
        return id == kNoSlot ? gone != scribe_->moves().gone : index_.slot(id).version != h.version;
    });
    if (torn) co_return co_await load(std::move(keys));
    for (std::size_t i = 0; i < records.size(); ++i) answer[places[i]] = std::move(records[i]);
    co_return answer;
}

Async<Result<std::vector<domain::Transition>>> SqliteStore::history(Key key) {
    const SlotId id = index_.find(key);
    if (id != kNoSlot) {
        auto rows = index_.history(key);
        CO_TRY_VOID(co_await pipeline_->wait(index_.slot(id).disk.group));
        co_return rows;
    }
    if (key.kind != domain::Kind::task || !may_be_on_disk(key.id))
        co_return std::vector<domain::Transition>{};
    CO_TRY(const auto rows, co_await find_finished({key.id}));
    if (rows[0]) co_return domain::unpack_history(rows[0]->history);
    if (index_.find(key) == kNoSlot) co_return std::vector<domain::Transition>{};
    co_return co_await history(key);  // it came into memory meanwhile
}

Async<Result<std::vector<LogEntry>>> SqliteStore::log(std::string log, Uuid owner, std::size_t skip,
                                                      std::size_t limit) {
    CO_TRY_VOID(co_await pipeline_->wait(shown_));
    co_return co_await reading([this, log = std::move(log), owner, skip, limit] {
        return journal_->archive().log(log, owner, skip, limit);
    });
}

Async<Result<std::vector<std::int64_t>>> SqliteStore::count(std::vector<Tally> tallies) {
    std::vector<std::int64_t> counts;
    counts.reserve(tallies.size());
    for (const Tally& tally : tallies) counts.push_back(index_.count(tally, clock_.now()));
    CO_TRY_VOID(co_await pipeline_->wait(shown_));
    co_return counts;
}

Async<Result<Stats>> SqliteStore::stats() {
    Stats stats = index_.stats();
    const auto finished = scribe_->count_finished();
    CO_TRY_VOID(co_await pipeline_->wait(shown_));
    std::map<std::pair<std::string, std::string>, QueueCounts> queues;
    for (QueueCounts& counts : stats.queues) {
        for (const State state : wanted_states({}, true))
            counts.by_state[static_cast<std::size_t>(state)] = 0;
        queues[{counts.queue, counts.type}] = std::move(counts);
    }
    for (const auto& [key, count] : finished.families) {
        const sqlite::FamilyRow& family =
            scribe_->families().row(static_cast<std::uint32_t>(key.first));
        QueueCounts& counts = queues[{family.queue, family.type}];
        counts.queue = family.queue;
        counts.type = family.type;
        counts.by_state[static_cast<std::size_t>(key.second)] += static_cast<std::uint64_t>(count);
    }
    std::map<std::uint64_t, FailureCounts> failures;
    for (FailureCounts& counts : stats.failures) {
        for (const State state : wanted_states({}, true))
            counts.by_state[static_cast<std::size_t>(state)] = 0;
        failures[counts.fingerprint] = counts;
    }
    for (const auto& [key, count] : finished.failures) {
        FailureCounts& counts = failures[key.first];
        counts.fingerprint = key.first;
        counts.by_state[static_cast<std::size_t>(key.second)] += static_cast<std::uint64_t>(count);
    }
    const auto is_empty = [](const auto& counts) {
        return std::ranges::all_of(counts.by_state, [](std::uint64_t n) { return n == 0; });
    };
    stats.queues.clear();
    stats.failures.clear();
    for (auto& [key, counts] : queues) {
        if (!is_empty(counts)) stats.queues.push_back(std::move(counts));
    }
    for (auto& [key, counts] : failures) {
        if (!is_empty(counts)) stats.failures.push_back(counts);
    }
    co_return stats;
}

Async<Result<FeedPage>> SqliteStore::feed(std::string cursor, std::size_t limit) {
    const std::uint64_t from = memory::Feed::number_of(cursor);
    const std::uint64_t in_memory = index_.feed().oldest();
    if (cursor == "now" || (!cursor.empty() && from >= in_memory)) {
        FeedPage page = index_.feed(cursor, limit);
        CO_TRY_VOID(co_await pipeline_->wait(shown_));
        co_return page;
    }
    CO_TRY_VOID(co_await pipeline_->wait(shown_));
    CO_TRY(const auto rows,
           co_await reading([this, from, limit] { return journal_->archive().feed(from, limit); }));
    FeedPage page;
    const std::uint64_t oldest = rows.empty() ? in_memory : rows.front().first;
    std::uint64_t next = std::max(from, oldest);
    page.reset = !cursor.empty() && from < oldest;
    for (const sqlite::FeedRow& row : rows) {
        auto events = domain::unpack_events(row.events);
        for (std::size_t i = next > row.first ? next - row.first : 0;
             i < events.size() && page.events.size() < limit; ++i) {
            page.events.push_back(std::move(events[i]));
            next = row.first + i + 1;
        }
    }
    page.next = std::to_string(next);
    co_return page;
}

// ---- lists ----

Async<Result<SqliteStore::FinishedPage>> SqliteStore::list_finished(Filter filter,
                                                                    std::uint64_t top,
                                                                    std::size_t limit,
                                                                    std::size_t budget) {
    FinishedQuery query;
    query.states = wanted_states(filter, true);
    query.top =
        is_set(filter.until) ? std::min(top, stamp_of(filter.until) + scribe_->drift() + 1) : top;
    if (query.states.empty() || filter.kind != domain::Kind::task) co_return FinishedPage{};
    std::set<std::uint64_t> families;
    for (const sqlite::FamilyRow& row : scribe_->families().rows()) {
        if (row.number != 0 && row.kind == filter.kind &&
            (filter.queue.empty() || row.queue == filter.queue) &&
            (filter.type.empty() || row.type == filter.type) &&
            is_family_of(filter, row.queue, row.type))
            families.insert(row.number);
    }
    const sqlite::Names::Number tenant = scribe_->names().find(filter.tenant);
    if (families.empty() || (!filter.tenant.empty() && tenant == 0)) co_return FinishedPage{};
    const Sieve sieve(filter, families, scribe_->names());
    std::set<std::uint64_t> groups;
    if (memory::asks_for_failed(filter)) {
        for (const auto& [key, count] : scribe_->count_finished().failures) {
            if (count > 0 && is_wanted(filter, key.second)) groups.insert(key.first);
        }
        if (groups.empty()) co_return FinishedPage{};
    }
    if (filter.fingerprint != 0) {
        query.by = FinishedQuery::By::fingerprint;
        query.values = {filter.fingerprint};
    } else if (!groups.empty() && groups.size() <= kMostFamilies) {
        query.by = FinishedQuery::By::fingerprint;
        query.values.assign(groups.begin(), groups.end());
    } else if (!filter.tenant.empty()) {
        query.by = FinishedQuery::By::tenant;
        query.values = {tenant};
    } else if (sieve.is_by_family() && families.size() <= kMostFamilies) {
        query.by = FinishedQuery::By::family;
        query.values.assign(families.begin(), families.end());
    }
    const std::uint64_t bottom = is_set(filter.since) ? stamp_of(filter.since) : 0;
    co_return co_await reading(
        [this, query = std::move(query), sieve, bottom, limit, budget]() -> Tried<FinishedPage> {
            FinishedPage page;
            auto walked = journal_->archive().walk(query, [&](const FinishedRow& row) {
                if (row.made < bottom) return false;
                if (page.scanned == budget || page.rows.size() == limit) {
                    page.next = row.made + 1;
                    return false;
                }
                ++page.scanned;
                if (sieve.passes(row)) page.rows.push_back(row);
                return true;
            });
            if (!walked) return std::unexpected(walked.error());
            return page;
        });
}

Async<Result<Page>> SqliteStore::list(Filter filter, std::string cursor, std::size_t limit,
                                      std::size_t budget) {
    struct Found {
        std::uint64_t made;
        ListRow row;
    };
    std::vector<Found> found;
    Page page;
    std::uint64_t floor = 0;  // below this not everything was looked at
    for (int tries = 0;; ++tries) {
        found.clear();
        page = {};
        floor = 0;
        const std::uint64_t revived = scribe_->moves().revived;
        Filter unfinished = filter;
        unfinished.states =
            filter.kind == domain::Kind::task ? wanted_states(filter, false) : filter.states;
        if (!unfinished.states.empty() || filter.kind != domain::Kind::task) {
            const auto slots = index_.list_slots(unfinished, cursor, limit, budget);
            for (const SlotId id : slots.slots) {
                const Slot& slot = index_.slot(id);
                found.push_back({slot.made, {index_.header_of(slot), slot.lane != nullptr}});
            }
            page.scanned = slots.page.scanned;
            floor = memory::Feed::number_of(slots.page.next);
        }
        // The look into memory must be durable before it is shown, and what had ended by then be on disk.
        CO_TRY_VOID(co_await pipeline_->wait(shown_));
        const std::uint64_t top = cursor.empty() ? INT64_MAX : memory::Feed::number_of(cursor);
        CO_TRY(const FinishedPage finished,
               co_await list_finished(filter, top, limit, budget - page.scanned));
        page.scanned += finished.scanned;
        floor = std::max(floor, finished.next);
        for (const FinishedRow& row : finished.rows) {
            Header h;
            if (!scribe_->header_of(row, h))
                co_return refuse(Code::unavailable, "the row of " + row.id.text() + " is damaged");
            found.push_back({row.made, {std::move(h), false}});
        }
        if (revived == scribe_->moves().revived || tries == 3)
            break;  // a finished task that came back would be missed
    }
    // A task that ended between the two looks is there twice.
    std::ranges::sort(found, std::ranges::greater{}, &Found::made);
    const auto repeated = std::ranges::unique(found, {}, &Found::made);
    found.erase(repeated.begin(), repeated.end());
    std::erase_if(found, [&](const Found& f) { return f.made < floor; });
    if (found.size() > limit) {
        floor = found[limit - 1].made;
        found.resize(limit);
    }
    if (floor > 0) page.next = std::to_string(floor);
    page.complete = floor == 0 || found.size() == limit;
    for (Found& f : found) page.rows.push_back(std::move(f.row));
    co_return page;
}

}  // namespace holdfast::stores
