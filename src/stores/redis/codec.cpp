#include "stores/redis/codec.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/packing.h"
#include "stores/redis/msgpack.h"

namespace holdfast::stores::redis {
namespace {

/// Policies that nearly every task has, kept as their number. Stored data name them by their place: never take one out
/// or change it, add at the end.
constexpr std::array<std::string_view, 1> kUsualPolicies{
    "max=3;poison=3;schedule=1m,5m,15m;jitter=0.2;exhausted=suspend;timeout=suspend;outage=count"};

std::uint64_t from_eight_bytes(std::string_view bytes) {
    std::uint64_t n = 0;
    for (const char c : bytes) n = n << 8 | static_cast<unsigned char>(c);
    return n;
}

template <class Number>
Number number_of(std::string_view text, int base = 10) {
    Number number{};
    std::from_chars(text.data(), text.data() + text.size(), number, base);
    return number;
}

/// Relative to the last step, where it takes one byte rather than nine; none: false.
void relative(MsgWriter& out, std::int64_t at, Time updated_at) {
    if (at == 0)
        out.none();
    else
        out.number(at - micros(updated_at));
}
std::int64_t absolute(MsgReader& in, Time updated_at) {
    return in.none() ? 0 : micros(updated_at) + in.number();
}

/// Of h, what no script reads, in one piece; empty for a task to which nothing has happened yet.
std::string pack_more(const Header& h) {
    const auto flags = (h.until_signal ? 1U : 0U) + (h.signal_pending ? 2U : 0U);
    std::string more;
    if (flags == 0 && h.retry_count == 0 && h.crashes == 0 && h.revision == 0 &&
        h.checkpoints == 0 && h.signals == 0 && !is_set(h.finished_at))
        return more;
    Packer(more)
        .number(flags)
        .number(h.retry_count)
        .number(h.crashes)
        .number(h.revision)
        .number(h.checkpoints)
        .number(h.signals)
        .number(static_cast<std::uint64_t>(micros(h.finished_at)));
    return more;
}

void unpack_more(std::string_view more, Header& h) {
    if (more.empty()) return;
    Unpacker in(more);
    const auto small = [&] { return static_cast<std::uint16_t>(in.number()); };
    const std::uint64_t flags = in.number();
    h.until_signal = (flags & 1) != 0;
    h.signal_pending = (flags & 2) != 0;
    h.retry_count = small();
    h.crashes = small();
    h.revision = small();
    h.checkpoints = small();
    h.signals = small();
    h.finished_at = time_at(static_cast<std::int64_t>(in.number()));
}

/// Of c, what no script reads: the policy's number (from 1) or 0 and its text, run_at, labels.
std::string pack_rest(const Header& h) {
    std::string rest;
    Packer out(rest);
    const auto* const usual = std::ranges::find(kUsualPolicies, h.policy.view());
    if (usual != kUsualPolicies.end())
        out.number(static_cast<std::uint64_t>(usual - kUsualPolicies.begin()) + 1);
    else
        out.number(0).text(h.policy);
    if (is_set(h.run_at) || !h.labels.empty())
        out.number(static_cast<std::uint64_t>(micros(h.run_at))).text(h.labels);
    return rest;
}

bool unpack_rest(std::string_view rest, Header& h) {
    Unpacker in(rest);
    const std::uint64_t policy = in.number();
    if (policy > kUsualPolicies.size()) return false;
    h.policy = policy == 0 ? in.text() : kUsualPolicies.at(policy - 1);
    if (in.done()) return in.ok();
    h.run_at = time_at(static_cast<std::int64_t>(in.number()));
    h.labels = in.text();
    return in.ok();
}

bool decode_hot(std::string_view bytes, Header& h) {
    MsgReader in(bytes);
    h.version = static_cast<std::uint64_t>(in.number());
    h.updated_at = time_at(in.number());
    h.epoch = domain::Epoch{absolute(in, h.updated_at)};
    h.lease_granted = Duration{in.number()};
    h.lease_until = time_at(absolute(in, h.updated_at));
    h.worker = in.text();
    h.started_at = time_at(absolute(in, h.updated_at));
    h.due_at = time_at(absolute(in, h.updated_at));
    h.ended_by = static_cast<domain::Event>(in.number());
    h.progress = static_cast<float>(in.real());
    const std::int64_t holds = in.number();
    h.holds_gate = (holds & 1) != 0;
    h.holds_queue_permit = (holds & 2) != 0;
    h.nonce = from_eight_bytes(in.text());
    h.fingerprint = number_of<std::uint64_t>(in.text(), 16);
    const std::int64_t requested = in.number();
    h.cancel_requested = (requested & 1) != 0;
    h.pause_requested = (requested & 2) != 0;
    h.note = in.text();
    unpack_more(in.text(), h);
    return in.ok();
}

bool decode_cold(std::string_view bytes, Header& h) {
    MsgReader in(bytes);
    h.queue = in.text();
    h.type = in.text();
    h.tenant = in.text();
    h.priority = static_cast<std::uint8_t>(in.number());
    h.lane_by_type = in.number() != 0;
    h.gate = in.text();
    h.gate_limit = static_cast<std::uint32_t>(in.number());
    h.lease = Duration{in.number()};
    h.deadline = time_at(in.number());
    h.created_at = time_at(number_of<std::int64_t>(in.text()));
    return unpack_rest(in.text(), h) && in.ok();
}

}  // namespace

std::string ref_of(const Key& key) {
    if (key.kind == domain::Kind::task) return key.id.text();
    return key.id.text().append(":").append(domain::to_string(key.kind));
}

std::optional<Key> key_of(std::string_view ref) {
    Key key;
    if (const std::size_t colon = ref.find(':'); colon != std::string_view::npos) {
        const auto* const kind = std::ranges::find(domain::kKindNames, ref.substr(colon + 1));
        if (kind == domain::kKindNames.end()) return std::nullopt;
        key.kind = static_cast<domain::Kind>(kind - domain::kKindNames.begin());
        ref = ref.substr(0, colon);
    }
    const auto id = Uuid::parse(ref);
    if (!id) return std::nullopt;
    key.id = *id;
    return key;
}

std::string encode_hot(const Header& h) {
    MsgWriter out;
    out.number(static_cast<std::int64_t>(h.version)).number(micros(h.updated_at));
    relative(out, static_cast<std::int64_t>(h.epoch), h.updated_at);
    out.number(h.lease_granted.count());
    relative(out, micros(h.lease_until), h.updated_at);
    out.text(h.worker);
    relative(out, micros(h.started_at), h.updated_at);
    relative(out, micros(h.due_at), h.updated_at);
    out.number(static_cast<std::int64_t>(h.ended_by));
    h.progress == -1 ? out.number(-1) : out.real(h.progress);
    out.number((h.holds_gate ? 1 : 0) + (h.holds_queue_permit ? 2 : 0))
        .text(eight_bytes(h.nonce))
        .text(fingerprint_text(h.fingerprint))
        .number((h.cancel_requested ? 1 : 0) + (h.pause_requested ? 2 : 0))
        .text(h.note)
        .text(pack_more(h));
    return out.take();
}

std::string encode_cold(const Header& h) {
    MsgWriter out;
    out.text(h.queue)
        .text(h.type)
        .text(h.tenant)
        .number(h.priority)
        .number(h.lane_by_type ? 1 : 0)
        .text(h.gate)
        .number(h.gate_limit)
        .number(h.lease.count())
        .number(micros(h.deadline))
        .text(std::to_string(micros(h.created_at)))
        .text(pack_rest(h));
    return out.take();
}

std::optional<Header> decode_header(const Parts& parts) {
    const auto key = key_of(parts.ref);
    const auto state = domain::state_from(parts.state);
    Header h;
    if (!key || !state || !decode_hot(parts.hot, h) || !decode_cold(parts.cold, h))
        return std::nullopt;
    h.kind = key->kind;
    h.id = key->id;
    h.state = *state;
    h.attempt = static_cast<std::uint32_t>(parts.attempt);
    h.wake_at = time_at(number_of<std::int64_t>(parts.wake_at));
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

std::string eight_bytes(std::uint64_t n) {
    std::string bytes;
    if (n == 0) return bytes;
    for (unsigned shift = 64; shift > 0; shift -= 8)
        bytes.push_back(static_cast<char>(n >> (shift - 8) & 0xff));
    return bytes;
}

}  // namespace holdfast::stores::redis
