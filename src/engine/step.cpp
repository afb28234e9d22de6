// Read, decide, commit: the one way in which a task moves.
#include <algorithm>
#include <iterator>

#include "engine/engine.h"
#include "engine/in_flight.h"

namespace holdfast::engine {
namespace {

Done done(const domain::Header& h, bool duplicate) {
    return {h.state, duplicate, h.version, h.pause_requested, h.cancel_requested};
}

Result<Done> refused(domain::Refusal refusal, const domain::Header& h) {
    switch (refusal) {
        case domain::Refusal::already:
            return done(h, true);
        case domain::Refusal::not_found:
            return refuse(Code::not_found, "there is no such task");
        case domain::Refusal::stale_lease:
            return refuse(Code::stale_lease, "the lease is not, or no longer, this caller's");
        case domain::Refusal::too_many:
            return refuse(Code::overloaded,
                          "the task has as many stages or signals as it may have");
        case domain::Refusal::wrong_state:
        case domain::Refusal::not_due:
            return refuse(Code::wrong_state, "the task is " + std::string(to_string(h.state)));
    }
    std::unreachable();
}

/// What is needed of a header after its commit: all of it if it stays held, else next to nothing.
domain::Header to_remember(const domain::Header& h) {
    if (h.is_held()) return h;
    domain::Header brief;
    brief.id = h.id;
    brief.state = h.state;
    brief.version = h.version;
    brief.queue = h.queue;
    brief.type = h.type;
    brief.created_at = h.created_at;
    brief.started_at = h.started_at;
    return brief;
}

}  // namespace

/// What a Change leaves with us when the store has it.
struct Engine::Trace {
    domain::Header header;
    domain::Event event;
    State from;
    Time at;

