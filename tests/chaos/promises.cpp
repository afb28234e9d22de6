#include "promises.h"

#include <algorithm>

#include "load.h"

namespace holdfast::chaos {
namespace {

using domain::Event;
using domain::State;

constexpr std::size_t kPage = 500;
constexpr std::size_t kKeysTried = 10;

std::string text(State state) {
    return std::string(to_string(state));
}
std::string text(Event event) {
    return std::string(to_string(event));
}

/// How history may call what was asked for: a request is kept as one, and a requested cancel comes true at any step.
bool is_told_as(Event asked, Event row) {
    return row == asked || row == Event::cancelled ||
           (asked == Event::paused && row == Event::pause_requested) ||
           (asked == Event::cancelled && row == Event::cancel_requested);
}

}  // namespace

void Promises::fail(const std::string& invariant, const std::string& detail) {
    if (!violation_ || violation_->is_loss) violation_ = {invariant + ": " + detail, false};
}

void Promises::lost(const std::string& invariant, const std::string& detail) {
    if (!violation_) violation_ = {invariant + ": " + detail, true};
}

template <class T>
bool Promises::read(const Result<T>& answer) {
    if (!answer)
        fail("read", std::string(to_string(answer.error().code)) + ", " + answer.error().detail);
    return answer.has_value();
}

void Promises::expect(const Result<>& answer) {
    read(answer);
}

// ---- hearing ----

void Promises::hear(const Told& told) {
    ++heard_;
    switch (told.what) {
        case Told::What::accepted: {
            accepted_.insert(told.id);
            if (told.text.empty()) break;
            key_of_.emplace(told.id, told.text);
            const auto [known, fresh] = keys_.emplace(told.text, told.id);
            if (!fresh && known->second != told.id)
                fail("I9", "key " + told.text + " made " + known->second.text() + " and " +
                               told.id.text());
            break;
        }
        case Told::What::claimed:
            hear_claim(told);
            break;
        case Told::What::
            seen:  // the claim stamp is shown before it is on disk, and nothing else is
            if (!domain::is_held(told.state))
                steps_[told.id].push_back({Event::none, told.state, 0, told.version});
            break;
        case Told::What::stepped:
            hear_step(told);
            break;
        case Told::What::staged:
            stages_[told.id].insert(told.text);
            break;
        case Told::What::signalled:
            signals_[told.id].insert(told.text);
            break;
        case Told::What::spent:
            spent_.insert(told.text);
            break;
        case Told::What::limited:
            limits_[told.text] = std::max(limits_[told.text], told.version);
            break;
    }
}

void Promises::hear_claim(const Told& told) {
    auto& claims = claims_[told.id];
    if (!claims.empty() && claims.rbegin()->first > told.epoch &&
        claims.rbegin()->second < told.version)
        fail("I3", "the epoch of " + told.id.text() + " did not grow");
    if (!claims.emplace(told.epoch, told.version).second)
        fail("I3", "an epoch of " + told.id.text() + " was minted twice");
    // Answers overtake one another: a claim may be heard of after the end that came after it.
    const auto ending = final_.find(told.id);
    if (ending != final_.end() &&
        (ending->second.looked_at ||
         (ending->second.version > 0 && told.version > ending->second.version)))
        fail("I2", told.id.text() + " was handed out after it was over");
}

void Promises::hear_step(const Told& told) {
    if (domain::is_final(told.state)) {
        const auto [known, fresh] = final_.try_emplace(told.id, told.state, told.version);
        if (!fresh && known->second.state != told.state)
            fail("I2", told.id.text() + " ended as " + text(known->second.state) + " and as " +
                           text(told.state));
        if (known->second.version == 0) known->second.version = told.version;
    }
    if (told.version == 0) return;  // it had been done before
    steps_[told.id].push_back({told.event, told.state, told.attempt, told.version});
    for (const auto& [epoch, version] : claims_[told.id]) {
        if (told.attempt > 0 && epoch > told.epoch && version < told.version)
            fail("I4", "a write of " + told.id.text() + " under an older epoch was accepted");
    }
    if (told.event == Event::completed && told.state == State::succeeded &&
        !results_.emplace(told.id, told.text).second)
        fail("I2", told.id.text() + " was completed twice");
}

// ---- looking ----

Async<void> Promises::check(engine::Engine* engine) {
    const Rows rows = co_await survey(engine);
    if (broken()) co_return;
    check_existence(rows);
    for (const stores::ListRow& row : rows) check_place(row);
    co_await check_counts(engine, &rows);
    co_await check_permits(engine, &rows);
    for (const stores::ListRow& row : rows) {
        const domain::Header& h = row.header;
        const auto known = checked_.find(h.id);
        if (known != checked_.end() && known->second == h.version && !rng_.chance(0.1)) continue;
        co_await check_task(engine, h);
        if (broken()) co_return;
        if (domain::is_final(h.state)) checked_[h.id] = h.version;
    }
    co_await check_ledger(engine);
    co_await check_queues(engine);
    co_await check_feed(engine, &rows);
    co_await check_keys(engine);
}

Async<Promises::Rows> Promises::survey(engine::Engine* engine) {
    Rows rows;
    std::set<Uuid> ids;
    std::string cursor;
    do {
        auto page = co_await engine->store().list({}, cursor, kPage, stores::kListBudget);
        if (!read(page)) break;
        for (stores::ListRow& row : page->rows) {
            if (!ids.insert(row.header.id).second)
                fail("P25", row.header.id.text() + " is listed twice");
            rows.push_back(std::move(row));
        }
        cursor = std::move(page->next);
    } while (!cursor.empty());
    co_return rows;
}

void Promises::check_existence(const Rows& rows) {
    std::map<Uuid, State> there;
    for (const stores::ListRow& row : rows) there[row.header.id] = row.header.state;
    for (const Uuid& id : accepted_) {
        if (!there.contains(id)) lost("I1", "the accepted task " + id.text() + " is gone");
    }
    for (const auto& [id, claims] : claims_) {
        if (!there.contains(id)) lost("I1", id.text() + " was handed out and is gone");
    }
    for (auto& [id, ending] : final_) {
        if (there.contains(id) && there[id] != ending.state)
            lost("I1",
                 id.text() + " had ended as " + text(ending.state) + " and is " + text(there[id]));
        ending.looked_at = true;
    }
}

void Promises::check_place(const stores::ListRow& row) {
    const domain::Header& h = row.header;
    const bool cared_for =
        row.in_lane || is_set(h.wake_at) || domain::is_parked(h.state) || domain::is_final(h.state);
    if (!cared_for) fail("I11", h.id.text() + " is " + text(h.state) + " and nothing will wake it");
    if ((h.state == State::queued) != row.in_lane)
        fail("I11", h.id.text() + " is " + text(h.state) + " and its lane says otherwise");
}

Async<void> Promises::check_counts(engine::Engine* engine, const Rows* rows) {
    const auto stats = co_await engine->stats();
    if (!read(stats)) co_return;
    std::map<std::pair<std::string, std::string>, ByState> expected, counted;
    std::map<std::uint64_t, ByState> failures, counted_failures;
    for (const stores::ListRow& row : *rows) {
        const domain::Header& h = row.header;
        ++expected[{h.queue, h.type}][static_cast<std::size_t>(h.state)];
        if (h.fingerprint != 0) ++failures[h.fingerprint][static_cast<std::size_t>(h.state)];
    }
    for (const stores::QueueCounts& c : stats->queues) counted[{c.queue, c.type}] = c.by_state;
    for (const stores::FailureCounts& c : stats->failures)
        counted_failures[c.fingerprint] = c.by_state;
    for (const auto& [family, by_state] : expected) counted.try_emplace(family);
    for (const auto& [family, by_state] : counted)
        compare(family.first + '/' + family.second, by_state, expected[family]);
    for (const auto& [print, by_state] : failures) counted_failures.try_emplace(print);
    for (const auto& [print, by_state] : counted_failures)
        compare("failure " + std::to_string(print), by_state, failures[print]);
}

void Promises::compare(const std::string& what, const ByState& counted, const ByState& there) {
    for (std::size_t i = 0; i < domain::kStates; ++i) {
        if (counted[i] == there[i]) continue;
        fail("P11", what + " counts " + std::to_string(counted[i]) + " as " +
                        text(static_cast<State>(i)) + " and has " + std::to_string(there[i]));
    }
}

Async<void> Promises::check_permits(engine::Engine* engine, const Rows* rows) {
    std::map<std::string, std::int64_t> holders;
    for (const stores::ListRow& row : *rows) {
        const domain::Header& h = row.header;
        if (!h.gate.empty()) holders[h.gate] += h.holds_gate ? 1 : 0;
        holders[domain::queue_permit(h.queue)] += h.holds_queue_permit ? 1 : 0;
    }
    std::vector<stores::Tally> tallies;
    for (const auto& [name, count] : holders)
        tallies.push_back({stores::Tally::Of::permit, {}, name});
    const auto counts = co_await engine->store().count(tallies);
    if (!read(counts)) co_return;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
        const std::string& name = tallies[i].name;
        if ((*counts)[i] != holders[name])
            fail("I5", "permit " + name + " counts " + std::to_string((*counts)[i]) + " and has " +
                           std::to_string(holders[name]));
    }
}

