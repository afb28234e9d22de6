#include "domain/draft.h"

#include <cassert>

namespace holdfast::domain {

Policy policy_of(const Header& header) {
    return parse_policy(header.policy).value_or(Policy{});
}

Draft::Draft(Header&& header, Time now) : from_(header.state), now_(now) {
    change_.partition = header.id.partition();
    Put& put = change_.puts.emplace_back();
    put.expected_version = header.version;
    put.expected_epoch = header.epoch;
    put.expected_nonce = header.nonce;
    put.header = std::move(header);
}

Draft& Draft::by(std::string_view actor) {
    put().transition.actor = actor;
    return *this;
}

Draft& Draft::by(const By& by) {
    put().transition.actor = by.who;
    put().transition.message = by.why;
    return *this;
}

Draft& Draft::saying(std::string message) {
    put().transition.message = std::move(message);
    return *this;
}

Draft& Draft::ended(Event event) {
    header().ended_by = event;
    return *this;
}

Draft& Draft::unless_renewed() {
    put().unless_renewed_past = now_;
    return *this;
}

Draft& Draft::set_body(Bytes body) {
    put().body = std::move(body);
    return *this;
}

Draft& Draft::set_outcome(const Json& outcome) {
    put().outcome = Bytes(outcome.text());
    return *this;
}

Draft& Draft::set_error(const Failure& failure) {
    Failure kept = truncated(failure);
    const Json error = to_json(kept);
    put().transition.error = Bytes(error.text());
    saying(std::move(kept.message));
    return set_outcome(JsonObject{}.add("error", error).done());
}

Draft& Draft::append(std::string_view log, std::string_view key, const Json& data,
                     Append::Existing existing) {
    change_.appends.push_back(
        {std::string(log), header().id, std::string(key), Bytes(data.text()), existing});
    return *this;
}

Change Draft::move(Event event, State to) {
    assert(is_allowed({from_, event, to}) && "a step that is no row of kLifecycle");
    Header& h = header();
    h.state = to;
    h.version = put().expected_version + 1;
    h.updated_at = now_;
    settle();
    Transition& t = put().transition;
    t.event = event;
    t.from = from_;
    t.to = to;
    t.attempt = h.attempt;
    t.at = now_;
    return std::move(change_);
}

void Draft::settle() {
    Header& h = header();
    if (!h.is_held()) {
        const auto release = [&](std::string key) {
            change_.permits.push_back(
                {Permit::Act::release, std::move(key), h.id, h.epoch, 0, Duration{0}});
        };
        if (h.holds_gate) release(h.gate);
        if (h.holds_queue_permit) release(queue_permit(h.queue));
        h.holds_gate = false;
        h.holds_queue_permit = false;
        h.lease_granted = Duration{0};
        h.lease_until = kNoTime;
        h.worker.clear();
        h.pause_requested = false;
        h.cancel_requested = false;
        h.signal_pending = false;
    }
    if (h.state != State::waiting && h.state != State::paused) h.until_signal = false;
    if (!is_timed(h.state) && h.state != State::paused) h.due_at = kNoTime;
    if (is_final(h.state)) h.finished_at = now_;
    h.wake_at = wake_for(h);
}

}  // namespace holdfast::domain
