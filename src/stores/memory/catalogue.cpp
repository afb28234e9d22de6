#include "stores/memory/catalogue.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <queue>

namespace holdfast::stores::memory {
namespace {

std::string family_key(domain::Kind kind, std::string_view queue, std::string_view type) {
    std::string key(1, static_cast<char>('a' + static_cast<int>(kind)));
    key.append(queue).push_back('\0');
    key.append(type);
    return key;
}

/// A cursor nobody of us made reads as the very end: an empty page rather than a wrong one.
std::uint64_t parse_cursor(std::string_view text) {
    std::uint64_t made = 0;
    std::from_chars(text.data(), text.data() + text.size(), made);
    return made;
}

std::uint64_t micros(Time time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

/// Walks one ordered set from a place downwards.
struct Walker {
    absl::btree_set<Place>::const_iterator at, begin;
    const Place& place() const { return *std::prev(at); }
    bool done() const { return at == begin; }
    // For the priority queue, whose use of it clangd does not see.
    [[maybe_unused]] friend bool operator<(const Walker& a, const Walker& b) {
        return a.place() < b.place();
    }
};

bool has_label(std::string_view labels, const std::string& label) {
    return labels.find('\n' + label + '\n') != std::string_view::npos;
}

constexpr std::size_t kMostGroups = 4096;

}  // namespace

bool asks_for_failed(const Filter& filter) {
    return std::ranges::any_of(filter.clauses, [](const domain::Clause& clause) {
        return clause.field == domain::Field::group && !clause.negated;
    });
}

Family& Catalogue::family(domain::Kind kind, std::string_view queue, std::string_view type) {
    auto& family = families_[family_key(kind, queue, type)];
    if (!family) {
        family = std::make_unique<Family>();
        family->kind = kind;
        family->queue = queue;
        family->type = type;
    }
    return *family;
}

std::uint64_t Catalogue::next_made(Time created_at) {
    const std::uint64_t made = std::max(last_made_ + 1, micros(created_at));
    saw_made(made, created_at);
    return made;
}

void Catalogue::saw_made(std::uint64_t made, Time created_at) {
    last_made_ = std::max(last_made_, made);
    drift_ = std::max(drift_, made - micros(created_at));
}

std::uint64_t Catalogue::made_until(Time time) const {
    return is_set(time) ? micros(time) + drift_ : UINT64_MAX - 1;
}

template <class Map, class Key>
void Catalogue::put_in(Map& map, const Key& key, std::size_t state, const Place& place) {
    auto& places = map[key];
    if (!places) places = std::make_unique<Places>();
    (*places)[state].insert((*places)[state].end(), place);
}

template <class Map, class Key>
void Catalogue::take_out(Map& map, const Key& key, std::size_t state, const Place& place) {
    const auto found = map.find(key);
    (*found->second)[state].erase(place);
    if (std::ranges::all_of(*found->second, [](const Ordered& o) { return o.empty(); }))
        map.erase(found);
}

void Catalogue::enter(SlotId id) {
    const Slot& slot = slots_[id];
    const auto state = static_cast<std::size_t>(slot.state);
    const Place place = place_of(slot, id);
    ++slot.family->records;
    slot.family->places[state].insert(slot.family->places[state].end(), place);
    if (slot.tenant != 0) put_in(tenants_, slot.tenant, state, place);
    if (slot.extras && slot.extras->fingerprint != 0)
        put_in(failures_, slot.extras->fingerprint, state, place);
}

void Catalogue::leave(SlotId id) {
    const Slot& slot = slots_[id];
    const auto state = static_cast<std::size_t>(slot.state);
    const Place place = place_of(slot, id);
    slot.family->places[state].erase(place);
    --slot.family->records;
    if (slot.tenant != 0) take_out(tenants_, slot.tenant, state, place);
    if (slot.extras && slot.extras->fingerprint != 0)
        take_out(failures_, slot.extras->fingerprint, state, place);
}

void Catalogue::retire(const Family& family) {
    if (family.records == 0) families_.erase(family_key(family.kind, family.queue, family.type));
}

bool Catalogue::matches(const Slot& slot, const Filter& filter, Interner::Number tenant) const {
    const Extras* extras = slot.extras.get();
    return slot.kind == filter.kind && (!is_set(filter.since) || slot.created_at >= filter.since) &&
           (!is_set(filter.until) || slot.created_at <= filter.until) &&
           (filter.queue.empty() || slot.family->queue == filter.queue) &&
           (filter.type.empty() || slot.family->type == filter.type) &&
           (filter.tenant.empty() || slot.tenant == tenant) &&
           (filter.fingerprint == 0 ||
            (extras != nullptr && extras->fingerprint == filter.fingerprint)) &&
           std::ranges::all_of(filter.labels, [&](const std::string& label) {
               return extras != nullptr && has_label(extras->labels, label);
           });
}

std::vector<const Catalogue::Ordered*> Catalogue::chosen(const Filter& filter,
                                                         Interner::Number tenant) const {
    std::vector<const Ordered*> sets;
    const auto add = [&](const Places& places) {
        for (std::size_t state = 0; state < places.size(); ++state) {
            const bool wanted =
                filter.states.empty() ||
                std::ranges::find(filter.states, static_cast<State>(state)) != filter.states.end();
            if (wanted && !places[state].empty()) sets.push_back(&places[state]);
        }
    };
    if (filter.fingerprint != 0) {
        if (const auto found = failures_.find(filter.fingerprint); found != failures_.end())
            add(*found->second);
        return sets;
    }
    if (asks_for_failed(filter) && failures_.size() <= kMostGroups) {
        for (const auto& [fingerprint, places] : failures_) add(*places);
        return sets;
    }
    if (!filter.tenant.empty()) {
        if (const auto found = tenants_.find(tenant); tenant != 0 && found != tenants_.end())
            add(*found->second);
        return sets;
    }
    for (const auto& [key, family] : families_) {
        const bool wanted = family->kind == filter.kind &&
                            (filter.queue.empty() || family->queue == filter.queue) &&
                            (filter.type.empty() || family->type == filter.type) &&
                            is_family_of(filter, family->queue, family->type);
        if (wanted) add(family->places);
    }
    return sets;
}

Catalogue::Found Catalogue::list(const Filter& filter, Interner::Number tenant,
                                 std::string_view cursor, std::size_t limit, std::size_t budget,
                                 const Passes& passes) const {
    Found found;
    const std::uint64_t top = cursor.empty() ? made_until(filter.until) + 1 : parse_cursor(cursor);
    std::priority_queue<Walker> walkers;
    for (const Ordered* set : chosen(filter, tenant)) {
        const Walker walker{set->lower_bound(Place{top, kNoSlot}), set->begin()};
        if (!walker.done()) walkers.push(walker);
    }
    while (!walkers.empty()) {
        Walker walker = walkers.top();
        const Place place = walker.place();
        if (is_set(filter.since) && place.made < micros(filter.since)) break;
        if (found.slots.size() == limit || found.page.scanned == budget) {
            found.page.next = std::to_string(place.made + 1);
            found.page.complete = found.slots.size() == limit;
            break;
        }
        ++found.page.scanned;
        const Slot& slot = slots_[place.slot];
        if (matches(slot, filter, tenant) && (filter.clauses.empty() || passes(slot)))
            found.slots.push_back(place.slot);
        walkers.pop();
        --walker.at;
        if (!walker.done()) walkers.push(walker);
    }
    return found;
}

std::vector<QueueCounts> Catalogue::counts() const {
    std::vector<QueueCounts> all;
    for (const auto& [key, family] : families_) {
        if (family->kind != domain::Kind::task) continue;
        QueueCounts& counts = all.emplace_back(QueueCounts{family->queue, family->type, {}});
        std::ranges::transform(family->places, counts.by_state.begin(),
                               [](const Ordered& o) { return o.size(); });
    }
    std::ranges::sort(all, {}, [](const QueueCounts& c) { return std::tie(c.queue, c.type); });
    return all;
}

std::vector<FailureCounts> Catalogue::failures() const {
    std::vector<FailureCounts> all;
    for (const auto& [fingerprint, places] : failures_) {
        FailureCounts& counts = all.emplace_back(FailureCounts{fingerprint, {}});
        std::ranges::transform(*places, counts.by_state.begin(),
                               [](const Ordered& o) { return o.size(); });
    }
    std::ranges::sort(all, {}, &FailureCounts::fingerprint);
    return all;
}

}  // namespace holdfast::stores::memory
