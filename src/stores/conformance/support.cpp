#include "stores/conformance/support.h"

#include <sstream>
#include <stdexcept>

namespace holdfast {

void PrintTo(const Uuid& id, std::ostream* out) {
    *out << id.text();
}

void PrintTo(const Bytes& bytes, std::ostream* out) {
    *out << bytes.size() << " bytes: " << bytes.view().substr(0, 80);
}

}  // namespace holdfast

namespace holdfast::domain {
namespace {

std::string shown(const std::string& text) {
    return '"' + text + '"';
}
std::string shown(const Text& text) {
    return shown(std::string(text.view()));
}
std::string shown(Time t) {
    return is_set(t) ? std::to_string(t.time_since_epoch().count()) + "us" : "none";
}
std::string shown(Duration d) {
    return std::to_string(d.count()) + "us";
}
std::string shown(const Uuid& id) {
    return id.text();
}
std::string shown(State s) {
    return std::string(to_string(s));
}
std::string shown(Event e) {
    return std::string(to_string(e));
}
std::string shown(Kind k) {
    return std::string(to_string(k));
}
std::string shown(Epoch e) {
    return std::to_string(static_cast<std::int64_t>(e));
}
template <class Number>
    requires std::is_arithmetic_v<Number>
std::string shown(Number n) {
    return std::to_string(n);
}

struct HeaderField {
    std::string_view name;
    std::string value;
    friend bool operator==(const HeaderField&, const HeaderField&) = default;
};

/// Every field of a header, as text. What is missing here is found by operator== and shown badly.
std::vector<HeaderField> fields_of(const Header& h) {
#define HOLDFAST_FIELD(name) {#name, shown(h.name)}
    return {
        HOLDFAST_FIELD(id),
        HOLDFAST_FIELD(kind),
        HOLDFAST_FIELD(state),
        HOLDFAST_FIELD(priority),
        HOLDFAST_FIELD(ended_by),
        HOLDFAST_FIELD(pause_requested),
        HOLDFAST_FIELD(cancel_requested),
        HOLDFAST_FIELD(until_signal),
        HOLDFAST_FIELD(signal_pending),
        HOLDFAST_FIELD(lane_by_type),
        HOLDFAST_FIELD(holds_gate),
        HOLDFAST_FIELD(holds_queue_permit),
        HOLDFAST_FIELD(retry_count),
        HOLDFAST_FIELD(crashes),
        HOLDFAST_FIELD(revision),
        HOLDFAST_FIELD(checkpoints),
        HOLDFAST_FIELD(signals),
        HOLDFAST_FIELD(attempt),
        HOLDFAST_FIELD(gate_limit),
        HOLDFAST_FIELD(progress),
        HOLDFAST_FIELD(version),
        HOLDFAST_FIELD(nonce),
        HOLDFAST_FIELD(fingerprint),
        HOLDFAST_FIELD(epoch),
        HOLDFAST_FIELD(lease),
        HOLDFAST_FIELD(lease_granted),
        HOLDFAST_FIELD(created_at),
        HOLDFAST_FIELD(updated_at),
        HOLDFAST_FIELD(started_at),
        HOLDFAST_FIELD(finished_at),
        HOLDFAST_FIELD(run_at),
        HOLDFAST_FIELD(due_at),
        HOLDFAST_FIELD(deadline),
        HOLDFAST_FIELD(lease_until),
        HOLDFAST_FIELD(wake_at),
        HOLDFAST_FIELD(queue),
        HOLDFAST_FIELD(type),
        HOLDFAST_FIELD(tenant),
        HOLDFAST_FIELD(policy),
        HOLDFAST_FIELD(gate),
        HOLDFAST_FIELD(worker),
        HOLDFAST_FIELD(labels),
        HOLDFAST_FIELD(note),
    };
#undef HOLDFAST_FIELD
}

std::string differing_fields(const Header& a, const Header& b) {
    std::string text;
    const std::vector<HeaderField> left = fields_of(a);
    const std::vector<HeaderField> right = fields_of(b);
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (left[i] == right[i]) continue;
        text.append(left[i].name).append(": ").append(left[i].value);
        text.append(" and ").append(right[i].value).append("; ");
    }
    return text;
}

}  // namespace

