#include "stores/memory/index.h"

#include <algorithm>
#include <set>

#include "domain/decide.h"

namespace holdfast::stores::memory {
namespace {

void turn(Outcome& outcome, Verdict verdict, std::string_view reason) {
    outcome.verdict = verdict;
    outcome.reason = reason;
}

}  // namespace

Index::Index(EpochRule epoch_rule) : epoch_rule_(epoch_rule) {}
Index::~Index() = default;

SlotId Index::find(const Key& key) const {
    return by_id_[static_cast<std::size_t>(key.kind)].find(key.id);
}

// ---- commit: look at everything first, then write ----

Outcome Index::commit(Change& change, Time now) {
    Outcome outcome = examine(change, now);
    if (outcome.verdict == Verdict::committed) apply(change, outcome, now);
    return outcome;
}

Outcome Index::examine(const Change& change, Time now) const {
    Outcome outcome;
    examine_puts(change, outcome);
    if (outcome.verdict == Verdict::committed) examine_binds(change, now, outcome);
    if (outcome.verdict == Verdict::committed) examine_appends(change, outcome);
    if (outcome.verdict == Verdict::committed) examine_adds(change, outcome);
    if (outcome.verdict == Verdict::committed) examine_permits(change, now, outcome);
    return outcome;
}

void Index::examine_puts(const Change& change, Outcome& outcome) const {
    for (const domain::Put& put : change.puts) {
        if (put.header.id.partition() != change.partition)
            return turn(outcome, Verdict::refused, "partition");
        const SlotId id = find(put.header.key());
        const Slot* stored = id == kNoSlot ? nullptr : &slots_[id];
        const bool same =
            stored == nullptr
                ? put.expected_version == 0
                : stored->version == put.expected_version && stored->epoch == put.expected_epoch &&
                      (put.expected_nonce == 0 || stored->nonce == put.expected_nonce) &&
                      (!is_set(put.unless_renewed_past) ||
                       stored->lease_until <= put.unless_renewed_past);
        if (!same) return turn(outcome, Verdict::conflict, "version");
    }
}

void Index::examine_binds(const Change& change, Time now, Outcome& outcome) const {
    for (const domain::Bind& bind : change.binds) {
        const Binding* binding = bindings_.find(bind.scope, bind.key, now);
        if (binding == nullptr || binding->id == bind.id) continue;
        outcome.bound_to = binding->id;
        outcome.bound_hash = binding->hash;
        return turn(outcome, Verdict::duplicate, "binding");
    }
}

void Index::examine_appends(const Change& change, Outcome& outcome) const {
    for (std::size_t i = 0; i < change.appends.size(); ++i) {
        const domain::Append& append = change.appends[i];
        const auto same = [&](const domain::Append& other) {
            return other.owner == append.owner && other.log == append.log &&
                   other.unique_key == append.unique_key;
        };
        const auto log = logs_.find({append.owner, append.log});
        const bool exists =
            (log != logs_.end() && log->second.keys.contains(append.unique_key)) ||
            std::any_of(change.appends.begin(),
                        change.appends.begin() + static_cast<std::ptrdiff_t>(i), same);
        if (!exists) continue;
        if (append.existing == domain::Append::Existing::refuse)
            return turn(outcome, Verdict::duplicate, append.log);
        outcome.skipped.push_back(i);
    }
}

void Index::examine_adds(const Change& change, Outcome& outcome) const {
    std::map<std::string_view, std::int64_t> after;
    for (const domain::Add& add : change.adds) {
        const auto stored = counters_.find(add.counter);
        std::int64_t& value =
            after.try_emplace(add.counter, stored == counters_.end() ? 0 : stored->second)
                .first->second;
        const bool overflows = __builtin_add_overflow(value, add.delta, &value);
        if (overflows || (add.min && value < *add.min) || (add.max && value > *add.max))
            return turn(outcome, Verdict::refused, add.counter);
    }
}

/// Plays the acts through on a copy: releases first, so that a permit may pass from one to another in one step.
void Index::examine_permits(const Change& change, Time now, Outcome& outcome) const {
    std::map<std::string_view, std::vector<Permits::Holder>> after;
    for (const domain::Permit& permit : change.permits) {
        if (permit.act == domain::Permit::Act::acquire)
            after.try_emplace(permit.key, permits_.holders(permit.key, now));
    }
    const auto is_holder = [](const domain::Permit& permit) {
        return [&permit](const Permits::Holder& h) { return h.is(permit.holder, permit.epoch); };
    };
    for (const domain::Permit& permit : change.permits) {
        const auto holders = after.find(permit.key);
        if (permit.act == domain::Permit::Act::release && holders != after.end())
            std::erase_if(holders->second, is_holder(permit));
    }
    for (const domain::Permit& permit : change.permits) {
        if (permit.act != domain::Permit::Act::acquire) continue;
        auto& holders = after[permit.key];
        if (std::ranges::any_of(holders, is_holder(permit))) continue;
        if (holders.size() >= permit.capacity) return turn(outcome, Verdict::refused, permit.key);
        holders.push_back({permit.holder, permit.epoch, kNoTime});
    }
}

void Index::apply(Change& change, const Outcome& outcome, Time now) {
    for (domain::Put& p : change.puts) put(p, change.nonce, now);
    for (const domain::Bind& b : change.binds) bind(b, now);
    for (std::size_t i = 0; i < change.appends.size(); ++i) {
        if (std::ranges::find(outcome.skipped, i) == outcome.skipped.end())
            append(change.appends[i]);
    }
    for (const domain::Add& add : change.adds) counters_[add.counter] += add.delta;
    for (const domain::Permit& permit : change.permits) {
        if (permit.act == domain::Permit::Act::release)
            lanes_.wake(permits_.release(permit.key, permit.holder, permit.epoch));
    }
    for (const domain::Permit& permit : change.permits) {
        if (permit.act == domain::Permit::Act::acquire)
            permits_.acquire(permit.key,
                             {permit.holder, permit.epoch,
                              permit.ttl > Duration{0} ? now + permit.ttl : kNoTime},
                             now);
    }
    for (const domain::Note& note : change.notes) feed_.add(note, now);
}

/// Only tasks are renewed: what other kinds write in these fields is meant.
void Index::keep_renewals(const Slot& slot, Header& h) const {
    if (h.kind != domain::Kind::task) return;
    const domain::Fence fence{slot.attempt, slot.epoch};
    if (!h.is_held() || !domain::is_held(slot.state) || h.fence() != fence) return;
    h.lease_until = std::max(h.lease_until, slot.lease_until);
    h.progress = slot.progress;
    h.note = slot.extras ? slot.extras->note : std::string{};
    h.wake_at = domain::wake_for(h);
}

void Index::put(domain::Put& put, std::uint64_t nonce, Time now) {
    Header& h = put.header;
    h.nonce = nonce;
    SlotId id = find(h.key());
    if (id != kNoSlot) keep_renewals(slots_[id], h);
    feed_.add(h, put.transition);
    if (put.erase) {
        if (id != kNoSlot) erase(id, now);
        return;
    }
    if (id == kNoSlot) {
        id = slots_.take();
        slots_[id].id = h.id;
        slots_[id].made = catalogue_.next_made(h.created_at);
        by_id_[static_cast<std::size_t>(h.kind)].insert(id);
    } else {
        displace(id);
    }
    Slot& slot = slots_[id];
    const bool was_final = domain::is_final(slot.state);
    write(id, h);
    if (put.body) slot.body = *std::move(put.body);
    if (put.outcome) slot.outcome = *std::move(put.outcome);
    if (put.audit) domain::pack(slot.history, put.transition);
    if (domain::is_final(h.state) && !was_final && h.kind == domain::Kind::task)
        finished_.emplace_back(h.finished_at, h.id);
    place(id);
}

void Index::bind(const domain::Bind& bind, Time now) {
    const Time end = now + bind.ttl;
    bindings_.bind(bind.scope, bind.key, {bind.id, bind.body_hash, end});
    for (const SlotsById& ids : by_id_) {
        const SlotId id = ids.find(bind.id);
        if (id == kNoSlot) continue;
        auto& extras = slots_[id].extras;
        if (!extras) extras = std::make_unique<Extras>();
        extras->bound_until = std::max(extras->bound_until, end);
    }
}

void Index::append(const domain::Append& append) {
    Log& log = logs_[{append.owner, append.log}];
    log.keys.insert(append.unique_key);
    log.entries.push_back({append.unique_key, keeps_log_bytes_ ? append.bytes : Bytes{}});
}

void Index::erase_logs(const Uuid& owner) {
    const auto first = logs_.lower_bound({owner, {}});
    auto last = first;
    while (last != logs_.end() && last->first.first == owner) ++last;
    logs_.erase(first, last);
}

void Index::erase(SlotId id, Time now) {
    const Slot& slot = slots_[id];
    if (slot.extras && slot.extras->bound_until > now) bindings_.erased(slot.id);
    forget(id);
}

// ---- records that are on disk as well ----

SlotId Index::restore(Stored&& stored) {
    const SlotId id = slots_.take();
    Slot& slot = slots_[id];
    Header& h = stored.header;
    slot.id = h.id;
    slot.made = stored.made;
    catalogue_.saw_made(stored.made, h.created_at);
    by_id_[static_cast<std::size_t>(h.kind)].insert(id);
    if (h.holds_gate) permits_.acquire(h.gate, {h.id, h.epoch, kNoTime}, h.updated_at);
    if (h.holds_queue_permit)
        permits_.acquire(domain::queue_permit(h.queue), {h.id, h.epoch, kNoTime}, h.updated_at);
    write(id, h);
    slot.outcome = std::move(stored.outcome);
    slot.history = std::move(stored.history);
    if (is_set(stored.bound_until)) {
        if (!slot.extras) slot.extras = std::make_unique<Extras>();
        slot.extras->bound_until = stored.bound_until;
    }
    if (domain::is_final(slot.state) && slot.kind == domain::Kind::task)
        finished_.emplace_back(slot.finished_at, slot.id);
    place(id);
    return id;
}

void Index::forget(SlotId id) {
    displace(id);
    Slot& slot = slots_[id];
    tenants_.release(slot.tenant);
    policies_.release(slot.policy);
    workers_.release(slot.worker);
    catalogue_.retire(*slot.family);
    erase_logs(slot.id);
    by_id_[static_cast<std::size_t>(slot.kind)].erase(id);
    slots_.give_back(id);
}

void Index::restore_log_key(std::string_view log, const Uuid& owner, std::string_view key) {
    Log& entries = logs_[{owner, std::string(log)}];
    entries.keys.emplace(key);
    entries.entries.push_back({std::string(key), {}});
}

std::size_t Index::log_size(std::string_view log, const Uuid& owner) const {
    const auto found = logs_.find({owner, std::string(log)});
    return found == logs_.end() ? 0 : found->second.entries.size();
}

bool Index::has_logs(const Uuid& owner) const {
    const auto first = logs_.lower_bound({owner, {}});
    return first != logs_.end() && first->first.first == owner;
}

// ---- placing ----

void Index::displace(SlotId id) {
    catalogue_.leave(id);
    if (slots_[id].lane != nullptr) lanes_.remove(id);
    set_timer(id, kNoTime);
}

void Index::place(SlotId id) {
    Slot& slot = slots_[id];
    catalogue_.enter(id);
    if (is_set(slot.wake_at)) timers_.emplace(slot.wake_at, id);
    if (slot.kind == domain::Kind::task && slot.state == State::queued) enter_lane(id);
}

void Index::enter_lane(SlotId id) {
    const Slot& slot = slots_[id];
    const Family& f = *slot.family;
    const std::string_view type = slot.lane_by_type ? std::string_view(f.type) : std::string_view{};
    const std::string_view gate =
        slot.extras ? std::string_view(slot.extras->gate) : std::string_view{};
    lanes_.push(id, {f.queue, type, slot.priority, gate});
}

void Index::to_lane_end(SlotId id) {
    lanes_.remove(id);
    enter_lane(id);
}

void Index::set_timer(SlotId id, Time wake_at) {
    Slot& slot = slots_[id];
    if (is_set(slot.wake_at)) timers_.erase({slot.wake_at, id});
    slot.wake_at = wake_at;
    if (is_set(wake_at)) timers_.emplace(wake_at, id);
}

}  // namespace holdfast::stores::memory