// ---- one task ----

Async<void> Promises::check_task(engine::Engine* engine, domain::Header header) {
    std::vector<domain::Key> keys;
    keys.push_back(header.key());
    const auto records = co_await engine->store().load(std::move(keys));
    if (!read(records)) co_return;
    if (!records->front()) {
        fail("I1", header.id.text() + " is listed and cannot be loaded");
        co_return;
    }
    if (records->front()->header != header)
        fail("P25", header.id.text() + " is listed with another header than it has");
    check_record(*records->front());
    const auto rows = co_await engine->store().history(header.key());
    if (!read(rows)) co_return;
    check_history(header, *rows);
    co_await check_logs(engine, std::move(header));
}

void Promises::check_record(const domain::Record& record) {
    const domain::Header& h = record.header;
    if (record.body.empty()) fail("I1", "the body of " + h.id.text() + " is gone");
    if (const auto told = results_.find(h.id); told != results_.end()) {
        const Json outcome = Json::stored(record.outcome.view());
        if (outcome.member("result").text() != told->second)
            lost("I1", "the result of " + h.id.text() + " is not the one its worker gave");
    }
    if (h.type != "keyed" || h.revision > 0) return;
    const auto key = key_of_.find(h.id);
    if (key != key_of_.end() &&
        !record.body.view().contains(keyed_submission(key->second).payload.text()))
        fail("I1", "the body of " + h.id.text() + " is not what was submitted");
}

