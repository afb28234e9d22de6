// Searching: pages, and counts by what tasks have in common.
#include <algorithm>
#include <map>

#include "engine/engine.h"

namespace holdfast::engine {
namespace {

constexpr std::size_t kBodiesAtOnce = 64;
constexpr std::size_t kFacetValues = 50;
constexpr std::size_t kFacetPage = 1000;
/// Where counts tell the rest, tenants are worth a look at no more tasks than this.
constexpr std::uint64_t kTenantsOf = 5'000;

bool passes_bodies(const domain::Record& record, const Search& search) {
    return std::ranges::all_of(search.bodies,
                               [&](const domain::Clause& c) { return matches(record, c); });
}

using Tallies = std::map<std::string, std::uint64_t, std::less<>>;

std::vector<FacetCount> largest(const Tallies& tallies) {
    std::vector<FacetCount> all;
    all.reserve(tallies.size());
    for (const auto& [value, count] : tallies) {
        if (count > 0) all.push_back({value, count});
    }
    std::ranges::sort(all, [](const FacetCount& a, const FacetCount& b) {
        return a.count != b.count ? a.count > b.count : a.value < b.value;
    });
    if (all.size() > kFacetValues) all.resize(kFacetValues);
    return all;
}

struct FacetTallies {
    Tallies state, queue, type, tenant;

