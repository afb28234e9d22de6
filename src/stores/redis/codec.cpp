#include "stores/redis/codec.h"

#include <charconv>
#include <limits>
#include <unordered_map>

#include "base/packing.h"
#include "stores/redis/msgpack.h"

namespace holdfast::stores::redis {
namespace {

constexpr std::size_t kHeaderFields = 27;

std::int64_t micros(Time t) {
    return t.time_since_epoch().count();
}
Time time_at(std::int64_t us) {
    return Time{Duration{us}};
}

/// A 64-bit number a Lua number cannot hold; scripts pass it on unread.
std::string eight_bytes(std::uint64_t n) {
    std::string bytes;
    if (n == 0) return bytes;
    for (unsigned shift = 64; shift > 0; shift -= 8)
        bytes.push_back(static_cast<char>(n >> (shift - 8) & 0xff));
    return bytes;
}
std::uint64_t from_eight_bytes(std::string_view bytes) {
    std::uint64_t n = 0;
    for (const char c : bytes) n = n << 8 | static_cast<unsigned char>(c);
    return n;
}

/// What no script reads, in one piece.
std::string pack_rest(const Header& h) {
    std::string rest;
    Packer(rest)
        .number((h.until_signal ? 1U : 0U) + (h.signal_pending ? 2U : 0U))
        .number(h.retry_count)
        .number(h.crashes)
        .number(h.revision)
        .number(h.checkpoints)
        .number(h.signals)
        .number(static_cast<std::uint64_t>(micros(h.created_at)))
        .number(static_cast<std::uint64_t>(micros(h.finished_at)))
        .number(static_cast<std::uint64_t>(micros(h.run_at)))
        .text(h.policy)
        .text(h.labels);
    return rest;
}

void unpack_rest(std::string_view rest, Header& h) {
    Unpacker in(rest);
    const auto small = [&] { return static_cast<std::uint16_t>(in.number()); };
    const auto time = [&] { return time_at(static_cast<std::int64_t>(in.number())); };
    const std::uint64_t flags = in.number();
    h.until_signal = (flags & 1) != 0;
    h.signal_pending = (flags & 2) != 0;
    h.retry_count = small();
    h.crashes = small();
    h.revision = small();
    h.checkpoints = small();
    h.signals = small();
    h.created_at = time();
    h.finished_at = time();
    h.run_at = time();
    h.policy = in.text();
    h.labels = in.text();
}

}  // namespace

std::string ref_of(const Key& key) {
    return std::to_string(static_cast<int>(key.kind)) + ':' + key.id.text();
}

std::optional<Key> key_of(std::string_view ref) {
    if (ref.size() < 3) return std::nullopt;
    const auto id = Uuid::parse(ref.substr(2));
    if (!id) return std::nullopt;
    return Key{static_cast<domain::Kind>(ref[0] - '0'), *id};
}

std::string encode_header(const Header& h) {
    MsgWriter out;
    out.array(kHeaderFields)
        .number(static_cast<std::int64_t>(h.version))
        .number(static_cast<std::int64_t>(h.state))
        .number(h.attempt)
        .number(static_cast<std::int64_t>(h.epoch))
        .number(h.lease_granted.count())
        .number(micros(h.lease_until))
        .text(h.worker)
        .number(micros(h.updated_at))
        .number(micros(h.started_at))
        .number(micros(h.due_at))
        .number(static_cast<std::int64_t>(h.ended_by))
        .real(h.progress)
        .number((h.holds_gate ? 1 : 0) + (h.holds_queue_permit ? 2 : 0))
        .text(eight_bytes(h.nonce))
        .text(h.queue)
        .text(h.type)
        .text(h.tenant)
        .number(h.priority)
        .number(h.lane_by_type ? 1 : 0)
        .text(h.gate)
        .number(h.gate_limit)
        .number(h.lease.count())
        .number(micros(h.deadline))
        .text(fingerprint_text(h.fingerprint))
        .number((h.cancel_requested ? 1 : 0) + (h.pause_requested ? 2 : 0))
        .text(h.note)
        .text(pack_rest(h));
    return out.take();
}

std::optional<Header> decode_header(std::string_view ref, std::string_view bytes, Time wake_at) {
    MsgReader in(bytes);
    const auto key = key_of(ref);
    if (!key || in.array() != kHeaderFields) return std::nullopt;
    Header h;
    h.kind = key->kind;
    h.id = key->id;
    h.wake_at = wake_at;
    h.version = static_cast<std::uint64_t>(in.number());
    h.state = static_cast<State>(in.number());
    h.attempt = static_cast<std::uint32_t>(in.number());
    h.epoch = domain::Epoch{in.number()};
    h.lease_granted = Duration{in.number()};
    h.lease_until = time_at(in.number());
    h.worker = in.text();
    h.updated_at = time_at(in.number());
    h.started_at = time_at(in.number());
    h.due_at = time_at(in.number());
    h.ended_by = static_cast<domain::Event>(in.number());
    h.progress = static_cast<float>(in.real());
    const std::int64_t holds = in.number();
    h.holds_gate = (holds & 1) != 0;
    h.holds_queue_permit = (holds & 2) != 0;
    h.nonce = from_eight_bytes(in.text());
    h.queue = in.text();
    h.type = in.text();
    h.tenant = in.text();
    h.priority = static_cast<std::uint8_t>(in.number());
    h.lane_by_type = in.number() != 0;
    h.gate = in.text();
    h.gate_limit = static_cast<std::uint32_t>(in.number());
    h.lease = Duration{in.number()};
    h.deadline = time_at(in.number());
    const std::string_view fingerprint = in.text();
    std::from_chars(fingerprint.data(), fingerprint.data() + fingerprint.size(), h.fingerprint, 16);
    const std::int64_t requested = in.number();
    h.cancel_requested = (requested & 1) != 0;
    h.pause_requested = (requested & 2) != 0;
    h.note = in.text();
    unpack_rest(in.text(), h);
    if (!in.ok()) return std::nullopt;
    return h;
}

std::string lane_name(const Header& header) {
    const domain::Lane lane = domain::lane_of(header);
    std::string name(lane.queue);
    name.append("|").append(lane.type).append("|").append(std::to_string(lane.priority));
    return name.append("|").append(lane.gate);
}

std::string scoped_name(std::string_view scope, std::string_view name) {
    std::string joined(scope);
    joined.push_back('\0');
    return joined.append(name);
}

std::string fingerprint_text(std::uint64_t fingerprint) {
    if (fingerprint == 0) return {};
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), fingerprint, 16);
    return {digits.data(), end.ptr};
}

