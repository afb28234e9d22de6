#include "observe/ports/series_keeper.h"

#include <set>

namespace holdfast::observe {
namespace {

constexpr Duration kLookEvery = std::chrono::seconds{5};
constexpr Duration kKept = std::chrono::hours{25};  // longer than the longest range

stores::Filter all_series() {
    stores::Filter filter;
    filter.kind = domain::Kind::series;
    return filter;
}

}  // namespace

SeriesKeeper::SeriesKeeper(stores::Store& store, const Series& series, std::function<Time()> now,
                           std::string_view instance, Time started_at)
    : store_(store),
      series_(series),
      now_(std::move(now)),
      id_(Uuid::named(
          partition_of(instance),
          std::string(instance) + '/' + std::to_string(started_at.time_since_epoch().count()))),
      started_at_(started_at),
      rng_(Rng::from_system()) {}

Async<Result<bool>> SeriesKeeper::save() {
    if (series_.steps() != saved_steps_) {
        CO_TRY(const bool written, co_await write());
        // An answer was lost, or the record was: once more, from what is there.
        if (!written) CO_TRY_VOID(co_await write());
    }
    CO_TRY_VOID(co_await remove_old());
    co_return false;
}

Async<Result<bool>> SeriesKeeper::write() {
    const std::uint64_t steps = series_.steps();
    const Time now = now_();
    domain::Put put;
    put.header.kind = domain::Kind::series;
    put.header.id = id_;
    put.header.state = domain::State::running;
    put.header.created_at = started_at_;
    put.header.updated_at = now;
    put.header.version = version_ + 1;
    put.expected_version = version_;
    put.body = Bytes(series_.pack(now, kSavedQueues));
    put.audit = false;
    put.transition = {domain::Event::woken, put.header.state, put.header.state, 0, now, {}, {}, {}};
    std::vector<domain::Change> changes(1);
    changes.front().partition = id_.partition();
    changes.front().nonce = rng_() | 1;
    changes.front().puts.push_back(std::move(put));
    CO_TRY(const auto outcomes, co_await store_.commit(std::move(changes)));
    if (outcomes.front().verdict == stores::Verdict::committed) {
        ++version_;
        saved_steps_ = steps;
        co_return true;
    }
    CO_TRY(const auto found, co_await store_.load({{domain::Kind::series, id_}}));
    version_ = found.front() ? found.front()->header.version : 0;
    co_return false;
}

Async<Result<>> SeriesKeeper::remove_old() {
    CO_TRY(const stores::Page page,
           co_await store_.list(all_series(), {}, 1000, stores::kListBudget));
    std::vector<domain::Change> ends;
    for (const stores::ListRow& row : page.rows) {
        if (row.header.id == id_ || row.header.updated_at + kKept > now_()) continue;
        domain::Put put;
        put.header = row.header;
        put.expected_version = put.header.version++;
        put.erase = true;
        put.audit = false;
        put.transition = {
            domain::Event::discarded, put.header.state, put.header.state, 0, now_(), {}, {}, {}};
        domain::Change& end = ends.emplace_back();
        end.partition = put.header.id.partition();
        end.nonce = rng_() | 1;
        end.puts.push_back(std::move(put));
    }
    if (!ends.empty()) CO_TRY_VOID(co_await store_.commit(std::move(ends)));
    co_return Result<>{};
}

Async<Result<>> SeriesKeeper::look() {
    const Time now = now_();
    if (is_set(looked_at_) && now < looked_at_ + kLookEvery) co_return Result<>{};
    CO_TRY(const stores::Page page,
           co_await store_.list(all_series(), {}, kMostRecords, stores::kListBudget));
    std::vector<domain::Key> changed;
    std::set<Uuid> there;
    for (const stores::ListRow& row : page.rows) {
        if (row.header.id == id_) continue;
        there.insert(row.header.id);
        if (others_[row.header.id].version != row.header.version)
            changed.push_back(row.header.key());
    }
    std::erase_if(others_, [&](const auto& other) { return !there.contains(other.first); });
    if (!changed.empty()) {
        CO_TRY(auto records, co_await store_.load(std::move(changed)));
        for (auto& record : records) {
            if (record)
                others_[record->header.id] = {record->header.version, std::move(record->body)};
        }
    }
    looked_at_ = now;
    co_return Result<>{};
}

Async<Result<Json>> SeriesKeeper::chart(std::string range, std::string queue) {
    const Range* wanted = range_from(range);
    if (wanted == nullptr) co_return invalid("range", "must be one of 15m, 1h, 24h");
    CO_TRY_VOID(co_await look());
    Table table(*wanted, std::move(queue), now_());
    table.add(series_.pack(now_()));
    for (const auto& [id, copy] : others_) table.add(copy.packed.view());
    co_return table.json();
}

Async<RatesByQueue> SeriesKeeper::rates() {
    (void)co_await look();  // what was read last will do
    RateTable table(now_());
    table.add(series_.pack(now_()));
    for (const auto& [id, copy] : others_) table.add(copy.packed.view());
    co_return table.rates();
}

}  // namespace holdfast::observe
