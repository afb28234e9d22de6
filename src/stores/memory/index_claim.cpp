// The steps a store takes by itself: claim, renew, due.
#include <algorithm>

#include "domain/decide.h"
#include "stores/memory/index.h"

namespace holdfast::stores::memory {

std::vector<Record> Index::claim(const ClaimRequest& request, Time now) {
    std::vector<Record> claimed;
    lanes_.wake(permits_.lapsed(now));
    const Interner::Number worker = workers_.hold(request.worker);
    const std::size_t queues = request.queues.size();
    if (queues > 0) ++turn_;  // no queue starves behind another one
    for (std::size_t i = 0; i < queues && claimed.size() < request.max; ++i) {
        const ClaimQueue& queue = request.queues[(turn_ + i) % queues];
        std::size_t left = std::min<std::size_t>(queue.max, request.max - claimed.size());
        if (queue.concurrency > 0) {
            const std::uint32_t held = permits_.held(domain::queue_permit(queue.name), now);
            left = std::min<std::size_t>(left,
                                         queue.concurrency > held ? queue.concurrency - held : 0);
        }
        for (; left > 0; --left) {
            const SlotId id = lanes_.next(queue.name, queue.types, now);
            if (id == kNoSlot) break;
            claimed.push_back(hand_out(id, request, queue, worker, now));
        }
    }
    workers_.release(worker);
    return claimed;
}

Record Index::hand_out(SlotId id, const ClaimRequest& request, const ClaimQueue& queue,
                       Interner::Number worker, Time now) {
    Slot& slot = slots_[id];
    Record record = record_of(slot);
    Header& h = record.header;
    const domain::Claim claim{
        .to = request.to,
        .worker = request.worker,
        .epoch = epoch_rule_(h.epoch, std::max(now, epoch_floor_)),
        .lease = request.lease > Duration{0} ? request.lease
                 : h.lease > Duration{0}     ? h.lease
                                             : domain::kDefaultLease,
        .takes_gate = !h.gate.empty() && h.gate_limit > 0,
        .takes_queue_permit = queue.concurrency > 0,
    };
    const State from = h.state;
    domain::stamp_claim(h, claim, now);
    if (claim.takes_gate) permits_.acquire(h.gate, {h.id, h.epoch, kNoTime}, now);
    if (claim.takes_queue_permit)
        permits_.acquire(domain::queue_permit(queue.name), {h.id, h.epoch, kNoTime}, now);

    const domain::Transition transition = domain::claim_transition(h, from);
    domain::pack(slot.history, transition);
    feed_.add(h, transition);
    catalogue_.leave(id);
    set_timer(id, kNoTime);
    workers_.release(slot.worker);
    slot.worker = workers_.hold_again(worker);
    slot.state = h.state;
    slot.version = h.version;
    slot.attempt = h.attempt;
    slot.epoch = h.epoch;
    slot.nonce = h.nonce;
    slot.lease_granted = h.lease_granted;
    slot.lease_until = h.lease_until;
    slot.updated_at = h.updated_at;
    slot.started_at = h.started_at;
    slot.due_at = h.due_at;
    slot.ended_by = h.ended_by;
    slot.progress = h.progress;
    slot.holds_gate = h.holds_gate;
    slot.holds_queue_permit = h.holds_queue_permit;
    slot.wake_at = h.wake_at;
    place(id);
    return record;
}

Renewed Index::renew(const Renewal& renewal, Time now) {
    const SlotId id = find({domain::Kind::task, renewal.id});
    if (id == kNoSlot) return {};
    Slot& slot = slots_[id];
    const domain::Fence fence{slot.attempt, slot.epoch};
    if (!domain::is_held(slot.state) || fence != renewal.fence) return {};
    Header h = header_of(slot);
    const Duration lease = renewal.lease > Duration{0} ? renewal.lease : h.lease_granted;
    domain::stamp_renewal(h, lease, now);
    slot.lease_until = h.lease_until;
    set_timer(id, h.wake_at);
    if (renewal.progress) slot.progress = *renewal.progress;
    if (renewal.note) {
        if (!slot.extras) slot.extras = std::make_unique<Extras>();
        slot.extras->note = *renewal.note;
    }
    return {true, slot.lease_until, slot.cancel_requested, slot.pause_requested};
}

std::vector<Record> Index::due(std::size_t limit, Time now) {
    std::vector<SlotId> rung;
    for (auto timer = timers_.begin();
         timer != timers_.end() && rung.size() < limit && timer->first <= now; ++timer) {
        rung.push_back(timer->second);
    }
    std::vector<Record> records;
    records.reserve(rung.size());
    for (const SlotId id : rung) {
        set_timer(id, now + kDuePush);
        records.push_back(record_of(slots_[id]));
    }
    return records;
}

}  // namespace holdfast::stores::memory