void Promises::check_history(const domain::Header& h, const std::vector<domain::Transition>& rows) {
    if (rows.size() != h.version) {
        fail("I10", h.id.text() + " is at version " + std::to_string(h.version) + " with " +
                        std::to_string(rows.size()) + " rows of history");
        return;
    }
    State state = State::none;
    for (const domain::Transition& row : rows) {
        if (row.from != state || !domain::is_allowed({row.from, row.event, row.to}))
            fail("I10", h.id.text() + " went from " + text(state) + " by " + text(row.event) +
                            " to " + text(row.to));
        state = row.to;
    }
    if (state != h.state) fail("I10", "the history of " + h.id.text() + " ends in another state");
    if (std::ranges::count(rows, Event::completed, &domain::Transition::event) > 1)
        fail("I2", h.id.text() + " has two completions in its history");
    for (const Step& step : steps_[h.id]) {
        if (step.version > rows.size()) {
            lost("I1", h.id.text() + " was " + text(step.state) + " by " + text(step.event) +
                           " at version " + std::to_string(step.version) + " and is " +
                           text(h.state) + " at " + std::to_string(rows.size()));
            return;
        }
        const domain::Transition& row = rows[step.version - 1];
        const bool kept = row.to == step.state &&
                          (step.event == Event::none || is_told_as(step.event, row.event));
        if (!kept)
            lost("I1", "the step " + text(step.event) + " of " + h.id.text() + " to " +
                           text(step.state) + " is now " + text(row.event) + " to " + text(row.to));
        if (step.attempt > 0 && row.attempt != step.attempt)
            fail("I4",
                 "a late " + text(step.event) + " spoke for another attempt of " + h.id.text());
    }
}

Async<void> Promises::check_logs(engine::Engine* engine, domain::Header h) {
    struct Log {
        std::string_view name;
        std::size_t expected;
        const std::set<std::string>* told;
    };
    const std::set<std::string> nothing;
    const std::array logs{Log{domain::kCheckpointLog, h.checkpoints, &stages_[h.id]},
                          Log{domain::kSignalLog, h.signals, &signals_[h.id]},
                          Log{domain::kRevisionLog, h.revision, &nothing}};
    for (const Log& log : logs) {
        if (log.expected == 0 && log.told->empty()) continue;
        const std::string name(log.name);
        const auto entries = co_await engine->store().log(name, h.id, 0, domain::kMostLogged);
        if (!read(entries)) co_return;
        check_entries(h, name, *entries, log.expected, *log.told);
    }
}

