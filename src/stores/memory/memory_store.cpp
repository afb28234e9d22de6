#include "stores/memory/memory_store.h"

namespace holdfast::stores {

Async<Result<std::vector<Outcome>>> MemoryStore::commit(std::vector<Change> changes) {
    std::vector<Outcome> outcomes;
    outcomes.reserve(changes.size());
    const Time now = clock_.now();
    for (Change& change : changes) outcomes.push_back(index_.commit(change, now));
    co_return outcomes;
}

Async<Result<std::vector<Record>>> MemoryStore::claim(ClaimRequest request) {
    co_return index_.claim(request, clock_.now());
}

Async<Result<std::vector<Renewed>>> MemoryStore::renew(std::vector<Renewal> renewals) {
    std::vector<Renewed> renewed;
    renewed.reserve(renewals.size());
    for (const Renewal& renewal : renewals) renewed.push_back(index_.renew(renewal, clock_.now()));
    co_return renewed;
}

Async<Result<std::vector<std::optional<Record>>>> MemoryStore::load(std::vector<Key> keys) {
    std::vector<std::optional<Record>> records;
    records.reserve(keys.size());
    for (const Key& key : keys) records.push_back(index_.load(key));
    co_return records;
}

Async<Result<std::vector<Record>>> MemoryStore::due(std::size_t limit) {
    co_return index_.due(limit, clock_.now());
}

Async<Result<Page>> MemoryStore::list(Filter filter, std::string cursor, std::size_t limit,
                                      std::size_t budget) {
    co_return index_.list(filter, cursor, limit, budget);
}

Async<Result<Stats>> MemoryStore::stats() {
    co_return index_.stats();
}

Async<Result<std::vector<domain::Transition>>> MemoryStore::history(Key key) {
    co_return index_.history(key);
}

Async<Result<std::vector<LogEntry>>> MemoryStore::log(std::string log, Uuid owner, std::size_t skip,
                                                      std::size_t limit) {
    co_return index_.log(log, owner, skip, limit);
}

Async<Result<FeedPage>> MemoryStore::feed(std::string cursor, std::size_t limit) {
    co_return index_.feed(cursor, limit);
}

Async<Result<std::vector<std::int64_t>>> MemoryStore::count(std::vector<Tally> tallies) {
    std::vector<std::int64_t> counts;
    counts.reserve(tallies.size());
    for (const Tally& tally : tallies) counts.push_back(index_.count(tally, clock_.now()));
    co_return counts;
}

Async<Result<std::size_t>> MemoryStore::trim(TrimRequest request) {
    co_return index_.trim(request, clock_.now());
}

Async<Result<Time>> MemoryStore::clock() {
    co_return clock_.now();
}

}  // namespace holdfast::stores
