#include "stores/redis/wire.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "stores/redis/codec.h"
#include "stores/redis/msgpack.h"

namespace holdfast::stores::redis {
namespace {

using holdfast::redis::Value;

// ---- changes ----

/// Of a body that stands in the hash.
constexpr std::array<std::string_view, 6> kPieceNames{"b", "b2", "b3", "b4", "b5", "b6"};
constexpr std::size_t kLongestMessage = 200;  // of what an entry of the DLQ says

std::string time_text(Time t) {
    return is_set(t) ? std::to_string(micros(t)) : std::string{};
}

/// The longest that this change binds the record for.
std::int64_t bound_ms(const Change& change, const Header& h) {
    std::int64_t longest = 0;
    if (h.kind != domain::Kind::task) return longest;
    for (const domain::Bind& bind : change.binds) {
        if (bind.id == h.id)
            longest =
                std::max(longest, std::chrono::ceil<std::chrono::milliseconds>(bind.ttl).count());
    }
    return longest;
}

/// A body as the hash has it; none: it needs a key of its own.
std::vector<std::string_view> pieces_of(const Bytes& body, const Manner& manner) {
    const std::size_t each = std::max<std::size_t>(manner.longest_inside, 1);
    const std::size_t count = std::max<std::size_t>((body.size() + each - 1) / each, 1);
    std::vector<std::string_view> pieces;
    if (count > kPieceNames.size()) return pieces;
    for (std::size_t i = 0; i < count; ++i) pieces.push_back(body.view().substr(i * each, each));
    return pieces;
}

/// In pieces for the hash, or whole for a key of its own.
void encode_body(MsgWriter& out, const std::optional<Bytes>& body, const Manner& manner) {
    if (!body) {
        out.none();
        return;
    }
    const auto pieces = pieces_of(*body, manner);
    if (pieces.empty()) {
        out.text(body->view());
        return;
    }
    out.array(pieces.size());
    for (const std::string_view piece : pieces) out.text(piece);
}

/// What the hash says of it, and what stands apart.
void encode_outcome(MsgWriter& out, const std::optional<Bytes>& outcome, const Manner& manner) {
    if (!outcome)
        out.none().none();
    else if (outcome->empty())
        out.text("").none();
    else if (outcome->size() <= manner.longest_inside)
        out.text("=" + std::string(outcome->view())).none();
    else
        out.text(">").text(outcome->view());
}

std::string encode_put(const domain::Put& put, const Change& change, const Manner& manner) {
    Header h = put.header;
    h.nonce = change.nonce;
    const bool is_task = h.kind == domain::Kind::task;
    std::string row, event;
    if (put.audit) domain::pack(row, put.transition);
    domain::pack_event(event, h, put.transition);
    MsgWriter out;
    out.text(ref_of(h.key()))
        .number(static_cast<std::int64_t>(put.expected_version))
        .number(static_cast<std::int64_t>(put.expected_epoch))
        .text(eight_bytes(put.expected_nonce))
        .number(micros(put.unless_renewed_past))
        .text(domain::to_string(h.state))
        .number(h.attempt)
        .text(encode_hot(h))
        .text(encode_cold(h))
        .text(row)
        .text(event)
        .text(time_text(h.wake_at))
        .text(is_task ? lane_name(h) : std::string{});
    encode_body(out, put.body, manner);
    encode_outcome(out, put.outcome, manner);
    out.flag(is_task)
        .flag(put.erase)
        .flag(is_task && manner.keeps(h.queue))
        .text(h.queue + '|' + h.type)
        .text(fingerprint_text(h.fingerprint))
        .number(h.gate_limit)
        .text(std::to_string(micros(h.created_at)))
        .text(std::string_view(put.transition.message).substr(0, kLongestMessage))
        .number(bound_ms(change, h));
    return out.none().none().none().none().take();  // what the script finds out about it
}

/// What most submissions are: one new task, all of it in its hash, that waits for its turn or its time.
bool is_plain_create(const domain::Put& put, const Manner& manner) {
    const Header& h = put.header;
    const bool waits = h.state == State::queued || h.state == State::waiting;
    return put.expected_version == 0 && !put.erase && h.kind == domain::Kind::task && waits &&
           h.fingerprint == 0 && put.body && !put.outcome && !pieces_of(*put.body, manner).empty();
}

std::string encode_create(const domain::Put& put, std::uint64_t nonce, const Manner& manner) {
    Header h = put.header;
    h.nonce = nonce;
    std::string event;
    domain::pack_event(event, h, put.transition);
    MsgWriter out;
    out.flag(true)
        .text(h.id.text())
        .text(domain::to_string(h.state))
        .text(std::to_string(h.attempt))
        .text(encode_hot(h))
        .text(encode_cold(h))
        .text(event)
        .text(time_text(h.wake_at))
        .text(lane_name(h))
        .text(h.queue + '|' + h.type)
        .number(h.gate_limit)
        .text(std::to_string(micros(h.created_at)));
    if (put.audit) {
        std::string row;
        domain::pack(row, put.transition);
        out.text("1").text(row);
    }
    for (std::size_t i = 0; const std::string_view piece : pieces_of(*put.body, manner))
        out.text(kPieceNames.at(i++)).text(piece);
    return out.take();
}

void encode_append(MsgWriter& out, const domain::Append& append) {
    out.array(5)
        .text(append.owner.text())
        .text(scoped_name(append.log, append.unique_key))
        .text(append.bytes.view())
        .flag(append.existing == domain::Append::Existing::refuse)
        .text(append.log);
}

/// The sum of what is stored and all adds before this one and it must stay in the bounds, and in 64 bits: said as
/// bounds of what is stored, so that a script need not add such numbers.
void encode_add(MsgWriter& out, const domain::Add& add, std::int64_t sum) {
    constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    const auto bound = [sum](std::int64_t limit) {
        std::int64_t stored = 0;
        if (__builtin_sub_overflow(limit, sum, &stored)) return sum < 0 ? kMax : kMin;
        return stored;
    };
    out.array(4)
        .text(add.counter)
        .text(std::to_string(add.delta))
        .text(std::to_string(bound(add.min.value_or(kMin))))
        .text(std::to_string(bound(add.max.value_or(kMax))));
}

void encode_bind(MsgWriter& out, const domain::Bind& bind, const Change& change) {
    const auto ttl = std::chrono::ceil<std::chrono::milliseconds>(bind.ttl);
    const bool is_put = std::ranges::any_of(
        change.puts, [&](const domain::Put& put) { return put.header.id == bind.id; });
    out.array(5)
        .text(scoped_name(bind.scope, bind.key))
        .text(bind.id.text())
        .text({reinterpret_cast<const char*>(bind.body_hash.data()), bind.body_hash.size()})
        .number(std::max<std::int64_t>(ttl.count(), 1))
        .flag(is_put);
}

void encode_permit(MsgWriter& out, const domain::Permit& permit) {
    out.array(5)
        .flag(permit.act == domain::Permit::Act::acquire)
        .text(permit.key)
        .text(permit.holder.text() + ':' + std::to_string(static_cast<std::int64_t>(permit.epoch)))
        .number(permit.capacity)
        .number(permit.ttl.count());
}

void encode_note(MsgWriter& out, const domain::Note& note) {
    out.array(4)
        .number(static_cast<std::int64_t>(note.subject.kind))
        .text(note.subject.id.text())
        .text(note.name)
        .text(note.data.view());
}

template <class Items, class Encode>
void encode_all(MsgWriter& out, const Items& items, Encode encode) {
    if (items.empty()) {
        out.none();
        return;
    }
    out.array(items.size());
    for (const auto& item : items) encode(out, item);
}

void encode_beside_puts(MsgWriter& out, const Change& change) {
    encode_all(out, change.appends, encode_append);
    std::unordered_map<std::string_view, std::int64_t> sums;
    encode_all(out, change.adds, [&](MsgWriter& to, const domain::Add& add) {
        encode_add(to, add, sums[add.counter] += add.delta);
    });
    encode_all(out, change.binds,
               [&](MsgWriter& to, const domain::Bind& bind) { encode_bind(to, bind, change); });
    encode_all(out, change.permits, encode_permit);
    encode_all(out, change.notes, encode_note);
}

}  // namespace

EncodedChange encode_change(const Change& change, const Manner& manner) {
    const bool only_puts = change.appends.empty() && change.adds.empty() && change.binds.empty() &&
                           change.permits.empty() && change.notes.empty();
    EncodedChange encoded;
    encoded.weight = std::max<std::size_t>(change.puts.size(), 1);
    for (const domain::Put& put : change.puts)
        encoded.creates |= put.expected_version == 0 && !put.erase;
    if (only_puts && change.puts.size() == 1) {
        const domain::Put& put = change.puts.front();
        encoded.bytes = is_plain_create(put, manner) ? encode_create(put, change.nonce, manner)
                                                     : encode_put(put, change, manner);
        return encoded;
    }
    MsgWriter out;
    out.number(static_cast<std::int64_t>(change.puts.size()));
    for (const domain::Put& put : change.puts) out.text(encode_put(put, change, manner));
    encode_beside_puts(out, change);
    encoded.bytes = out.take();
    return encoded;
}

Result<Outcome> decode_outcome(Value answer) {
    Outcome outcome;
    if (answer.kind() == holdfast::redis::Reply::Kind::integer) return outcome;
    if (!answer.is_array() || answer.size() == 0)
        return refuse(Code::unavailable, "commit stopped: " + std::string(answer.text()));
    outcome.verdict = static_cast<Verdict>(answer[0].integer());
    if (outcome.verdict == Verdict::committed) {
        for (std::size_t i = 1; i < answer.size(); ++i)
            outcome.skipped.push_back(static_cast<std::size_t>(answer[i].integer()));
        return outcome;
    }
    outcome.reason = answer.size() > 1 ? answer[1].text() : "version";
    if (answer.size() > 2) {
        constexpr std::size_t kIdSize = 36;
        const std::string_view bound = answer[2].text();
        if (bound.size() != kIdSize + outcome.bound_hash.size())
            return refuse(Code::unavailable, "a binding cannot be read");
        TRY(outcome.bound_to, Uuid::parse(bound.substr(0, kIdSize)));
        std::ranges::copy_n(bound.begin() + kIdSize, std::ssize(outcome.bound_hash),
                            reinterpret_cast<char*>(outcome.bound_hash.data()));
    }
    return outcome;
}

// ---- requests ----

std::string encode_claim(const ClaimRequest& request, std::uint32_t max, const Manner& manner) {
    MsgWriter out;
    out.text(request.worker)
        .text(domain::to_string(request.to))
        .number(request.lease.count())
        .number(max)
        .array(request.queues.size());
    for (const ClaimQueue& queue : request.queues) {
        out.array(6).text(queue.name);
        encode_all(out, queue.types, [](MsgWriter& to, const std::string& type) { to.text(type); });
        out.number(queue.max).number(queue.concurrency).text(domain::queue_permit(queue.name));
        manner.keeps(queue.name) ? out.number(manner.reclaim_idle.count()) : out.none();
    }
    return out.take();
}

std::string encode_renewal(const Renewal& renewal) {
    MsgWriter out;
    out.text(renewal.id.text())
        .number(renewal.fence.attempt)
        .number(static_cast<std::int64_t>(renewal.fence.epoch))
        .number(renewal.lease.count());
    renewal.progress ? out.real(*renewal.progress) : out.none();
    renewal.note ? out.text(*renewal.note) : out.none();
    return out.take();
}

Result<Record> decode_record(Value answer) {
    constexpr std::size_t kFields = 8;
    if (answer.size() != kFields) return refuse(Code::unavailable, "a script gave no record");
    std::array<std::string_view, kFields> texts;
    std::int64_t attempt = 0;
    std::size_t i = 0;
    for (const Value field : answer) {
        if (i == 2) attempt = field.integer();
        texts.at(i++) = field.text();
    }
    auto header = decode_header({texts[0], texts[1], texts[3], texts[4], texts[5], attempt});
    if (!header)
        return refuse(Code::unavailable,
                      "the header of " + std::string(texts[0]) + " cannot be read");
    return Record{*std::move(header), Bytes(texts[6]), Bytes(texts[7])};
}

// ---- rows and events ----

namespace {

/// What claims write begins with a msgpack text; what the domain packs, with a small number.
bool is_of_claim(std::string_view bytes) {
    constexpr unsigned char kFirstText = 0xa0;
    return !bytes.empty() && static_cast<unsigned char>(bytes.front()) >= kFirstText;
}

domain::FeedEvent decode_claim(std::string_view bytes) {
    MsgReader in(bytes);
    domain::FeedEvent e;
    e.name = in.text();
    e.subject = key_of(in.text()).value_or(Key{});
    e.from = State::queued;
    e.version = static_cast<std::uint64_t>(in.number());
    e.to = domain::state_from(in.text()).value_or(State::none);
    e.attempt = static_cast<std::uint32_t>(in.number());
    e.at = time_at(in.number());
    e.queue = in.text();
    e.type = in.text();
    e.tenant = in.text();
    return e;
}

domain::FeedEvent decode_note(MsgReader& in) {
    domain::FeedEvent e;
    in.array();
    e.subject.kind = static_cast<domain::Kind>(in.number());
    e.subject.id = Uuid::parse(in.text()).value_or(Uuid{});
    e.name = in.text();
    e.data = Bytes(in.text());
    e.at = time_at(in.number());
    return e;
}

}  // namespace

std::optional<domain::Transition> decode_row(std::string_view bytes) {
    if (!is_of_claim(bytes)) {
        auto rows = domain::unpack_history(bytes);
        return rows.size() == 1 ? std::optional(std::move(rows.front())) : std::nullopt;
    }
    MsgReader in(bytes);
    domain::Transition t;
    t.event = domain::event_from(in.text()).value_or(domain::Event::none);
    t.from = State::queued;
    t.to = domain::state_from(in.text()).value_or(State::none);
    t.attempt = static_cast<std::uint32_t>(in.number());
    t.at = time_at(in.number());
    t.actor = in.text();
    return in.ok() ? std::optional(std::move(t)) : std::nullopt;
}

std::vector<domain::FeedEvent> decode_events(std::string_view bytes) {
    std::vector<domain::FeedEvent> events;
    MsgReader in(bytes);
    for (std::size_t left = in.array(); left > 0 && in.ok(); --left) {
        if (!in.at_text()) {
            events.push_back(decode_note(in));
            if (!in.ok()) events.pop_back();
            continue;
        }
        const std::string_view packed = in.text();
        if (is_of_claim(packed)) {
            events.push_back(decode_claim(packed));
            continue;
        }
        for (domain::FeedEvent& event : domain::unpack_events(packed))
            events.push_back(std::move(event));
    }
    return events;
}

}  // namespace holdfast::stores::redis