void Promises::check_entries(const domain::Header& h, const std::string& log,
                             const Entries& entries, std::size_t expected,
                             const std::set<std::string>& told) {
    std::set<std::string> written;
    for (const stores::LogEntry& entry : entries) {
        if (!written.insert(entry.key).second)
            fail("I7", log + ' ' + entry.key + " of " + h.id.text() + " was written twice");
    }
    if (entries.size() != expected)
        fail("I7", h.id.text() + " says it has " + std::to_string(expected) + " entries of " + log +
                       " and has " + std::to_string(entries.size()));
    for (const std::string& key : told) {
        if (!written.contains(key)) lost("I7", log + ' ' + key + " of " + h.id.text() + " is gone");
    }
}

// ---- everything else ----

Async<void> Promises::check_ledger(engine::Engine* engine) {
    const auto entries = co_await engine->store().log(std::string(kLedger), kAccount, 0, 1'000'000);
    std::vector<stores::Tally> tallies;
    tallies.push_back({stores::Tally::Of::counter, {}, std::string(kSpent)});
    const auto spent = co_await engine->store().count(std::move(tallies));
    if (!read(entries) || !read(spent)) co_return;
    std::set<std::string> written;
    for (const stores::LogEntry& entry : *entries) written.insert(entry.key);
    if (written.size() != entries->size()) fail("I8", "an entry of the ledger was written twice");
    if (static_cast<std::int64_t>(written.size()) != spent->front())
        fail("I8", "the ledger has " + std::to_string(written.size()) + " entries and counts " +
                       std::to_string(spent->front()));
    for (const std::string& key : spent_) {
        if (!written.contains(key)) lost("I1", "the entry " + key + " of the ledger is gone");
    }
}

Async<void> Promises::check_queues(engine::Engine* engine) {
    for (const auto& [queue, limit] : limits_) {
        const auto settings = co_await engine->queue(queue);
        if (!read(settings)) co_return;
        if (settings->concurrency < limit)
            lost("I1", "queue " + queue + " had the limit " + std::to_string(limit) + " and has " +
                           std::to_string(settings->concurrency));
    }
}

/// A key that was used is still bound.
Async<void> Promises::check_keys(engine::Engine* engine) {
    if (keys_.empty()) co_return;
    for (std::size_t i = 0; i < kKeysTried && !broken(); ++i) {
        const auto some =
            std::next(keys_.begin(), static_cast<std::ptrdiff_t>(rng_.below(keys_.size())));
        std::vector<domain::Submission> batch;
        batch.push_back(keyed_submission(some->first));
        const auto receipts = co_await engine->submit(std::move(batch));
        if (!read(receipts.front())) co_return;
        if (receipts.front()->id != some->second || !receipts.front()->duplicate)
            lost("I9", "key " + some->first + " has forgotten " + some->second.text());
    }
}

/// Every version of every task, in order; what was told twice may be.
Async<void> Promises::check_feed(engine::Engine* engine, const Rows* rows) {
    std::map<Uuid, std::uint64_t> versions;
    std::string cursor;
    for (;;) {
        auto page = co_await engine->feed(cursor, 1000);
        if (!read(page)) co_return;
        if (page->reset) co_return;  // the oldest were trimmed
        for (const domain::FeedEvent& event : page->events) {
            if (event.subject.kind != domain::Kind::task) continue;
            std::uint64_t& last = versions[event.subject.id];
            if (event.version > last + 1)
                fail("I10", "the feed of " + event.subject.id.text() + " jumps from version " +
                                std::to_string(last) + " to " + std::to_string(event.version));
            last = std::max(last, event.version);
        }
        if (page->events.empty()) break;
        cursor = std::move(page->next);
    }
    for (const stores::ListRow& row : *rows) {
        if (versions[row.header.id] != row.header.version)
            fail("I10", "the feed of " + row.header.id.text() + " ends at version " +
                            std::to_string(versions[row.header.id]) + " of " +
                            std::to_string(row.header.version));
    }
}

}  // namespace holdfast::chaos
