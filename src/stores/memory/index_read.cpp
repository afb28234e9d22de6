// Reading, and throwing away what is old.
#include <algorithm>
#include <ranges>
#include <utility>

#include "stores/memory/index.h"

namespace holdfast::stores::memory {

Header Index::header_of(const Slot& s) const {
    Header h;
    h.id = s.id;
    h.kind = s.kind;
    h.state = s.state;
    h.priority = s.priority;
    h.ended_by = s.ended_by;
    h.pause_requested = s.pause_requested;
    h.cancel_requested = s.cancel_requested;
    h.until_signal = s.until_signal;
    h.signal_pending = s.signal_pending;
    h.lane_by_type = s.lane_by_type;
    h.holds_gate = s.holds_gate;
    h.holds_queue_permit = s.holds_queue_permit;
    h.retry_count = s.retry_count;
    h.crashes = s.crashes;
    h.revision = s.revision;
    h.checkpoints = s.checkpoints;
    h.signals = s.signals;
    h.attempt = s.attempt;
    h.progress = s.progress;
    h.version = s.version;
    h.nonce = s.nonce;
    h.epoch = s.epoch;
    h.created_at = s.created_at;
    h.updated_at = s.updated_at;
    h.started_at = s.started_at;
    h.finished_at = s.finished_at;
    h.due_at = s.due_at;
    h.lease_granted = s.lease_granted;
    h.lease_until = s.lease_until;
    h.wake_at = s.wake_at;
    h.queue = s.family->queue;
    h.type = s.family->type;
    h.tenant = tenants_.text(s.tenant).view();
    h.policy = policies_.text(s.policy);
    h.worker = workers_.text(s.worker).view();
    if (!s.extras) return h;
    h.gate = s.extras->gate;
    h.gate_limit = s.extras->gate_limit;
    h.labels = s.extras->labels;
    h.note = s.extras->note;
    h.fingerprint = s.extras->fingerprint;
    h.lease = s.extras->lease;
    h.run_at = s.extras->run_at;
    h.deadline = s.extras->deadline;
    return h;
}

void Index::write(SlotId id, Header& h) {
    Slot& s = slots_[id];
    s.id = h.id;
    s.kind = h.kind;
    s.state = h.state;
    s.priority = h.priority;
    s.ended_by = h.ended_by;
    s.pause_requested = h.pause_requested;
    s.cancel_requested = h.cancel_requested;
    s.until_signal = h.until_signal;
    s.signal_pending = h.signal_pending;
    s.lane_by_type = h.lane_by_type;
    s.holds_gate = h.holds_gate;
    s.holds_queue_permit = h.holds_queue_permit;
    s.retry_count = h.retry_count;
    s.crashes = h.crashes;
    s.revision = h.revision;
    s.checkpoints = h.checkpoints;
    s.signals = h.signals;
    s.attempt = h.attempt;
    s.progress = h.progress;
    s.version = h.version;
    s.nonce = h.nonce;
    s.epoch = h.epoch;
    s.created_at = h.created_at;
    s.updated_at = h.updated_at;
    s.started_at = h.started_at;
    s.finished_at = h.finished_at;
    s.due_at = h.due_at;
    s.lease_granted = h.lease_granted;
    s.lease_until = h.lease_until;
    s.wake_at = h.wake_at;
    if (s.family == nullptr || s.family->queue != h.queue || s.family->type != h.type) {
        const Family* old = std::exchange(s.family, &catalogue_.family(h.kind, h.queue, h.type));
        if (old != nullptr) catalogue_.retire(*old);
    }
    const auto exchange = [](Interner& interner, Interner::Number& number, std::string_view text) {
        if (interner.text(number).view() == text) return;
        interner.release(number);
        number = interner.hold(text);
    };
    exchange(tenants_, s.tenant, h.tenant);
    exchange(policies_, s.policy, h.policy);
    exchange(workers_, s.worker, h.worker);

    const bool plain = h.gate.empty() && h.labels.empty() && h.note.empty() && h.fingerprint == 0 &&
                       h.lease == Duration{0} && !is_set(h.run_at) && !is_set(h.deadline);
    if (plain && !s.extras) return;
    if (!s.extras) s.extras = std::make_unique<Extras>();
    s.extras->gate = std::move(h.gate);
    s.extras->gate_limit = h.gate_limit;
    s.extras->labels = std::move(h.labels);
    s.extras->note = std::move(h.note);
    s.extras->fingerprint = h.fingerprint;
    s.extras->lease = h.lease;
    s.extras->run_at = h.run_at;
    s.extras->deadline = h.deadline;
}

std::optional<Record> Index::load(const Key& key) const {
    const SlotId id = find(key);
    if (id == kNoSlot) return std::nullopt;
    return record_of(slots_[id]);
}

Page Index::list(const Filter& filter, std::string_view cursor, std::size_t limit,
                 std::size_t budget) const {
    auto found = list_slots(filter, cursor, limit, budget);
    for (const SlotId id : found.slots) {
        found.page.rows.push_back({header_of(slots_[id]), slots_[id].lane != nullptr});
    }
    return std::move(found.page);
}

Stats Index::stats() const {
    Stats stats{catalogue_.counts(), catalogue_.failures()};
    for (auto& [queue, since] : lanes_.oldest(kOldestLanes))
        stats.oldest.push_back({std::move(queue), since});
    std::ranges::sort(stats.oldest, {}, &Oldest::queue);
    return stats;
}

std::vector<domain::Transition> Index::history(const Key& key) const {
    const SlotId id = find(key);
    return id == kNoSlot ? std::vector<domain::Transition>{}
                         : domain::unpack_history(slots_[id].history);
}

std::vector<LogEntry> Index::log(std::string_view log, const Uuid& owner, std::size_t skip,
                                 std::size_t limit) const {
    const auto found = logs_.find({owner, std::string(log)});
    if (found == logs_.end()) return {};
    const auto entries = found->second.entries | std::views::drop(skip) | std::views::take(limit);
    return {entries.begin(), entries.end()};
}

std::int64_t Index::count(const Tally& tally, Time now) const {
    if (tally.of == Tally::Of::permit) return permits_.held(tally.name, now);
    const auto found = counters_.find(tally.name);
    return found == counters_.end() ? 0 : found->second;
}

bool Index::erase_unless_bound(const Uuid& task, Time now) {
    const SlotId id = find({domain::Kind::task, task});
    if (id == kNoSlot) return false;
    const Slot& slot = slots_[id];
    if (slot.extras && slot.extras->bound_until > now) {
        bound_.emplace(slot.extras->bound_until, task);
        return false;
    }
    erase(id, now);
    return true;
}

std::size_t Index::trim(const TrimRequest& request, Time now) {
    bindings_.drop_old(now);
    std::size_t gone = 0;
    while (gone < request.limit && !bound_.empty() && bound_.begin()->first <= now) {
        const Uuid task = bound_.begin()->second;
        bound_.erase(bound_.begin());
        gone += erase_unless_bound(task, now) ? 1 : 0;
    }
    while (gone < request.limit && !finished_.empty() &&
           finished_.front().first < request.finished_before) {
        const Uuid task = finished_.front().second;
        finished_.pop_front();
        gone += erase_unless_bound(task, now) ? 1 : 0;
    }
    feed_.trim(request.feed_before, request.feed_keep);
    return gone;
}

}  // namespace holdfast::stores::memory