void PrintTo(const State& state, std::ostream* out) {
    *out << to_string(state);
}

void PrintTo(const Header& header, std::ostream* out) {
    const std::vector<HeaderField> usual = fields_of(Header{});
    const std::vector<HeaderField> fields = fields_of(header);
    *out << '{';
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i] != usual[i]) *out << ' ' << fields[i].name << '=' << fields[i].value;
    }
    *out << " }";
}

void PrintTo(const Record& record, std::ostream* out) {
    PrintTo(record.header, out);
    *out << " body: " << record.body.view().substr(0, 80)
         << " outcome: " << record.outcome.view().substr(0, 80);
}

void PrintTo(const Transition& t, std::ostream* out) {
    *out << to_string(t.event) << ' ' << to_string(t.from) << "->" << to_string(t.to)
         << " attempt=" << t.attempt << " at=" << shown(t.at) << " message=" << t.message
         << " actor=" << t.actor << " error=" << t.error.view();
}

void PrintTo(const FeedEvent& e, std::ostream* out) {
    *out << to_string(e.subject.kind) << ' ' << e.subject.id.text() << " v" << e.version << ' '
         << e.name << ' ' << to_string(e.from) << "->" << to_string(e.to)
         << " attempt=" << e.attempt << " at=" << shown(e.at) << ' ' << e.queue << '/' << e.type
         << '/' << e.tenant << " message=" << e.message << " data=" << e.data.view();
}

}  // namespace holdfast::domain

namespace holdfast::stores {

void PrintTo(const Verdict& verdict, std::ostream* out) {
    constexpr std::array<std::string_view, 4> kNames{"committed", "conflict", "duplicate",
                                                     "refused"};
    *out << kNames[static_cast<std::size_t>(verdict)];
}

}  // namespace holdfast::stores

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;
constexpr auto kPatience = 30s;

}  // namespace

void run_until(asio::io_context& io, const bool& done) {
    while (!done) {
        if (io.stopped()) io.restart();
        if (io.run_one_for(kPatience) == 0 && !done)
            throw std::runtime_error("the store did not answer");
    }
}

domain::Submission new_task(std::string queue, std::string type) {
    domain::Submission s;
    s.queue = std::move(queue);
    s.type = std::move(type);
    s.payload = Json::quoted("payload");
    return s;
}

Change rewrite(Header header, const Header& old) {
    const bool is_new = old.version == 0;
    Change change;
    change.partition = header.id.partition();
    domain::Put& put = change.puts.emplace_back();
    put.expected_version = old.version;
    put.expected_epoch = old.epoch;
    put.expected_nonce = old.nonce;
    put.transition.event = is_new ? domain::Event::submitted : domain::Event::signalled;
    put.transition.from = is_new ? State::none : old.state;
    put.transition.to = header.state;
    put.transition.attempt = header.attempt;
    put.transition.at = header.updated_at;
    header.version = old.version + 1;
    put.header = std::move(header);
    return change;
}

Change make_record(domain::Kind kind, const Uuid& id, Time now) {
    Header h;
    h.id = id;
    h.kind = kind;
    h.created_at = now;
    h.updated_at = now;
    Change change = rewrite(h);
    only_put(change).body = Bytes("a " + std::string(domain::to_string(kind)));
    return change;
}

domain::Put& only_put(Change& change) {
    if (change.puts.size() != 1) throw std::logic_error("a Change with one put was expected");
    return change.puts.front();
}

domain::FeedEvent event_of(const Header& header, const domain::Transition& transition) {
    std::string packed;
    domain::pack_event(packed, header, transition);
    return domain::unpack_events(packed).at(0);
}

