// Accepting work. A receipt is given for what the store has committed, and for nothing else.
#include <algorithm>

#include "engine/engine.h"
#include "engine/in_flight.h"

namespace holdfast::engine {
namespace {

std::vector<std::string> queues_of(const std::vector<domain::Submission>& submissions) {
    std::vector<std::string> names;
    for (const domain::Submission& s : submissions) {
        if (domain::is_name(s.queue) && std::ranges::find(names, s.queue) == names.end())
            names.push_back(s.queue);
    }
    return names;
}

std::size_t place_of(const std::vector<std::string>& names, const std::string& queue) {
    return static_cast<std::size_t>(std::ranges::find(names, queue) - names.begin());
}

Result<> check_intake(domain::Submission& s, const std::vector<std::string>& names,
                      const std::vector<QueueSettings>& settings, Time now) {
    TRY_VOID(validate(s, now));
    const QueueSettings& queue = settings[place_of(names, s.queue)];
    if (queue.closed)
        return refuse(Code::overloaded,
                      "queue " + s.queue + " is closed for new work by an operator");
    s.lane_by_type = queue.lanes_by_type;
    return {};
}

/// A submission on its way into the store. Id and nonce stay the same over all tries, so that a try whose reply
/// was lost is recognised.
struct Entry {
    std::size_t place;
    TaskId id;
    std::uint64_t nonce;
    State state = State::none;
};

Result<Receipt> receipt(const stores::Outcome& outcome, const Entry& entry,
                        const domain::Submission& s) {
    switch (outcome.verdict) {
        case stores::Verdict::committed:
        case stores::Verdict::
            conflict:  // it exists: our own earlier try, nobody else mints this id
            return Receipt{entry.id, entry.state, false};
        case stores::Verdict::duplicate:
            if (outcome.bound_hash == content_hash(s))
                return Receipt{outcome.bound_to, State::none, true};
            return std::unexpected(Error{Code::conflict,
                                         "this idempotency key was used with another body",
                                         "idempotency_key"});
        case stores::Verdict::refused:
            return refuse(Code::overloaded, "refused by " + outcome.reason);
    }
    std::unreachable();
}

}  // namespace

Async<Each<Receipt>> Engine::submit(std::vector<domain::Submission> submissions) {
    const auto none = [count = submissions.size()](Error error) {
        return Each<Receipt>(count, std::unexpected(std::move(error)));
    };
    if (submissions.size() > kLargestBatch)
        co_return none(invalid("items", "has more than 1000 entries").error());
    if (in_flight_ + submissions.size() > options_.most_in_flight ||
        admission_.sheds(clock_.now(), in_flight_))
        co_return none({Code::overloaded, "too much is being written at once; try again", {}});
    InFlight flight(in_flight_, submissions.size());

    const std::vector<std::string> names = queues_of(submissions);
    const auto settings = co_await queues_.get(names);
    if (!settings) co_return none(settings.error());
    const Time at = now();
    Each<Receipt> answers(submissions.size());
    std::vector<Entry> entries;
    entries.reserve(submissions.size());
    for (std::size_t i = 0; i < submissions.size(); ++i) {
        if (Result<> ok = check_intake(submissions[i], names, *settings, at); !ok) {
            answers[i] = std::unexpected(std::move(ok).error());
            continue;
        }
        const Partition home =
            domain::home_partition(submissions[i]).value_or(mint_.random_partition());
        entries.push_back({i, mint_.mint(home, at), rng_() | 1});
    }

    Result<std::vector<stores::Outcome>> outcomes;
    for (int attempt = 0; attempt < kCommitTries && !entries.empty(); ++attempt) {
        if (attempt > 0) {
            Alarm breath(clock_, executor_);
            co_await breath.wait_for(kBreath * attempt);
        }
        std::vector<domain::Change> changes;
        changes.reserve(entries.size());
        for (Entry& entry : entries) {
            changes.push_back(decide_submit(submissions[entry.place], entry.id, at));
            changes.back().nonce = entry.nonce;
            entry.state = changes.back().puts.front().header.state;
        }
        const Time began = clock_.now();
        outcomes = co_await store_.commit(std::move(changes));
        admission_.wrote(began, clock_.now());
        if (outcomes) break;
    }
    std::vector<std::uint32_t> queued(names.size());  // by queue
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Entry& entry = entries[i];
        const domain::Submission& s = submissions[entry.place];
        answers[entry.place] =
            outcomes ? receipt((*outcomes)[i], entry, s) : std::unexpected(outcomes.error());
        if (!answers[entry.place] || answers[entry.place]->duplicate) continue;
        if (entry.state == State::queued) ++queued[place_of(names, s.queue)];
        if (witness_ != nullptr)
            witness_->saw({domain::Event::submitted, State::none, entry.state, s.queue, s.type, at,
                           kNoTime, at});
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (queued[i] > 0) announce_work(names[i], queued[i]);
    }
    co_return co_await with_states(std::move(answers));
}

/// A duplicate is answered with the state its task has now.
Async<Each<Receipt>> Engine::with_states(Each<Receipt> answers) {
    std::vector<domain::Key> keys;
    const auto wants_state = [](const Result<Receipt>& r) { return r && r->duplicate; };
    for (const Result<Receipt>& r : answers) {
        if (wants_state(r)) keys.push_back({domain::Kind::task, r->id});
    }
    if (keys.empty()) co_return answers;
    const auto records = co_await store_.load(std::move(keys));
    std::size_t next = 0;
    for (Result<Receipt>& r : answers) {
        if (!wants_state(r)) continue;
        if (!records) {
            r = std::unexpected(records.error());
        } else if (const auto& record = (*records)[next++]; record) {
            r->state = record->header.state;
        }
    }
    co_return answers;
}

}  // namespace holdfast::engine