    explicit Trace(const domain::Put& put)
        : header(to_remember(put.header)),
          event(put.transition.event),
          from(put.transition.from),
          at(put.transition.at) {}
};

/// One item on its way through the rounds.
struct Engine::Pending {
    std::size_t place;  ///< In asks and answers.
    Ask* ask;
    std::optional<domain::Record> record;
    bool remembered = false;  ///< The record is what we last knew of it: it may have moved since.
    std::uint64_t nonce =
        0;  ///< Of our last try: in the stored header it says the try went through.
};

Async<Each<Done>> Engine::step(std::vector<Ask> asks, std::vector<domain::Record> known, Time at) {
    Each<Done> answers(asks.size(),
                       refuse(Code::overloaded, "the task is being changed by others; try again"));
    std::vector<Pending> pending = begin(asks, known);
    InFlight flight(in_flight_, asks.size());

    std::optional<Error> trouble;
    for (int round = 0; round < kCommitTries && !pending.empty(); ++round) {
        if (trouble) {
            Alarm breath(clock_, executor_);
            co_await breath.wait_for(kBreath * round);
        }
        trouble.reset();
        if (std::vector<domain::Key> keys = missing(pending); !keys.empty()) {
            auto records = co_await store_.load(std::move(keys));
            if (!records) {
                trouble = records.error();
                continue;
            }
            fill(pending, *std::move(records));
        }
        std::vector<Pending> unsure;
        std::vector<domain::Change> changes =
            decide_all(pending, unsure, is_set(at) ? at : now(), answers);
        if (changes.empty()) {
            pending = std::move(unsure);
            continue;
        }
        std::vector<Trace> traces;
        traces.reserve(changes.size());
        for (const domain::Change& change : changes) traces.emplace_back(change.puts.front());
        const Time began = clock_.now();
        auto outcomes = co_await store_.commit(std::move(changes));
        admission_.wrote(began, clock_.now());
        if (outcomes) {
            settle(pending, traces, *outcomes, answers);
        } else {
            trouble = outcomes.error();
            for (Pending& p : pending) {
                held_.erase(p.ask->id);
                p.record.reset();
            }
        }
        std::ranges::move(unsure, std::back_inserter(pending));
    }
    for (const Pending& p : pending) {
        if (trouble) answers[p.place] = std::unexpected(*trouble);
    }
    co_return answers;
}

std::vector<Engine::Pending> Engine::begin(std::vector<Ask>& asks,
                                           std::vector<domain::Record>& known) {
    std::vector<Pending> pending;
    pending.reserve(asks.size());
    for (std::size_t i = 0; i < asks.size(); ++i) {
        Pending& p = pending.emplace_back(i, &asks[i]);
        if (i < known.size()) {
            p.record = std::move(known[i]);
        } else if (const auto held = held_.find(p.ask->id); held != held_.end()) {
            p.record = domain::Record{std::move(held->second), {}, {}};
            p.remembered = true;
            held_.erase(held);  // comes back with the next step that leaves it held
        }
    }
    return pending;
}

std::vector<domain::Key> Engine::missing(const std::vector<Pending>& pending) {
    std::vector<domain::Key> keys;
    for (const Pending& p : pending) {
        if (!p.record) keys.push_back({domain::Kind::task, p.ask->id});
    }
    return keys;
}

void Engine::fill(std::vector<Pending>& pending,
                  std::vector<std::optional<domain::Record>> records) {
    auto next = records.begin();
    for (Pending& p : pending) {
        if (p.record) continue;
        p.record = std::move(*next++).value_or(domain::Record{});
        p.remembered = false;
    }
}

/// Leaves in `pending` those that have a Change to commit, in the order of the changes returned. A Change that rests
/// on what we remember is checked by the store; a refusal would not be, so those have to be loaded: `unsure`.
std::vector<domain::Change> Engine::decide_all(std::vector<Pending>& pending,
                                               std::vector<Pending>& unsure, Time at,
                                               Each<Done>& answers) {
    std::vector<domain::Change> changes;
    changes.reserve(pending.size());
    std::erase_if(pending, [&](Pending& p) {
        const domain::Header& h = p.record->header;
        if (p.nonce != 0 && h.nonce == p.nonce) {  // the reply was lost, the write was not
            answers[p.place] = done(h, false);
            announce(h);
            return true;
        }
        domain::Decision decision = decide(*p.record, p.ask->command, at);
        if (!decision && p.remembered) {
            p.record.reset();
            unsure.push_back(std::move(p));
            return true;
        }
        if (!decision) {
            answers[p.place] = refused(decision.error(), h);
            if (witness_ != nullptr && !answers[p.place])
                witness_->refused(answers[p.place].error().code);
            return true;
        }
        if (p.ask->act) decision->puts.push_back(audited(*p.ask->act, p.ask->id.partition(), at));
        p.nonce = rng_() | 1;
        decision->nonce = p.nonce;
        decision->puts.front().header.nonce =
            p.nonce;  // as the store will write it, so that we may go on from it
        changes.push_back(*std::move(decision));
        return false;
    });
    return changes;
}

void Engine::settle(std::vector<Pending>& pending, std::vector<Trace>& traces,
                    const std::vector<stores::Outcome>& outcomes, Each<Done>& answers) {
    std::size_t i = 0;
    std::erase_if(pending, [&](Pending& p) {
        const stores::Outcome& outcome = outcomes[i];
        const Trace& trace = traces[i++];
        switch (outcome.verdict) {
            case stores::Verdict::committed:
                answers[p.place] = done(trace.header, false);
                hold(trace.header);
                announce(trace.header);
                tell(trace);
                return true;
            case stores::Verdict::conflict:
                held_.erase(p.ask->id);
                p.record.reset();
                return false;
            case stores::Verdict::duplicate:
                return settle_duplicate(p, answers);
            case stores::Verdict::refused:
                answers[p.place] = refuse(Code::conflict, "refused by " + outcome.reason);
                return true;
        }
        std::unreachable();
    });
}

/// The log entry was there already. For a stage, a requested pause or cancel is still to be honoured.
bool Engine::settle_duplicate(Pending& p, Each<Done>& answers) {
    auto* checkpoint = std::get_if<domain::Checkpoint>(&p.ask->command);
    if (checkpoint != nullptr && !checkpoint->written) {
        checkpoint->written = true;
        p.record.reset();
        return false;
    }
    answers[p.place] = done(p.record->header, true);
    return true;
}

Async<Result<Done>> Engine::step_one(Ask ask) {
    std::vector<Ask> asks;
    asks.push_back(std::move(ask));
    Each<Done> answers = co_await step(std::move(asks));
    co_return std::move(answers.front());
}

void Engine::tell(const Trace& t) {
    if (witness_ == nullptr) return;
    const domain::Header& h = t.header;
    witness_->saw({t.event, t.from, h.state, h.queue, h.type, h.created_at, h.started_at, t.at});
}

/// Remembers the header of a task that is held, so that its next step needs no load.
void Engine::hold(const domain::Header& h) {
    if (!h.is_held()) {
        held_.erase(h.id);
    } else {
        // What others end is never heard of here: better to begin anew than to be full of it.
        if (held_.size() >= options_.most_held) held_.clear();
        held_.insert_or_assign(h.id, h);
    }
}

}  // namespace holdfast::engine
