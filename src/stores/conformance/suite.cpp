#include "stores/conformance/suite.h"

#include <thread>

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPageRows = 50;
constexpr std::size_t kMostPages = 10'000;  // more: the store goes round in a circle

int cases = 0;

}  // namespace

int Suite::cases_run() {
    return cases;
}

void Suite::TearDown() {
    if (!IsSkipped()) ++cases;
}

std::string Suite::reason_to_skip(const std::vector<Ability>& needs) const {
    for (const Ability ability : needs) {
        if (!can(ability))
            return GetParam().name + " does not offer: " + std::string(to_string(ability));
    }
    return {};
}

Fixture& Suite::fixture() {
    if (!fixture_) fixture_ = GetParam().open();
    return *fixture_;
}

// ---- time ----

Duration Suite::moment() const {
    return can(Ability::time_control) ? Duration{10s} : Duration{400ms};
}

void Suite::pass(Duration d) {
    if (can(Ability::time_control)) return fixture().advance(d);
    const Time until = now() + d;
    while (now() < until) std::this_thread::sleep_for(5ms);
}

// ---- writing ----

Uuid Suite::new_id(Partition partition) {
    return mint_.mint(partition, now());
}

Change Suite::decided(const Record& record, const domain::Command& command) {
    auto decision = domain::decide(record, command, now());
    if (!decision)
        throw std::logic_error("decide() refused: " + std::string(to_string(decision.error())));
    return *std::move(decision);
}

std::vector<Outcome> Suite::commit_all(std::vector<Change> changes) {
    for (Change& change : changes) {
        if (change.nonce == 0) change.nonce = ++last_nonce_;
    }
    const std::size_t asked = changes.size();
    auto outcomes = ask(store().commit(std::move(changes)));
    if (outcomes.size() != asked) throw std::runtime_error("not one outcome per change");
    return outcomes;
}

Outcome Suite::commit(Change change) {
    return commit_all({std::move(change)}).front();
}

Record Suite::apply(Change change) {
    const Key key = change.puts.at(0).header.key();
    const Outcome outcome = commit(std::move(change));
    if (outcome.verdict != Verdict::committed)
        throw std::runtime_error("not committed: " + testing::PrintToString(outcome.verdict) + ' ' +
                                 outcome.reason);
    auto record = find(key);
    if (!record) throw std::runtime_error("committed, but not to be found");
    return *std::move(record);
}

// ---- claiming ----

ClaimRequest Suite::asking(std::string queue, std::uint32_t max) {
    ClaimRequest request;
    request.queues.emplace_back().name = std::move(queue);
    request.worker = "worker-1";
    request.max = max;
    return request;
}

std::vector<Uuid> Suite::claim_ids(ClaimRequest request) {
    return ids_of(claim(std::move(request)));
}

Record Suite::claim_one(std::string queue) {
    auto claimed = claim(asking(queue));
    if (claimed.size() != 1) throw std::runtime_error("nothing to be claimed from " + queue);
    return std::move(claimed.front());
}

Renewed Suite::renew(const Record& held, Duration lease) {
    Renewal renewal;
    renewal.id = held.header.id;
    renewal.fence = held.header.fence();
    renewal.lease = lease;
    return ask(store().renew({std::move(renewal)})).at(0);
}

// ---- reading ----

std::optional<Record> Suite::find(Key key) {
    return std::move(ask(store().load({key})).at(0));
}

Record Suite::load(const Uuid& id) {
    auto record = find({domain::Kind::task, id});
    if (!record) throw std::runtime_error("there is no task " + id.text());
    return *std::move(record);
}

std::vector<Uuid> Suite::due_ids(std::size_t limit) {
    return ids_of(due(limit));
}

std::vector<ListRow> Suite::list_all(Filter filter) {
    std::vector<ListRow> rows;
    std::string cursor;
    for (std::size_t pages = 0; pages < kMostPages; ++pages) {
        Page page = ask(store().list(filter, cursor, kPageRows, kListBudget));
        std::ranges::move(page.rows, std::back_inserter(rows));
        if (page.next.empty()) return rows;
        cursor = std::move(page.next);
    }
    throw std::runtime_error("list comes to no end");
}

Counted Suite::counts() {
    Counted counted;
    for (const QueueCounts& row : ask(store().stats()).queues) {
        for (std::size_t s = 0; s < domain::kStates; ++s) {
            if (row.by_state[s] != 0)
                counted[{row.queue, row.type, static_cast<State>(s)}] += row.by_state[s];
        }
    }
    return counted;
}

CountedFailures Suite::failures() {
    CountedFailures counted;
    for (const FailureCounts& row : ask(store().stats()).failures) {
        for (std::size_t s = 0; s < domain::kStates; ++s) {
            if (row.by_state[s] != 0)
                counted[{row.fingerprint, static_cast<State>(s)}] += row.by_state[s];
        }
    }
    return counted;
}

std::vector<std::pair<std::string, Bytes>> Suite::log(std::string name, const Uuid& owner,
                                                      std::size_t skip, std::size_t limit) {
    std::vector<std::pair<std::string, Bytes>> entries;
    for (LogEntry& entry : ask(store().log(std::move(name), owner, skip, limit)))
        entries.emplace_back(std::move(entry.key), std::move(entry.bytes));
    return entries;
}

std::vector<domain::FeedEvent> Suite::read_feed(std::string& cursor) {
    std::vector<domain::FeedEvent> events;
    for (std::size_t pages = 0; pages < kMostPages; ++pages) {
        FeedPage page = ask(store().feed(cursor, kPageRows));
        cursor = std::move(page.next);
        if (page.events.empty()) return events;
        std::ranges::move(page.events, std::back_inserter(events));
    }
    throw std::runtime_error("the feed comes to no end");
}

std::vector<domain::FeedEvent> Suite::whole_feed() {
    std::string cursor;
    return read_feed(cursor);
}

std::vector<domain::FeedEvent> Suite::feed_of(const Key& key) {
    std::vector<domain::FeedEvent> events;
    for (domain::FeedEvent& event : whole_feed()) {
        if (event.subject == key && (events.empty() || events.back() != event))
            events.push_back(std::move(event));
    }
    return events;
}

std::int64_t Suite::tally(Tally::Of of, std::string name, Partition partition) {
    return ask(store().count({Tally{of, partition, std::move(name)}})).at(0);
}

Sight Suite::look(const Look& at) {
    Sight sight;
    sight.records = ask(store().load(at.keys));
    if (can(Ability::history)) {
        for (const Key& key : at.keys) sight.histories.push_back(history(key));
    }
    if (can(Ability::logs)) {
        for (const auto& [name, owner] : at.logs) sight.logs.push_back(log(name, owner));
    }
    if (can(Ability::counters) && can(Ability::permits))
        sight.tallies = ask(store().count(at.tallies));
    if (can(Ability::list)) {
        for (ListRow& row : list_all()) sight.list.emplace_back(std::move(row.header), row.in_lane);
    }
    if (can(Ability::feed)) sight.feed = whole_feed();
    if (can(Ability::stats)) {
        sight.counts = counts();
        sight.failures = failures();
    }
    return sight;
}

std::vector<Uuid> ids_of(const std::vector<Record>& records) {
    std::vector<Uuid> ids;
    ids.reserve(records.size());
    for (const Record& record : records) ids.push_back(record.header.id);
    return ids;
}

}  // namespace holdfast::stores::conformance