domain::Put claim_put(const Record& before, const ClaimRequest& request, Time at) {
    const Header& old = before.header;
    const auto queue = std::ranges::find(request.queues, old.queue, &ClaimQueue::name);
    if (queue == request.queues.end()) throw std::runtime_error("of a queue nobody asked for");
    domain::Claim claim;
    claim.to = request.to;
    claim.worker = request.worker;
    claim.epoch = domain::next_epoch(old.epoch, at);
    claim.lease = request.lease;
    if (claim.lease == Duration{0}) claim.lease = old.lease;
    if (claim.lease == Duration{0}) claim.lease = domain::kDefaultLease;
    claim.takes_gate = !old.gate.empty() && old.gate_limit > 0;
    claim.takes_queue_permit = queue->concurrency > 0;
    const auto change = domain::decide(before, claim, at);
    if (!change) throw std::runtime_error("it was not to be claimed");
    return change->puts.at(0);
}

std::string difference(const Header& a, const Header& b) {
    if (a == b) return {};
    const std::string fields = domain::differing_fields(a, b);
    return fields.empty() ? "a field that fields_of() does not know" : fields;
}

std::string difference(const Record& a, const Record& b) {
    std::string text = difference(a.header, b.header);
    if (a.body != b.body) text += "body; ";
    if (a.outcome != b.outcome) text += "outcome; ";
    return text;
}

Header random_queued(Rng& rng, const Uuid& id, Time now) {
    const auto text = [&](std::string_view name, std::uint64_t variants) {
        return std::string(name) + std::to_string(rng.below(variants));
    };
    const auto moment = [&](Duration around) {
        const auto count = static_cast<std::uint64_t>(around.count());
        return rng.chance(0.5)
                   ? kNoTime
                   : now - around + Duration{static_cast<std::int64_t>(rng.below(2 * count))};
    };
    const auto small = [&](std::uint64_t bound) {
        return static_cast<std::uint16_t>(rng.below(bound));
    };
    Header h;
    h.id = id;
    h.state = State::queued;
    h.priority = static_cast<std::uint8_t>(rng.below(10));
    h.ended_by = static_cast<domain::Event>(rng.below(domain::kEvents));
    h.pause_requested = rng.chance(0.3);
    h.cancel_requested = rng.chance(0.3);
    h.signal_pending = rng.chance(0.3);
    h.lane_by_type = rng.chance(0.3);
    h.retry_count = small(20);
    h.crashes = small(5);
    h.revision = small(3);
    h.checkpoints = small(1000);
    h.signals = small(1000);
    h.attempt = static_cast<std::uint32_t>(rng.below(100));
    h.progress = static_cast<float>(rng.below(9)) / 8 - (rng.chance(0.5) ? 2 : 0);
    h.fingerprint = rng.chance(0.5) ? rng() : 0;
    // Behind the clock, and sometimes ahead of it: then only counting makes it grow.
    h.epoch = domain::Epoch{now.time_since_epoch().count() +
                            static_cast<std::int64_t>(rng.below(2'000'000)) - 1'000'000};
    h.lease = rng.chance(0.5) ? Duration{0} : Duration{1'000'000 + small(50'000)};
    h.created_at = now;
    h.updated_at = now;
    h.started_at = moment(1h);
    h.run_at = moment(1h);
    h.due_at = moment(1h);
    h.deadline = rng.chance(0.5) ? kNoTime : now + 1s + Duration{small(60'000)} * 1000;
    h.queue = text("queue-", 4);
    h.type = text("type-", 4);
    h.tenant = rng.chance(0.5) ? "" : text("tenant-", 4);
    h.policy = domain::format_policy({});
    h.gate = rng.chance(0.5) ? "" : text("gate-", 3);
    h.gate_limit = h.gate.empty() || rng.chance(0.3) ? 0 : 1000;
    h.labels = rng.chance(0.5) ? "" : "\n" + text("colour=", 3) + "\n" + text("size=", 3) + "\n";
    h.note = rng.chance(0.5) ? "" : text("note ", 1000);
    h.wake_at = domain::wake_for(h);
    return h;
}

}  // namespace holdfast::stores::conformance
