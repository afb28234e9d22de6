#include "oracle.h"

#include <algorithm>
#include <numeric>
#include <ranges>

namespace holdfast::simulation {
namespace {

domain::Key task_key(const Uuid& id) {
    return {domain::Kind::task, id};
}

/// The stage a checkpoint was written for, whatever a planted bug hung on its key.
std::string stage_of(const std::string& key) {
    return key.substr(0, key.find('#'));
}

}  // namespace

void Oracle::fail(std::string invariant, const std::string& detail) {
    if (!violation_) violation_ = Violation{std::move(invariant), detail};
}

void Oracle::accepted(const engine::Receipt& receipt, const std::string& key) {
    accepted_.emplace(receipt.id, key);
    if (key.empty()) return;
    const auto [known, fresh] = keys_.emplace(key, receipt.id);
    if (!fresh && known->second != receipt.id)
        fail("I9", "idempotency key " + key + " made " + known->second.text() + " and " +
                       receipt.id.text());
}

void Oracle::claimed(const domain::Header& h) {
    auto& claims = claims_[h.id];
    if (!claims.empty() && claims.rbegin()->first > h.epoch && claims.rbegin()->second < h.version)
        fail("I3", "the epoch of " + h.id.text() + " did not grow");
    if (!claims.emplace(h.epoch, h.version).second)
        fail("I3", "an epoch of " + h.id.text() + " was minted twice");
    if (const auto end = final_.find(h.id); end != final_.end() && end->second.version < h.version)
        fail("I2", h.id.text() + " was handed out after it was over");
}

void Oracle::answered(const Uuid& id, domain::Event event, std::optional<domain::Fence> fence,
                      const engine::Done& done) {
    if (done.duplicate) return;
    promises_[id].push_back({done.version, event, fence});
    if (domain::is_final(done.state)) ended(id, done.state, done.version);
    if (!fence) return;
    const auto& claims = claims_[id];
    for (auto later = claims.upper_bound(fence->epoch); later != claims.end(); ++later) {
        if (later->second < done.version)
            fail("I4", "a write of " + id.text() + " under an older epoch was accepted");
    }
    if (event == domain::Event::completed && done.state == domain::State::succeeded) {
        const auto [first, fresh] = completed_.emplace(id, *fence);
        if (!fresh && first->second != *fence) fail("I2", id.text() + " was completed twice");
    }
}

void Oracle::ended(const Uuid& id, domain::State state, std::uint64_t version) {
    const auto [known, fresh] = final_.emplace(id, Ending{state, version});
    if (!fresh && known->second.state != state)
        fail("I2", id.text() + " ended as " + std::string(to_string(known->second.state)) +
                       " and as " + std::string(to_string(state)));
}

void Oracle::stage_written(const Uuid& id, const std::string& stage) {
    stages_[id].insert(stage);
}

void Oracle::renewed(const Uuid& id, domain::Fence fence, Time lease_until) {
    Time& until = leases_[{id, fence.epoch}];
    until = std::max(until, lease_until);
}

void Oracle::seen(const domain::Header& h) {
    const auto known = final_.find(h.id);
    if (known != final_.end() && h.version > known->second.version)
        fail("I1", h.id.text() + " was " + std::string(to_string(known->second.state)) +
                       " and is " + std::string(to_string(h.state)));
    if (domain::is_final(h.state)) ended(h.id, h.state, h.version);
}

void Oracle::read(const domain::Header& h) {
    seen(h);
    // The stamp of a claim may be lost.
    if (!h.is_held()) sightings_[h.id].insert({h.version, h.state});
}

void Oracle::listed(const std::vector<stores::ListRow>& rows, const std::set<Uuid>& accepted) {
    std::set<Uuid> there;
    for (const stores::ListRow& row : rows) {
        read(row.header);
        if (!there.insert(row.header.id).second)
            fail("list", row.header.id.text() + " was listed twice");
    }
    for (const Uuid& id : accepted) {
        if (!there.contains(id)) fail("list", id.text() + " was not listed");
    }
}

void Oracle::followed(const std::string& asked_from, const stores::FeedPage& page) {
    if (asked_from != feed_place_) return;  // we have been there
    feed_place_ = page.next;
    if (page.reset) fail("I10", "the feed lost its beginning");
    followed_.insert(followed_.end(), page.events.begin(), page.events.end());
}

void Oracle::counted(const stores::Stats& stats, std::size_t accepted) {
    std::uint64_t sum = 0;
    for (const stores::QueueCounts& counts : stats.queues)
        sum = std::accumulate(counts.by_state.begin(), counts.by_state.end(), sum);
    if (sum < accepted)
        fail("stats", std::to_string(sum) + " tasks were counted, and " + std::to_string(accepted) +
                          " accepted");
}

std::set<Uuid> Oracle::tasks() const {
    const auto ids = std::views::keys(accepted_);
    return {ids.begin(), ids.end()};
}

void Oracle::check_place(const stores::ListRow& row) {
    const domain::Header& h = row.header;
    const bool cared_for =
        row.in_lane || is_set(h.wake_at) || domain::is_parked(h.state) || domain::is_final(h.state);
    if (!cared_for)
        fail("I11",
             h.id.text() + " is " + std::string(to_string(h.state)) + " and nothing will wake it");
    if ((h.state == domain::State::queued) != row.in_lane)
        fail("I11", h.id.text() + " is " + std::string(to_string(h.state)) +
                        " and its lane says otherwise");
}

void Oracle::check_history(const domain::Header& h) {
    const auto rows = store_.rows(h.key());
    if (rows.size() != h.version) {
        fail("I10", h.id.text() + " is at version " + std::to_string(h.version) + " with " +
                        std::to_string(rows.size()) + " rows of history");
        return;
    }
    domain::State state = domain::State::none;
    for (const domain::Transition& row : rows) {
        if (row.from != state || !domain::is_allowed({row.from, row.event, row.to}))
            fail("I10", h.id.text() + " went from " + std::string(to_string(state)) + " by " +
                            std::string(to_string(row.event)) + " to " +
                            std::string(to_string(row.to)));
        state = row.to;
    }
    if (state != h.state) fail("I10", "the history of " + h.id.text() + " ends in another state");
    for (const Promise& promise : promises_[h.id]) {
        const bool kept = promise.version <= rows.size() &&
                          (rows[promise.version - 1].event == promise.event ||
                           rows[promise.version - 1].event == domain::Event::cancelled);
        if (kept && promise.fence && rows[promise.version - 1].attempt != promise.fence->attempt)
            fail("I4", "a late " + std::string(to_string(promise.event)) +
                           " spoke for another attempt of " + h.id.text());
        if (!kept)
            fail("I1", "an answered " + std::string(to_string(promise.event)) + " of " +
                           h.id.text() + " is gone");
    }
    for (const Sighting& sighting : sightings_[h.id]) {
        if (sighting.version > rows.size() || rows[sighting.version - 1].to != sighting.state)
            fail("I1", h.id.text() + " was read as " + std::string(to_string(sighting.state)) +
                           " and never was");
    }
    if (!rows.empty() && rows.back().event == domain::Event::lease_ended) {
        const auto lease = leases_.find({h.id, h.epoch});
        if (lease != leases_.end() && rows.back().at < lease->second)
            fail("I4",
                 "the lease of " + h.id.text() + " ended before the time its worker was given");
    }
}

void Oracle::check_permits(const std::vector<SimulatedStore::Sight>& tasks, Time now) {
    std::map<std::string, std::pair<std::int64_t, std::uint32_t>> gates;
    for (const SimulatedStore::Sight& task : tasks) {
        const domain::Header& h = task.row.header;
        if (h.gate.empty()) continue;
        auto& [holders, limit] = gates[h.gate];
        limit = h.gate_limit;
        holders += h.is_held() ? 1 : 0;
    }
    for (const auto& [gate, use] : gates) {
        const std::int64_t tally = store_.tally({stores::Tally::Of::permit, {}, gate}, now);
        if (tally != use.first)
            fail("I5", "gate " + gate + " counts " + std::to_string(tally) + " and has " +
                           std::to_string(use.first));
        if (use.first > use.second) fail("I6", "gate " + gate + " has more holders than its limit");
    }
}

void Oracle::check_now(Time now) {
    if (const auto complaint = store_.complaint()) fail("store", *complaint);
    if (!store_.is_open()) return;
    const auto tasks = store_.tasks();
    for (const auto& [row, durable] : tasks) {
        Checked& checked = checked_[row.header.id];
        const Checked state{row.header.version, durable};
        if (checked == state && crashes_seen_ == store_.crashes()) continue;
        checked = state;
        check_place(row);
        check_history(row.header);
        if (durable) seen(row.header);  // else nobody was told
    }
    check_permits(tasks, now);
    if (crashes_seen_ != store_.crashes()) {
        crashes_seen_ = store_.crashes();
        check_everything();
    }
}

/// What a reader of the feed was given is not taken back, and nothing is put before it.
void Oracle::check_followed() {
    const auto events = store_.events();
    const auto [told, is] = std::ranges::mismatch(followed_, events);
    if (told != followed_.end())
        fail("I10", "the feed told of " + told->name + " of " + told->subject.id.text() +
                        ", and then of " + (is == events.end() ? "nothing" : is->name));
}

void Oracle::check_everything() {
    check_followed();
    for (const auto& [id, key] : accepted_) {
        if (!store_.header(task_key(id))) fail("I1", "the accepted task " + id.text() + " is gone");
    }
    for (const auto& [id, claims] : claims_) {
        if (!store_.header(task_key(id))) fail("I1", id.text() + " was handed out and is gone");
    }
    for (const auto& [id, end] : final_) {
        const auto header = store_.header(task_key(id));
        if (!header || header->state != end.state)
            fail("I1",
                 id.text() + " had ended as " + std::string(to_string(end.state)) + " and has not");
    }
    for (const auto& [id, stages] : stages_) {
        std::map<std::string, int> written;
        for (const auto& entry : store_.entries(domain::kCheckpointLog, id))
            ++written[stage_of(entry.key)];
        for (const std::string& stage : stages) {
            if (!written.contains(stage))
                fail("I7", "stage " + stage + " of " + id.text() + " is gone");
        }
        for (const auto& [stage, times] : written) {
            if (times > 1) fail("I7", "stage " + stage + " of " + id.text() + " was written twice");
        }
    }
}

void Oracle::check_finished() {
    check_everything();
    for (const auto& [row, durable] : store_.tasks()) {
        if (!domain::is_final(row.header.state))
            fail("I11", row.header.id.text() + " is still " +
                            std::string(to_string(row.header.state)) +
                            " after everything went well for minutes");
    }
}

void Oracle::check_feed() {
    std::map<Uuid, std::uint64_t> versions;
    std::map<Uuid, int> endings;
    for (const domain::FeedEvent& event : store_.events()) {
        if (event.subject.kind != domain::Kind::task) continue;
        if (event.version != versions[event.subject.id] + 1)
            fail("I10", "the feed of " + event.subject.id.text() + " jumps to version " +
                            std::to_string(event.version));
        versions[event.subject.id] = event.version;
        if (domain::is_final(event.to)) ++endings[event.subject.id];
    }
    for (const auto& [id, version] : versions) {
        const auto header = store_.header(task_key(id));
        if (!header || header->version != version)
            fail("I10", "the feed of " + id.text() + " is not complete");
        if (endings[id] > 1) fail("I10", id.text() + " ended more than once in the feed");
    }
}

void Oracle::check_account(const Uuid& account, std::int64_t opening) {
    const auto ledger = store_.entries("ledger", account);
    const std::int64_t balance = store_.tally({stores::Tally::Of::counter, {}, "balance"}, Time{});
    if (balance + static_cast<std::int64_t>(ledger.size()) != opening)
        fail("I8", "the account holds " + std::to_string(balance) + " with " +
                       std::to_string(ledger.size()) + " rows");
    std::set<std::string> rows;
    for (const auto& row : ledger) {
        if (!rows.insert(stage_of(row.key)).second)
            fail("I8", "ledger row " + row.key + " was written twice");
    }
    for (const std::string& key : spent_) {
        if (!rows.contains(key))
            fail("I8", "the acknowledged spending " + key + " is not in the ledger");
    }
}

}  // namespace holdfast::simulation
