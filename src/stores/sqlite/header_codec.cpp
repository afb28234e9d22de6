#include "stores/sqlite/header_codec.h"

#include <bit>

#include "base/packing.h"

namespace holdfast::stores::sqlite {
namespace {

constexpr std::uint64_t kForm =
    1;  ///< Of the bytes. A new field gets a new form, and readers know both.

constexpr std::uint8_t kHighestPriority = 9;

/// Small numbers of either sign, small.
std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

std::uint64_t count(Time t) {
    return static_cast<std::uint64_t>(t.time_since_epoch().count());
}

/// Moments are near the record's creation, and many are not set. Damaged ones may be anywhere: hence unsigned.
class Moments {
  public:
    explicit Moments(domain::Header& h) : created_(count(h.created_at)) {}
    std::uint64_t pack(Time t) const {
        return is_set(t) ? zigzag(static_cast<std::int64_t>(count(t) - created_)) + 1 : 0;
    }
    Time unpack(std::uint64_t value) const {
        if (value == 0) return kNoTime;
        const std::uint64_t since = static_cast<std::uint64_t>(unzigzag(value - 1));
        return Time{Duration{static_cast<std::int64_t>(created_ + since)}};
    }

  private:
    std::uint64_t created_;
};

/// The order of the fields, for both ways.
void each_moment(domain::Header& h, auto&& visit) {
    for (Time* t : {&h.updated_at, &h.started_at, &h.finished_at, &h.run_at, &h.due_at, &h.deadline,
                    &h.lease_until, &h.wake_at})
        visit(*t);
}
void each_flag(domain::Header& h, auto&& visit) {
    unsigned bit = 0;
    for (bool* flag : {&h.pause_requested, &h.cancel_requested, &h.until_signal, &h.signal_pending,
                       &h.lane_by_type, &h.holds_gate, &h.holds_queue_permit})
        visit(*flag, 1U << bit++);
}
void each_number(domain::Header& h, auto&& visit) {
    visit(h.priority);
    visit(h.ended_by);
    visit(h.retry_count);
    visit(h.crashes);
    visit(h.revision);
    visit(h.checkpoints);
    visit(h.signals);
    visit(h.attempt);
    visit(h.gate_limit);
    visit(h.version);
    visit(h.nonce);
    visit(h.fingerprint);
}
void each_duration(domain::Header& h, auto&& visit) {
    visit(h.lease);
    visit(h.lease_granted);
}
void each_text(domain::Header& h, auto&& visit) {
    for (std::string* text : {&h.gate, &h.worker, &h.labels, &h.note}) visit(*text);
}

}  // namespace

std::string pack_header(const domain::Header& header, Names& names) {
    auto& h = const_cast<domain::Header&>(header);  // the visitors below only read
    std::string out;
    out.reserve(96);
    Packer p(out);
    const Moments moments(h);
    p.number(kForm).number(static_cast<std::uint64_t>(h.created_at.time_since_epoch().count()));
    each_moment(h, [&](Time t) { p.number(moments.pack(t)); });
    unsigned flags = 0;
    each_flag(h, [&](bool flag, unsigned bit) { flags |= flag ? bit : 0; });
    p.number(flags);
    each_number(h, [&](auto value) { p.number(static_cast<std::uint64_t>(value)); });
    p.number(
        moments.pack(Time{Duration{static_cast<std::int64_t>(h.epoch)}}));  // mostly a time, too
    p.number(std::bit_cast<std::uint32_t>(h.progress));
    each_duration(h, [&](Duration d) { p.number(zigzag(d.count())); });
    p.number(names.number(h.tenant)).number(names.number(h.policy));
    each_text(h, [&](const std::string& text) { p.text(text); });
    return out;
}

bool unpack_header(std::string_view bytes, const Names& names, domain::Header& h) {
    Unpacker u(bytes);
    if (u.number() != kForm) return false;
    h.created_at = Time{Duration{static_cast<std::int64_t>(u.number())}};
    const Moments moments(h);
    each_moment(h, [&](Time& t) { t = moments.unpack(u.number()); });
    const std::uint64_t flags = u.number();
    each_flag(h, [&](bool& flag, unsigned bit) { flag = (flags & bit) != 0; });
    each_number(h, [&](auto& value) {
        value = static_cast<std::remove_reference_t<decltype(value)>>(u.number());
    });
    h.epoch = domain::Epoch{moments.unpack(u.number()).time_since_epoch().count()};
    h.progress = std::bit_cast<float>(static_cast<std::uint32_t>(u.number()));
    each_duration(h, [&](Duration& d) { d = Duration{unzigzag(u.number())}; });
    h.tenant = names.text(static_cast<Names::Number>(u.number())).view();
    h.policy = names.text(static_cast<Names::Number>(u.number()));
    each_text(h, [&](std::string& text) { text = u.text(); });
    return u.ok() && u.done() && h.priority <= kHighestPriority &&
           static_cast<std::size_t>(h.ended_by) < domain::kEvents;
}

}  // namespace holdfast::stores::sqlite