    void add(const domain::Header& h) {
        ++state[std::string(to_string(h.state))];
        ++queue[h.queue];
        ++type[h.type];
        if (!h.tenant.empty()) ++tenant[h.tenant];
    }
};

/// The counts of one family, as if each of its tasks had been looked at.
void add_family(const stores::QueueCounts& counts, const Search& search, FacetTallies& tallies,
                std::uint64_t& total) {
    domain::Header h;
    h.queue = counts.queue;
    h.type = counts.type;
    for (std::size_t s = 1; s < domain::kStates; ++s) {
        h.state = static_cast<State>(s);
        const std::uint64_t count = counts.by_state[s];
        if (count == 0 || !passes(h, search)) continue;
        tallies.state[std::string(to_string(h.state))] += count;
        tallies.queue[h.queue] += count;
        tallies.type[h.type] += count;
        total += count;
    }
}

}  // namespace

/// The rows of a page whose bodies pass, too.
Async<Result<std::vector<stores::ListRow>>> Engine::sifted(Search search, stores::Page page) {
    std::vector<TaskId> ids;
    ids.reserve(page.rows.size());
    for (const stores::ListRow& row : page.rows) ids.push_back(row.header.id);
    std::vector<stores::ListRow> rows;
    if (ids.empty()) co_return rows;
    CO_TRY(const auto records, co_await get_all(std::move(ids)));
    for (const domain::Record& record : records) {
        if (!passes_bodies(record, search)) continue;
        const auto row = std::ranges::find(page.rows, record.header.id,
                                           [](const stores::ListRow& r) { return r.header.id; });
        if (row != page.rows.end()) rows.push_back(*row);
    }
    co_return rows;
}

Async<Result<stores::Page>> Engine::find_in_bodies(Search search, std::string cursor,
                                                   std::size_t limit, std::size_t budget) {
    stores::Page found;
    std::size_t read = 0;
    for (;;) {
        const std::size_t wanted = limit - found.rows.size();
        const std::size_t most = std::min(std::max(wanted, kBodiesAtOnce), kBodyBudget - read);
        CO_TRY(stores::Page page,
               co_await store_.list(search.filter, cursor, most, budget - found.scanned));
        CO_TRY(auto rows, co_await sifted(search, page));
        if (rows.size() > wanted) {
            // Only the store knows the cursor behind a row: asks again, as far as the last one that is wanted.
            const TaskId last = rows[wanted - 1].header.id;
            const auto place = std::ranges::find(
                page.rows, last, [](const stores::ListRow& r) { return r.header.id; });
            const auto far = static_cast<std::size_t>(place - page.rows.begin()) + 1;
            CO_TRY(page, co_await store_.list(search.filter, cursor, far, budget - found.scanned));
            CO_TRY(rows, co_await sifted(search, page));
        }
        read += page.rows.size();
        found.scanned += page.scanned;
        std::ranges::move(rows, std::back_inserter(found.rows));
        cursor = std::move(page.next);
        const bool full = found.rows.size() >= limit;
        if (!cursor.empty() && !full && found.scanned < budget && read < kBodyBudget) continue;
        found.complete = cursor.empty() || full;
        found.next = std::move(cursor);
        co_return found;
    }
}

Async<Result<stores::Page>> Engine::find_ids(Search search) {
    CO_TRY(const auto records, co_await get_all(search.ids));
    stores::Page page;
    page.scanned = records.size();
    for (const domain::Record& record : records) {
        if (passes(record.header, search) && passes_bodies(record, search))
            page.rows.push_back({record.header, record.header.state == State::queued});
    }
    std::ranges::sort(page.rows, std::ranges::greater{},
                      [](const stores::ListRow& r) { return r.header.created_at; });
    co_return page;
}

Async<Result<stores::Page>> Engine::find(Search search, std::string cursor, std::size_t limit,
                                         std::size_t budget) {
    if (search.nothing) co_return stores::Page{};
    if (!search.ids.empty()) co_return co_await find_ids(std::move(search));
    if (!search.bodies.empty())
        co_return co_await find_in_bodies(std::move(search), std::move(cursor), limit, budget);
    co_return co_await store_.list(std::move(search.filter), std::move(cursor), limit, budget);
}

Async<Result<stores::Page>> Engine::list(Search search, std::string cursor, std::size_t limit) {
    if (limit < 1 || limit > kLargestBatch)
        co_return invalid("limit", "must be between 1 and 1000");
    if (search.ids.size() > kMostIds) co_return invalid("ids", "has more than 1000 entries");
    CO_TRY_VOID(check_filter(search.filter));
    co_return co_await find(std::move(search), std::move(cursor), limit, stores::kListBudget);
}

Async<Result<Engine::Scanned>> Engine::scan(Search search, Visit visit) {
    Scanned result;
    std::string cursor;
    do {
        CO_TRY(stores::Page page, co_await find(search, std::move(cursor), kFacetPage,
                                                stores::kListBudget - result.scanned));
        for (const stores::ListRow& row : page.rows) visit(row.header);
        result.scanned += page.scanned;
        cursor = std::move(page.next);
        result.complete = cursor.empty();
        const bool out_of_bodies = !search.bodies.empty() && !page.complete;
        if (out_of_bodies) break;
    } while (!cursor.empty() && result.scanned < stores::kListBudget);
    co_return result;
}

Async<Result<Facets>> Engine::facets(Search search) {
    CO_TRY_VOID(check_filter(search.filter));
    Facets facets;
    FacetTallies tallies;
    if (is_counted(search)) {
        CO_TRY(const stores::Stats stats, co_await store_.stats());
        for (const stores::QueueCounts& counts : stats.queues)
            add_family(counts, search, tallies, facets.total);
        facets.has_tenants = facets.total <= kTenantsOf;
    } else {
        facets.has_tenants = true;
    }
    FacetTallies seen;
    if (facets.has_tenants) {
        std::uint64_t rows = 0;
        CO_TRY(const Scanned scanned, co_await scan(search, [&](const domain::Header& h) {
                   seen.add(h);
                   ++rows;
               }));
        facets.scanned = scanned.scanned;
        if (is_counted(search)) {
            facets.has_tenants = scanned.complete;
            tallies.tenant = std::move(seen.tenant);
        } else {
            facets.total = rows;
            facets.exact = scanned.complete;
            tallies = std::move(seen);
        }
    }
    facets.state = largest(tallies.state);
    facets.queue = largest(tallies.queue);
    facets.type = largest(tallies.type);
    facets.tenant = largest(tallies.tenant);
    co_return facets;
}

}  // namespace holdfast::engine