// ---- changes ----

namespace {

void optional_bytes(MsgWriter& out, const std::optional<Bytes>& bytes) {
    if (bytes)
        out.text(bytes->view());
    else
        out.none();
}

void encode_put(MsgWriter& out, const domain::Put& put, std::uint64_t nonce) {
    Header h = put.header;
    h.nonce = nonce;
    const bool is_task = h.kind == domain::Kind::task;
    std::string row, event;
    if (put.audit) domain::pack(row, put.transition);
    domain::pack_event(event, h, put.transition);
    out.array(14)
        .text(ref_of(h.key()))
        .number(static_cast<std::int64_t>(put.expected_version))
        .number(static_cast<std::int64_t>(put.expected_epoch))
        .text(eight_bytes(put.expected_nonce))
        .number(micros(put.unless_renewed_past))
        .text(encode_header(h))
        .text(row)
        .text(event)
        .number(micros(h.wake_at))
        .text(is_task && h.state == State::queued ? lane_name(h) : std::string{});
    optional_bytes(out, put.body);
    optional_bytes(out, put.outcome);
    out.flag(put.erase);
    if (!is_task) {
        out.none();
        return;
    }
    out.array(5)
        .number(static_cast<std::int64_t>(h.state))
        .text(h.queue + '|' + h.type)
        .text(fingerprint_text(h.fingerprint))
        .number(h.gate_limit)
        .number(micros(h.updated_at));
}

void encode_append(MsgWriter& out, const domain::Append& append) {
    out.array(5)
        .text(append.owner.text())
        .text(scoped_name(append.log, append.unique_key))
        .text(append.bytes.view())
        .flag(append.existing == domain::Append::Existing::refuse)
        .text(append.log);
}

/// The sum of what is stored and all adds before this one and it must stay in the bounds, and in 64
/// bits: said as bounds of what is stored, so that a script need not add such numbers.
void encode_add(MsgWriter& out, const domain::Add& add, std::int64_t sum) {
    constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    const auto bound = [sum](std::int64_t limit) {
        std::int64_t stored = 0;
        if (__builtin_sub_overflow(limit, sum, &stored)) return sum < 0 ? kMax : kMin;
        return stored;
    };
    const std::int64_t least = bound(add.min.value_or(kMin));
    const std::int64_t most = bound(add.max.value_or(kMax));
    out.array(4)
        .text(add.counter)
        .text(std::to_string(add.delta))
        .text(std::to_string(least))
        .text(std::to_string(most));
}

void encode_bind(MsgWriter& out, const domain::Bind& bind) {
    const auto ttl = std::chrono::ceil<std::chrono::milliseconds>(bind.ttl);
    out.array(4)
        .text(scoped_name(bind.scope, bind.key))
        .text(bind.id.text())
        .text({reinterpret_cast<const char*>(bind.body_hash.data()), bind.body_hash.size()})
        .number(std::max<std::int64_t>(ttl.count(), 1));
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

template <class Item, class Encode>
void encode_all(MsgWriter& out, const std::vector<Item>& items, Encode encode) {
    if (items.empty()) {
        out.none();
        return;
    }
    out.array(items.size());
    for (const Item& item : items) encode(out, item);
}

}  // namespace

std::string encode_change(const Change& change) {
    MsgWriter out;
    out.array(6).array(change.puts.size());
    for (const domain::Put& put : change.puts) encode_put(out, put, change.nonce);
    encode_all(out, change.appends, encode_append);
    std::unordered_map<std::string_view, std::int64_t> sums;
    encode_all(out, change.adds, [&](MsgWriter& to, const domain::Add& add) {
        encode_add(to, add, sums[add.counter] += add.delta);
    });
    encode_all(out, change.binds, encode_bind);
    encode_all(out, change.permits, encode_permit);
    encode_all(out, change.notes, encode_note);
    return out.take();
}

std::string encode_queues(const std::vector<ClaimQueue>& queues) {
    MsgWriter out;
    out.array(queues.size());
    for (const ClaimQueue& queue : queues) {
        out.array(5).text(queue.name);
        encode_all(out, queue.types, [](MsgWriter& to, const std::string& type) { to.text(type); });
        out.number(queue.max).number(queue.concurrency).text(domain::queue_permit(queue.name));
    }
    return out.take();
}

std::string encode_renewals(const std::vector<Renewal>& renewals) {
    MsgWriter out;
    out.array(renewals.size());
    for (const Renewal& renewal : renewals) {
        out.array(6)
            .text(ref_of({domain::Kind::task, renewal.id}))
            .number(renewal.fence.attempt)
            .number(static_cast<std::int64_t>(renewal.fence.epoch))
            .number(renewal.lease.count());
        renewal.progress ? out.real(*renewal.progress) : out.none();
        renewal.note ? out.text(*renewal.note) : out.none();
    }
    return out.take();
}

// ---- rows and events ----

std::optional<domain::Transition> decode_row(std::string_view bytes) {
    constexpr std::size_t kClaimFields = 4;
    constexpr char kClaimRow = static_cast<char>(0x90 | kClaimFields);  // no packed row begins so
    if (!bytes.starts_with(kClaimRow)) {
        auto rows = domain::unpack_history(bytes);
        return rows.size() == 1 ? std::optional(std::move(rows.front())) : std::nullopt;
    }
    MsgReader in(bytes);
    in.array();
    domain::Transition t;
    t.event = domain::Event::claimed;
    t.from = State::queued;
    t.to = static_cast<State>(in.number());
    t.attempt = static_cast<std::uint32_t>(in.number());
    t.at = time_at(in.number());
    t.actor = in.text();
    return in.ok() ? std::optional(std::move(t)) : std::nullopt;
}

namespace {

domain::FeedEvent decode_claim(MsgReader& in) {
    domain::FeedEvent e;
    e.name = domain::to_string(domain::Event::claimed);
    e.subject = key_of(in.text()).value_or(Key{});
    e.from = State::queued;
    e.version = static_cast<std::uint64_t>(in.number());
    e.to = static_cast<State>(in.number());
    e.attempt = static_cast<std::uint32_t>(in.number());
    e.at = time_at(in.number());
    e.queue = in.text();
    e.type = in.text();
    e.tenant = in.text();
    return e;
}

domain::FeedEvent decode_note(MsgReader& in) {
    domain::FeedEvent e;
    e.subject.kind = static_cast<domain::Kind>(in.number());
    e.subject.id = Uuid::parse(in.text()).value_or(Uuid{});
    e.name = in.text();
    e.data = Bytes(in.text());
    e.at = time_at(in.number());
    return e;
}

}  // namespace

std::vector<domain::FeedEvent> decode_events(std::string_view bytes) {
    std::vector<domain::FeedEvent> events;
    MsgReader in(bytes);
    for (std::size_t left = in.array(); left > 0 && in.ok(); --left) {
        if (in.at_text()) {
            for (domain::FeedEvent& event : domain::unpack_events(in.text()))
                events.push_back(std::move(event));
            continue;
        }
        in.array();
        events.push_back(in.at_text() ? decode_claim(in) : decode_note(in));
    }
    return events;
}

}  // namespace holdfast::stores::redis
