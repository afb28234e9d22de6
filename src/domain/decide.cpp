#include "domain/decide.h"

#include <cassert>
#include <utility>

#include "domain/draft.h"

namespace holdfast::domain {
namespace {

/// These counts stay at their end rather than begin again: what never stops failing or signalling
/// must not look new.
void count_up(std::uint16_t& count) {
    if (count < UINT16_MAX) ++count;
}

// ---- the worker that holds it ----

/// Whether `fence` may speak for the task now. `call` is what the caller wants to do, so that its
/// own repetition after the attempt ended is told from somebody else's.
std::optional<Refusal> check_fence(const Header& h, Fence fence, Event call) {
    if (h.state == State::none) return Refusal::not_found;
    if (fence != h.fence()) return Refusal::stale_lease;
    if (h.is_held()) return std::nullopt;
    return h.ended_by == call ? Refusal::already : Refusal::stale_lease;
}

Decision on(const Record& record, const Claim& claim, Time now) {
    if (record.header.state == State::none) return std::unexpected(Refusal::not_found);
    if (record.header.state != State::queued) return std::unexpected(Refusal::wrong_state);
    Change change;
    change.partition = record.header.id.partition();
    Put& put = change.puts.emplace_back();
    put.header = record.header;
    put.expected_version = record.header.version;
    put.expected_epoch = record.header.epoch;
    put.expected_nonce = record.header.nonce;
    stamp_claim(put.header, claim, now);
    put.transition = claim_transition(put.header, record.header.state);
    return change;
}

Decision on(const Record& record, const Accept& accept, Time now) {
    const Header& h = record.header;
    if (auto refusal = check_fence(h, accept.fence, Event::accepted))
        return std::unexpected(*refusal);
    if (h.state != State::dispatched) return std::unexpected(Refusal::already);
    return Draft(record, now).by(h.worker).move(Event::accepted, State::accepted);
}

Decision on(const Record& record, const Start& start, Time now) {
    const Header& h = record.header;
    if (auto refusal = check_fence(h, start.fence, Event::started))
        return std::unexpected(*refusal);
    if (h.state == State::running) return std::unexpected(Refusal::already);
    Draft draft(record, now);
    draft.header().started_at = now;
    return std::move(draft).by(h.worker).move(Event::started, State::running);
}

Decision on(const Record& record, const Complete& complete, Time now) {
    const Header& h = record.header;
    if (auto refusal = check_fence(h, complete.fence, Event::completed))
        return std::unexpected(*refusal);
    Draft draft(record, now);
    draft.header().progress = 1;
    draft.set_outcome(JsonObject{}.add("result", complete.result).done());
    return std::move(draft)
        .by(h.worker)
        .ended(Event::completed)
        .move(Event::completed, State::succeeded);
}

State parked_as(Ending ending) {
    return ending == Ending::fail ? State::failed : State::suspended;
}

Decision on(const Record& record, const Fail& fail, Time now) {
    const Header& h = record.header;
    if (auto refusal = check_fence(h, fail.fence, Event::failed)) return std::unexpected(*refusal);
    const Policy policy = policy_of(h);
    const bool uncounted =
        fail.failure.kind == ErrorKind::dependency_down && policy.on_outage == OnOutage::hold;
    Draft draft(record, now);
    draft.header().fingerprint = fingerprint(h.type, fail.failure);
    draft.set_error(fail.failure);
    draft.by(h.worker).ended(Event::failed);
    if (h.cancel_requested) return std::move(draft).move(Event::cancelled, State::cancelled);

    if (!uncounted) count_up(draft.header().retry_count);
    const bool used_up = !uncounted && policy.max != 0 && draft.header().retry_count >= policy.max;
    if (fail.failure.kind == ErrorKind::permanent || used_up)
        return std::move(draft).move(Event::failed, parked_as(policy.on_exhausted));

    const std::uint32_t failures = draft.header().retry_count + (uncounted ? 1U : 0U);
    draft.header().due_at =
        now + fail.retry_after.value_or(backoff(policy.backoff, failures, h.id));
    return std::move(draft).move(Event::failed,
                                 h.pause_requested ? State::paused : State::retrying);
}

Decision on(const Record& record, const Yield& yield, Time now) {
    const Header& h = record.header;
    if (auto refusal = check_fence(h, yield.fence, Event::yielded))
        return std::unexpected(*refusal);
    Draft draft(record, now);
    draft.by(h.worker).ended(Event::yielded);
    if (h.cancel_requested) return std::move(draft).move(Event::cancelled, State::cancelled);

    const bool waits_for_signal = yield.until_signal && !h.signal_pending;
    const bool waits = waits_for_signal || (yield.after && !yield.until_signal);
    if (waits) {
        draft.header().until_signal = waits_for_signal;
        draft.header().due_at = now + yield.after.value_or(kSignalPatience);
    }
    if (h.pause_requested) return std::move(draft).move(Event::yielded, State::paused);
    return std::move(draft).move(Event::yielded, waits ? State::waiting : State::queued);
}

Decision on(const Record& record, const Checkpoint& checkpoint, Time now) {
    const Header& h = record.header;
    if (auto refusal = check_fence(h, checkpoint.fence, Event::checkpointed))
        return std::unexpected(*refusal);
    if (h.state != State::running) return std::unexpected(Refusal::wrong_state);
    if (!checkpoint.written && h.checkpoints >= kMostLogged)
        return std::unexpected(Refusal::too_many);
    Draft draft(record, now);
    draft.by(h.worker).saying(checkpoint.stage);
    if (!checkpoint.written) {
        count_up(draft.header().checkpoints);
        draft.append(kCheckpointLog, checkpoint.stage, checkpoint.data, Append::Existing::refuse);
    } else if (!h.cancel_requested && !h.pause_requested) {
        return std::unexpected(Refusal::already);
    }
    if (h.cancel_requested)
        return std::move(draft).ended(Event::checkpointed).move(Event::cancelled, State::cancelled);
    if (h.pause_requested)
        return std::move(draft).ended(Event::checkpointed).move(Event::checkpointed, State::paused);
    return std::move(draft).move(Event::checkpointed, State::running);
}

// ---- time and signals ----

Decision on_lease_ended(const Record& record, Time now) {
    const Header& h = record.header;
    const Policy policy = policy_of(h);
    Draft draft(record, now);
    count_up(draft.header().crashes);
    draft.by(h.worker).ended(Event::lease_ended).unless_renewed();
    const Failure crash{
        ErrorKind::crash, "the worker was not heard of before its lease ended", {}, {}};
    draft.header().fingerprint = fingerprint(h.type, crash);
    draft.set_error(crash);
    if (h.cancel_requested) return std::move(draft).move(Event::cancelled, State::cancelled);
    if (draft.header().crashes >= policy.poison) {
        draft.saying("poison: " + std::to_string(draft.header().crashes) +
                     " workers were lost with it");
        return std::move(draft).move(Event::lease_ended, parked_as(policy.on_exhausted));
    }
    if (h.pause_requested) return std::move(draft).move(Event::lease_ended, State::paused);
    return std::move(draft).move(Event::lease_ended, State::queued);
}

Decision on(const Record& record, const Tick&, Time now) {
    const Header& h = record.header;
    if (h.state == State::none) return std::unexpected(Refusal::not_found);
    if (is_final(h.state) || is_parked(h.state)) return std::unexpected(Refusal::not_due);
    const auto past = [now](Time t) { return is_set(t) && t <= now; };
    if (past(h.deadline)) {
        Draft draft(record, now);
        const Failure late{ErrorKind::timeout, "the task's deadline passed", {}, {}};
        draft.header().fingerprint = fingerprint(h.type, late);
        draft.set_error(late);
        draft.ended(Event::timed_out);
        if (h.cancel_requested) return std::move(draft).move(Event::cancelled, State::cancelled);
        return std::move(draft).move(Event::timed_out, parked_as(policy_of(h).on_timeout));
    }
    if (h.is_held() && past(h.lease_until)) return on_lease_ended(record, now);
    if (is_timed(h.state) && past(h.due_at))
        return Draft(record, now).move(Event::woken, State::queued);
    return std::unexpected(Refusal::not_due);
}

Decision on(const Record& record, const Signal& signal, Time now) {
    const Header& h = record.header;
    if (h.state == State::none) return std::unexpected(Refusal::not_found);
    if (is_final(h.state)) return std::unexpected(Refusal::wrong_state);
    if (h.signals >= kMostLogged) return std::unexpected(Refusal::too_many);
    Draft draft(record, now);
    count_up(draft.header().signals);
    draft.header().signal_pending = h.is_held();
    draft.append(kSignalLog, signal.id, signal.data, Append::Existing::refuse);
    draft.saying(signal.id);
    const bool wakes = h.state == State::waiting && h.until_signal;
    return std::move(draft).move(Event::signalled, wakes ? State::queued : h.state);
}

// ---- operators ----

/// What an operator's repeated or impossible wish is answered with.
Refusal wrong_or_already(const Header& h, State wanted) {
    if (h.state == State::none) return Refusal::not_found;
    return h.state == wanted ? Refusal::already : Refusal::wrong_state;
}

Decision on(const Record& record, const Pause& pause, Time now) {
    const Header& h = record.header;
    if (h.is_held()) {
        if (h.pause_requested) return std::unexpected(Refusal::already);
        Draft draft(record, now);
        draft.header().pause_requested = true;
        return std::move(draft).by(pause.by).move(Event::pause_requested, h.state);
    }
    if (!has_step(h.state, Event::paused))
        return std::unexpected(wrong_or_already(h, State::paused));
    return Draft(record, now).by(pause.by).move(Event::paused, State::paused);
}

/// A new payload is a revision: the old body stays readable in the revision log.
void revise(Draft& draft, const Record& record, const Json& payload) {
    draft.append(kRevisionLog, std::to_string(record.header.revision),
                 Json::stored(record.body.view()), Append::Existing::skip);
    ++draft.header().revision;
    draft.set_body(with_payload(record.body, payload));
}

Decision on(const Record& record, const Resume& resume, Time now) {
    const Header& h = record.header;
    if (h.is_held()) {
        if (!h.pause_requested || resume.payload) return std::unexpected(Refusal::wrong_state);
        Draft draft(record, now);
        draft.header().pause_requested = false;
        return std::move(draft).by(resume.by).move(Event::resumed, h.state);
    }
    if (!has_step(h.state, Event::resumed))
        return std::unexpected(wrong_or_already(h, State::none));
    Draft draft(record, now);
    draft.header().retry_count = 0;
    draft.header().crashes = 0;
    const bool too_early = h.state == State::paused && h.due_at > now && h.attempt == 0;
    const Duration timeout = policy_of(h).timeout;
    if (is_parked(h.state) && timeout > Duration{0})
        draft.header().deadline = (too_early ? h.due_at : now) + timeout;
    if (resume.payload) revise(draft, record, *resume.payload);
    return std::move(draft).by(resume.by).move(Event::resumed,
                                               too_early ? State::waiting : State::queued);
}

Decision on(const Record& record, const Cancel& cancel, Time now) {
    const Header& h = record.header;
    if (h.is_held()) {
        if (h.cancel_requested) return std::unexpected(Refusal::already);
        Draft draft(record, now);
        draft.header().cancel_requested = true;
        return std::move(draft).by(cancel.by).move(Event::cancel_requested, h.state);
    }
    if (!has_step(h.state, Event::cancelled))
        return std::unexpected(wrong_or_already(h, State::cancelled));
    return Draft(record, now).by(cancel.by).move(Event::cancelled, State::cancelled);
}

Decision on(const Record& record, const Discard& discard, Time now) {
    const Header& h = record.header;
    if (!has_step(h.state, Event::discarded))
        return std::unexpected(wrong_or_already(h, State::discarded));
    return Draft(record, now).by(discard.by).move(Event::discarded, State::discarded);
}

Text policy_text(const Policy& policy) {
    static const Policy kUsual;
    static const Text kUsualText = format_policy(kUsual);
    return policy == kUsual ? kUsualText : Text(format_policy(policy));
}

std::string join_labels(const Submission& s) {
    if (s.labels.empty()) return {};
    auto labels = s.labels;
    std::ranges::sort(labels);
    std::string text = "\n";
    for (const auto& [name, value] : labels) text += name + '=' + value + '\n';
    return text;
}

}  // namespace

Decision decide(const Record& record, const Command& command, Time now) {
    return std::visit([&](const auto& c) { return on(record, c, now); }, command);
}

Change decide_submit(const Submission& s, const Uuid& id, Time now) {
    Header h;
    h.id = id;
    h.created_at = now;
    h.type = s.type;
    h.queue = s.queue;
    h.tenant = s.tenant;
    h.priority = s.priority;
    h.lease = s.lease;
    h.gate = s.tenant.empty() || s.gate.empty() ? s.gate : s.tenant + '/' + s.gate;
    h.gate_limit = s.gate_limit;
    h.lane_by_type = s.lane_by_type;
    h.labels = join_labels(s);
    h.policy = policy_text(s.policy);
    h.run_at = s.run_at ? *s.run_at : s.delay && *s.delay > Duration{0} ? now + *s.delay : kNoTime;
    const bool later = h.run_at > now;
    if (later) h.due_at = h.run_at;
    if (s.policy.timeout > Duration{0}) h.deadline = (later ? h.run_at : now) + s.policy.timeout;

    Draft draft(std::move(h), now);
    draft.set_body(make_body(s));
    if (!s.idempotency_key.empty())
        draft.change().binds.push_back(
            {s.tenant, s.idempotency_key, id, content_hash(s), kBindingTtl});
    return std::move(draft).move(Event::submitted, later ? State::waiting : State::queued);
}

void stamp_claim(Header& h, const Claim& claim, Time now) {
    h.state = claim.to;
    ++h.version;
    ++h.attempt;
    h.epoch = claim.epoch;
    h.lease_granted = claim.lease;
    h.lease_until = now + claim.lease;
    h.worker = claim.worker;
    h.updated_at = now;
    if (claim.to == State::running) h.started_at = now;
    h.due_at = kNoTime;
    h.ended_by = Event::none;
    h.progress = -1;
    h.holds_gate = claim.takes_gate;
    h.holds_queue_permit = claim.takes_queue_permit;
    h.nonce = 0;
    h.wake_at = wake_for(h);
}

Transition claim_transition(const Header& stamped, State from) {
    return {Event::claimed,     from, stamped.state,  stamped.attempt,
            stamped.updated_at, {},   stamped.worker, {}};
}

void stamp_renewal(Header& h, Duration lease, Time now) {
    h.lease_until = std::max(h.lease_until, now + lease);
    h.wake_at = wake_for(h);
}

Time wake_for(const Header& h) {
    if (is_final(h.state) || is_parked(h.state)) return kNoTime;
    if (h.is_held()) return earlier(h.lease_until, h.deadline);
    return is_timed(h.state) ? earlier(h.due_at, h.deadline) : h.deadline;
}

}  // namespace holdfast::domain
