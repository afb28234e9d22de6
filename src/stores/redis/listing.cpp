// list: every shard's records by creation, merged.
#include <algorithm>
#include <charconv>
#include <deque>

#include "stores/redis/codec.h"
#include "stores/redis/inside.h"

namespace holdfast::stores {
namespace {

using holdfast::redis::Reply;
using holdfast::redis::Value;
using redis::Shard;

/// A place in the order of creation: what is behind it was made earlier, or at the same moment with a smaller id.
struct Place {
    std::int64_t created = 0;
    std::string ref;
    friend auto operator<=>(const Place&, const Place&) = default;
};

struct Row {
    Place place;
    std::optional<ListRow> found;  ///< None: it was erased just now.
};

/// What is known of one shard, and not looked at yet.
struct Source {
    Shard* shard = nullptr;
    std::optional<Place> behind;  ///< None: from the newest.
    std::deque<Row> rows;
    bool exhausted = false;
};

std::string cursor_of(const Place& place) {
    return std::to_string(place.created) + '.' + place.ref;
}

/// One that nobody of us made reads as the very end: an empty page rather than a wrong one.
Place place_of(std::string_view cursor) {
    Place place;
    const auto end = std::from_chars(cursor.data(), cursor.data() + cursor.size(), place.created);
    if (end.ptr != cursor.data() + cursor.size() && *end.ptr == '.')
        place.ref = cursor.substr(static_cast<std::size_t>(end.ptr - cursor.data()) + 1);
    return place;
}

bool has_state(const Filter& filter, State state) {
    return filter.states.empty() || std::ranges::find(filter.states, state) != filter.states.end();
}

/// The sets that a record must be in to match.
std::vector<std::string> sets_of(const Filter& filter) {
    if (filter.kind != domain::Kind::task)
        return {"all:" + std::string(domain::to_string(filter.kind))};
    std::vector<std::string> sets;
    for (std::size_t s = 1; s < domain::kStates; ++s) {
        const auto state = static_cast<State>(s);
        if (has_state(filter, state))
            sets.push_back("tasks:" + std::string(domain::to_string(state)));
    }
    return sets;
}

bool matches(const Header& h, const Filter& filter) {
    const auto has_label = [&](const std::string& label) {
        return h.labels.contains('\n' + label + '\n');
    };
    return h.kind == filter.kind && has_state(filter, h.state) &&
           (!is_set(filter.since) || h.created_at >= filter.since) &&
           (!is_set(filter.until) || h.created_at <= filter.until) &&
           (filter.queue.empty() || h.queue == filter.queue) &&
           (filter.type.empty() || h.type == filter.type) &&
           (filter.tenant.empty() || h.tenant == filter.tenant) &&
           (filter.fingerprint == 0 || h.fingerprint == filter.fingerprint) &&
           std::ranges::all_of(filter.labels, has_label) && domain::matches(h, filter.clauses);
}

Result<Row> decode_row(Value item) {
    constexpr std::size_t kFields = 8;
    if (item.size() != kFields) return refuse(Code::unavailable, "a script gave no row");
    std::vector<Value> fields;
    for (const Value field : item) fields.push_back(field);
    Row row{{fields[7].integer(), std::string(fields[0].text())}, std::nullopt};
    if (fields[1].text().empty()) return row;
    auto header = redis::decode_header({fields[0].text(), fields[1].text(), fields[3].text(),
                                        fields[4].text(), fields[5].text(), fields[2].integer()});
    if (!header)
        return refuse(Code::unavailable, "the header of " + row.place.ref + " cannot be read");
    row.found = ListRow{*std::move(header), fields[6].integer() != 0};
    return row;
}

Async<Result<bool>> fetch(Source* source, const redis::Scripts* scripts,
                          std::vector<std::string> sets, std::size_t window) {
    std::vector<std::string> arguments{
        source->behind ? std::to_string(source->behind->created) : "+inf",
        source->behind ? source->behind->ref : "", std::to_string(window)};
    std::ranges::move(sets, std::back_inserter(arguments));
    CO_TRY(const Reply reply, co_await source->shard->run(scripts->list, std::move(arguments)));
    for (std::size_t i = 0; const Value item : reply.root()) {
        if (i++ == 0) continue;
        CO_TRY(Row row, decode_row(item));
        source->rows.push_back(std::move(row));
    }
    source->exhausted = source->rows.size() < window;
    if (!source->rows.empty()) source->behind = source->rows.back().place;
    co_return true;
}

/// One that has the newest row; null: there are no more.
Source* newest_of(std::vector<Source>& sources) {
    Source* newest = nullptr;
    for (Source& source : sources) {
        if (source.rows.empty()) continue;
        if (newest == nullptr || source.rows.front().place > newest->rows.front().place)
            newest = &source;
    }
    return newest;
}

}  // namespace

Async<Result<Page>> RedisStore::list(Filter filter, std::string cursor, std::size_t limit,
                                     std::size_t budget) {
    constexpr std::size_t kWindow = 64;
    Inside& in = *inside_;
    std::optional<Place> behind;
    if (!cursor.empty())
        behind = place_of(cursor);
    else if (is_set(filter.until))
        behind = Place{redis::micros(filter.until) + 1, {}};
    std::vector<Source> sources;
    sources.reserve(in.shards.size());
    for (const auto& shard : in.shards) sources.push_back({shard.get(), behind, {}, false});
    const std::vector<std::string> sets = sets_of(filter);
    std::size_t window = std::clamp<std::size_t>(limit / in.shards.size() + 1, 8, kWindow);

    Page page;
    Place last;
    while (true) {
        std::vector<Async<Result<bool>>> fetches;
        for (Source& source : sources) {
            if (source.rows.empty() && !source.exhausted)
                fetches.push_back(fetch(&source, &in.scripts, sets, window));
        }
        if (!fetches.empty()) {
            for (auto& fetched :
                 co_await redis::gather(in.around.executor, &in.group, std::move(fetches)))
                CO_TRY_VOID(std::move(fetched));
            window = kWindow;
        }
        Source* const newest = newest_of(sources);
        if (newest == nullptr) co_return page;
        Row row = std::move(newest->rows.front());
        if (is_set(filter.since) && row.place.created < redis::micros(filter.since)) co_return page;
        if (page.rows.size() == limit || page.scanned == budget) {
            page.next = cursor_of(last);
            page.complete = page.rows.size() == limit;
            co_return page;
        }
        newest->rows.pop_front();
        ++page.scanned;
        last = std::move(row.place);
        if (row.found && matches(row.found->header, filter))
            page.rows.push_back(*std::move(row.found));
    }
}

}  // namespace holdfast::stores
