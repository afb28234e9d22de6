#include "sim_store.h"

#include <algorithm>

#include "domain/decide.h"

namespace holdfast::simulation {
namespace {

using stores::memory::Index;

domain::Epoch counted_epoch(domain::Epoch last, Time) {
    return domain::Epoch{static_cast<std::int64_t>(last) + 1};
}

/// The leases that reached the disk live on: nobody was late while there was nobody to talk to.
void extend_leases(Index& index, Time now) {
    stores::Filter held;
    held.states = {domain::State::dispatched, domain::State::accepted, domain::State::running};
    const stores::Page page = index.list(held, {}, SIZE_MAX, SIZE_MAX);
    for (const stores::ListRow& row : page.rows) {
        index.renew({row.header.id, row.header.fence(), Duration{0}, {}, {}}, now);
    }
}

}  // namespace

SimStore::Writer::Writer(SimStore& in, std::vector<domain::Change> what)
    : store(in), changes(std::move(what)), done(in.clock_, in.executor_) {
    store.gathering_.push_back(this);
}

SimStore::Writer::~Writer() {
    std::erase(store.gathering_, this);
    std::erase(store.syncing_, this);
}

SimStore::SimStore(VirtualTime& time, asio::any_io_executor executor, Rng rng, Bug bug)
    : time_(time), executor_(executor), rng_(rng), bug_(bug), group_(std::move(executor)) {
    rebuild();
}

void SimStore::rebuild() {
    index_ =
        std::make_unique<Index>(bug_ == Bug::reuse_an_epoch ? counted_epoch : domain::next_epoch);
    for (const Op& op : journal_) op(*index_);
}

void SimStore::do_now(Op op) {
    op(*index_);
    unsynced_.push_back(std::move(op));
}

/// What a planted bug does to a change on its way in.
void SimStore::sabotage(domain::Change& change) {
    for (domain::Put& put : change.puts) {
        const auto stored = index_->load(put.header.key());
        switch (bug_) {
            case Bug::forget_a_wake:
                if (put.header.state == domain::State::retrying) put.header.wake_at = kNoTime;
                break;
            case Bug::promote_twice:
                if (put.transition.event != domain::Event::woken || !stored) break;
                put.expected_version = stored->header.version;
                put.expected_epoch = stored->header.epoch;
                put.expected_nonce = 0;
                put.header.version = put.expected_version + 1;
                break;
            case Bug::audit_outside_commit:
                if (put.header.kind != domain::Kind::task ||
                    put.transition.event != domain::Event::failed)
                    break;
                if (!stored || stored->header.version != put.expected_version) break;
                put.audit = false;
                stray_rows_[put.header.id].emplace_back(put.header.version, put.transition);
                break;
            case Bug::lose_a_lane:
                // Standing in a lane and being queued are one thing here; so the task forgets its queue.
                if (put.transition.event == domain::Event::woken) put.header.queue = "nowhere";
                break;
            default:
                break;
        }
    }
    if (bug_ == Bug::lose_a_permit && rng_.chance(0.3)) change.permits.clear();
    if (bug_ == Bug::duplicate_append) {
        for (domain::Append& append : change.appends)
            append.unique_key += '#' + std::to_string(rng_());
    }
}

std::vector<stores::Outcome> SimStore::apply(std::vector<domain::Change> changes,
                                             std::vector<Op>& journal) {
    std::vector<stores::Outcome> outcomes;
    const Time now = clock_.now();
    for (domain::Change& change : changes) {
        sabotage(change);
        outcomes.push_back(index_->commit(domain::Change(change), now));
        journal.emplace_back([change = std::move(change), now](Index& index) {
            index.commit(domain::Change(change), now);
        });
    }
    return outcomes;
}

Async<Result<std::vector<stores::Outcome>>> SimStore::commit(std::vector<domain::Change> changes) {
    if (is_down()) co_return std::unexpected(kDown);
    Writer writer(*this, std::move(changes));
    std::vector<stores::Outcome> too_early;
    if (bug_ == Bug::ack_before_commit || bug_ == Bug::visible_before_durable)
        too_early = apply(std::move(writer.changes), unsynced_);
    if (!sync_runs_) group_.spawn(sync());
    if (bug_ == Bug::ack_before_commit) co_return too_early;
    while (!writer.answer) co_await writer.done.wait_for(std::chrono::hours{1});
    if (bug_ == Bug::visible_before_durable && *writer.answer) co_return too_early;
    co_return *std::move(writer.answer);
}

/// Group after group, until there is nothing more to sync.
Async<void> SimStore::sync() {
    sync_runs_ = true;
    const std::uint64_t life = crashes_;
    do {
        syncing_ = std::exchange(gathering_, {});
        Alarm disk(clock_, executor_);
        co_await disk.wait_for(
            Duration{kShortestSyncUs + static_cast<std::int64_t>(rng_.below(kSyncSpreadUs))});
        if (life != crashes_) co_return;
        std::ranges::move(unsynced_, std::back_inserter(journal_));
        unsynced_.clear();
        for (Writer* writer : std::exchange(syncing_, {})) {
            writer->answer = apply(std::move(writer->changes), journal_);
            writer->done.ring();
        }
    } while (!gathering_.empty());
    sync_runs_ = false;
}

void SimStore::crash(Duration outage) {
    ++crashes_;
    sync_runs_ = false;
    stray_rows_.clear();
    // The disk may have taken more than we know of: some of what was not synced, or even the whole group.
    const bool group_made_it = rng_.chance(0.5) && bug_ != Bug::visible_before_durable;
    const std::size_t survives =
        group_made_it ? unsynced_.size() : rng_.below(unsynced_.size() + 1);
    journal_.insert(journal_.end(), unsynced_.begin(),
                    unsynced_.begin() + static_cast<std::ptrdiff_t>(survives));
    unsynced_.clear();
    for (Writer* writer : std::exchange(syncing_, {})) {
        if (group_made_it) apply(std::move(writer->changes), journal_);
        writer->answer = std::unexpected(kDown);
        writer->done.ring();
    }
    for (Writer* writer : std::exchange(gathering_, {})) {
        writer->answer = std::unexpected(kDown);
        writer->done.ring();
    }
    rebuild();
    down_until_ = clock_.now() + outage;
    const Time back = down_until_;
    Op extend = [back](Index& index) { extend_leases(index, back); };
    extend(*index_);
    journal_.push_back(std::move(extend));
}

Async<Result<std::vector<domain::Record>>> SimStore::claim(stores::ClaimRequest request) {
    if (is_down()) co_return std::unexpected(kDown);
    const Time now = clock_.now();
    auto claimed = index_->claim(request, now);
    // Also a claim that found nothing: it may have moved lanes, and the replay must go the same way.
    unsynced_.emplace_back(
        [request = std::move(request), now](Index& index) { index.claim(request, now); });
    co_return claimed;
}

Async<Result<std::vector<stores::Renewed>>> SimStore::renew(std::vector<stores::Renewal> renewals) {
    if (is_down()) co_return std::unexpected(kDown);
    std::vector<stores::Renewed> renewed;
    const Time now = clock_.now();
    for (stores::Renewal& renewal : renewals) {
        if (bug_ == Bug::deaf_to_renewals) {
            const auto record = index_->load({domain::Kind::task, renewal.id});
            const bool held =
                record && record->header.is_held() && record->header.fence() == renewal.fence;
            renewed.push_back({held, now + std::chrono::seconds{3}, false, false});
            continue;
        }
        renewed.push_back(index_->renew(renewal, now));
        unsynced_.emplace_back(
            [renewal = std::move(renewal), now](Index& index) { index.renew(renewal, now); });
    }
    co_return renewed;
}

Async<Result<std::vector<std::optional<domain::Record>>>> SimStore::load(
    std::vector<domain::Key> keys) {
    if (is_down()) co_return std::unexpected(kDown);
    std::vector<std::optional<domain::Record>> records;
    for (const domain::Key& key : keys) records.push_back(index_->load(key));
    co_return records;
}

Async<Result<std::vector<domain::Record>>> SimStore::due(std::size_t limit) {
    if (is_down()) co_return std::unexpected(kDown);
    const Time now = clock_.now();
    if (bug_ == Bug::promote_twice) {  // everybody gets everything that is due, again and again
        std::vector<domain::Record> due;
        const stores::Page page = index_->list({}, {}, SIZE_MAX, SIZE_MAX);
        for (const stores::ListRow& row : page.rows) {
            if (!is_set(row.header.wake_at) || row.header.wake_at > now) continue;
            due.push_back(*index_->load(row.header.key()));
            due.back().header.wake_at = now + stores::kDuePush;
        }
        co_return due;
    }
    auto due = index_->due(limit, now);
    if (!due.empty()) unsynced_.emplace_back([limit, now](Index& index) { index.due(limit, now); });
    co_return due;
}

Async<Result<stores::Page>> SimStore::list(stores::Filter filter, std::string cursor,
                                           std::size_t limit, std::size_t budget) {
    if (is_down()) co_return std::unexpected(kDown);
    co_return index_->list(filter, cursor, limit, budget);
}

Async<Result<stores::Stats>> SimStore::stats() {
    if (is_down()) co_return std::unexpected(kDown);
    co_return index_->stats();
}

std::vector<SimulatedStore::Sight> SimStore::tasks() {
    std::vector<Sight> sights;
    for (stores::ListRow& row : index_->list({}, {}, SIZE_MAX, SIZE_MAX).rows)
        sights.push_back({std::move(row)});
    return sights;
}

std::optional<domain::Header> SimStore::header(const domain::Key& key) {
    auto record = index_->load(key);
    return record ? std::optional(std::move(record->header)) : std::nullopt;
}

std::vector<domain::Transition> SimStore::rows(const domain::Key& key) {
    auto rows = index_->history(key);
    if (const auto stray = stray_rows_.find(key.id); stray != stray_rows_.end()) {
        for (const auto& [version, row] : stray->second) {
            const std::size_t place = std::min<std::size_t>(version - 1, rows.size());
            rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(place), row);
        }
    }
    return rows;
}

Async<Result<std::vector<domain::Transition>>> SimStore::history(domain::Key key) {
    if (is_down()) co_return std::unexpected(kDown);
    co_return rows(key);
}

Async<Result<std::vector<stores::LogEntry>>> SimStore::log(std::string log, Uuid owner,
                                                           std::size_t skip, std::size_t limit) {
    if (is_down()) co_return std::unexpected(kDown);
    co_return index_->log(log, owner, skip, limit);
}

Async<Result<stores::FeedPage>> SimStore::feed(std::string cursor, std::size_t limit) {
    if (is_down()) co_return std::unexpected(kDown);
    stores::FeedPage page = index_->feed(cursor, limit);
    const auto synced = co_await commit({});  // it may show claims that are not on disk yet
    if (!synced) co_return std::unexpected(synced.error());
    co_return page;
}

Async<Result<std::vector<std::int64_t>>> SimStore::count(std::vector<stores::Tally> tallies) {
    if (is_down()) co_return std::unexpected(kDown);
    std::vector<std::int64_t> counts;
    for (const stores::Tally& tally : tallies) counts.push_back(index_->count(tally, clock_.now()));
    co_return counts;
}

Async<Result<std::size_t>> SimStore::trim(stores::TrimRequest request) {
    if (is_down()) co_return std::unexpected(kDown);
    const Time now = clock_.now();
    const std::size_t gone = index_->trim(request, now);
    unsynced_.emplace_back(
        [request = std::move(request), now](Index& index) { index.trim(request, now); });
    co_return gone;
}

Async<Result<Time>> SimStore::clock() {
    if (is_down()) co_return std::unexpected(kDown);
    co_return clock_.now();
}

}  // namespace holdfast::simulation
