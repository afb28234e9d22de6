#include "stores/sqlite/scribe.h"

#include <algorithm>

#include "stores/sqlite/header_codec.h"

namespace holdfast::stores::sqlite {

using memory::OnDisk;
using memory::Slot;
using memory::SlotId;

namespace {

constexpr std::size_t kRowBytes = 400;  ///< About what a record takes on its way, without its body.

bool is_finished(const Slot& slot) {
    return slot.kind == domain::Kind::task && domain::is_final(slot.state);
}

Time bound_until(const Slot& slot) {
    return slot.extras ? slot.extras->bound_until : kNoTime;
}

}  // namespace

std::vector<Scribe::Erased> Scribe::erasures(const Change& change) const {
    std::vector<Erased> erased;
    for (const domain::Put& put : change.puts) {
        if (!put.erase) continue;
        const SlotId id = index_.find(put.header.key());
        if (id == memory::kNoSlot) continue;
        const Slot& slot = index_.slot(id);
        erased.push_back({slot.id, slot.made, slot.disk.row, is_set(bound_until(slot))});
    }
    return erased;
}

void Scribe::committed(const Change& change, const Outcome& outcome,
                       const std::vector<Erased>& erased, Time now, std::uint64_t group) {
    for (const Erased& e : erased) {
        if (e.row == OnDisk::Row::live) rows_.gone_live.push_back(e.made);
        if (const auto found = in_memory_.find(e.id); found != in_memory_.end()) {
            rows_.gone_finished.push_back(found->second.number);
            count(found->second, -1);
            in_memory_.erase(found);
            moved(group);
        }
        ++moves_.gone;
        rows_.gone_bodies.push_back(e.made);
        rows_.gone_logs.push_back(e.id);
        std::erase_if(rows_.logs, [&](const LogRow& log) { return log.owner == e.id; });
        if (e.bound) rows_.unbound.push_back(e.id);
    }
    for (const domain::Put& put : change.puts) {
        const SlotId id = index_.find(put.header.key());
        if (id == memory::kNoSlot) continue;
        Slot& slot = index_.slot(id);
        slot.disk.group = group;
        if (slot.disk.row == OnDisk::Row::finished) moved(group);
        if (put.body) {
            slot.disk.has_body = slot.disk.dropped = false;
            bytes_ += slot.body.size();
        }
        if (put.outcome) bytes_ += slot.outcome.size();
        touched(id);
    }
    for (const domain::Bind& bind : change.binds) {
        rows_.bindings.push_back({bind.scope, bind.key, bind.id, bind.body_hash, now + bind.ttl});
        for (std::size_t kind = 0; kind < domain::kKinds; ++kind) {
            const SlotId id = index_.find({static_cast<domain::Kind>(kind), bind.id});
            if (id == memory::kNoSlot) continue;
            if (index_.slot(id).disk.row == OnDisk::Row::finished) moved(group);
            touched(id);
        }
    }
    std::map<std::pair<Uuid, std::string_view>, std::uint64_t> places;
    for (std::size_t i = change.appends.size();
         i-- > 0;) {  // the last one is the last entry of its log
        const domain::Append& a = change.appends[i];
        if (std::ranges::find(outcome.skipped, i) != outcome.skipped.end()) continue;
        const auto [place, first] =
            places.try_emplace({a.owner, a.log}, index_.log_size(a.log, a.owner));
        rows_.logs.push_back({a.owner, a.log, --place->second, a.unique_key, a.bytes});
        bytes_ += a.bytes.size();
        const SlotId owner = index_.find({domain::Kind::task, a.owner});
        if (owner != memory::kNoSlot && index_.slot(owner).disk.row == OnDisk::Row::finished) {
            moved(group);
            touched(owner);
        }
    }
    for (const domain::Add& add : change.adds)
        rows_.counters.emplace_back(add.counter, index_.counter(add.counter));
    for (const domain::Permit& p : change.permits) {
        if (p.act == domain::Permit::Act::release)
            rows_.permits.push_back({p.key, p.holder, p.epoch, kNoTime, true});
    }
    for (const domain::Permit& p : change.permits) {
        if (p.act != domain::Permit::Act::acquire) continue;
        for (const auto& h : index_.permits().holders(p.key, now)) {
            if (h.is(p.holder, p.epoch))  // who had it already has it no longer than before
                rows_.permits.push_back({p.key, p.holder, p.epoch, h.expires_at, false});
        }
    }
}

void Scribe::touched(SlotId id) {
    Slot& slot = index_.slot(id);
    if (slot.disk.staged) return;
    slot.disk.staged = true;
    dirty_.push_back(id);
    bytes_ += kRowBytes;
}

void Scribe::trimmed(const FinishedRow& row, std::uint64_t group) {
    moved(group);
    ++moves_.gone;
    rows_.gone_finished.push_back(row.number);
    rows_.gone_bodies.push_back(row.made);
    rows_.gone_logs.push_back(row.id);
    count({row.number, row.family, row.fingerprint, row.state}, -1);
    in_memory_.erase(row.id);
}

void Scribe::trim_feed(Time before, std::uint64_t needed) {
    rows_.feed_before = before;
    rows_.feed_needed = needed;
}

void Scribe::count(Finished& finished, const Counted& counted, std::int64_t by) {
    finished.families[{counted.family, counted.state}] += by;
    if (counted.fingerprint != 0) finished.failures[{counted.fingerprint, counted.state}] += by;
}

void Scribe::count(const Counted& counted, std::int64_t by) {
    count(finished_, counted, by);
    count(finished_changed_, counted, by);
}

Scribe::Finished Scribe::count_finished() {
    Finished now = finished_;
    boost::unordered_flat_set<SlotId> seen;
    for (const SlotId id : dirty_) {
        const Slot& slot = index_.slot(id);
        if (!slot.in_use() || !slot.disk.staged || !seen.insert(id).second) continue;
        if (slot.disk.row == OnDisk::Row::finished) count(now, in_memory_.at(slot.id), -1);
        if (is_finished(slot))
            count(now, {0, family_of(slot), slot.extras ? slot.extras->fingerprint : 0, slot.state},
                  +1);
    }
    return now;
}

std::uint32_t Scribe::family_of(const Slot& slot) {
    if (slot.family->number == 0)
        slot.family->number = families_.number(slot.kind, slot.family->queue, slot.family->type);
    return slot.family->number;
}

void Scribe::write_live(Slot& slot) {
    const Header h = index_.header_of(slot);
    rows_.live.push_back({.fresh = slot.disk.row != OnDisk::Row::live,
                          .made = slot.made,
                          .id = slot.id,
                          .family = family_of(slot),
                          .state = slot.state,
                          .attempt = slot.attempt,
                          .wake_at = slot.wake_at,
                          .bound_until = bound_until(slot),
                          .header = pack_header(h, names_),
                          .history = slot.history,
                          .outcome = slot.outcome});
    slot.disk.row = OnDisk::Row::live;
}

void Scribe::write_finished(Slot& slot) {
    const Header h = index_.header_of(slot);
    FinishedRow row{.number = ++last_finished_,
                    .made = slot.made,
                    .id = slot.id,
                    .family = family_of(slot),
                    .state = slot.state,
                    .attempt = slot.attempt,
                    .tenant = names_.number(h.tenant),
                    .fingerprint = h.fingerprint,
                    .finished_at = slot.finished_at,
                    .bound_until = bound_until(slot),
                    .header = pack_header(h, names_),
                    .history = slot.history,
                    .outcome = slot.outcome,
                    .has_logs = index_.has_logs(slot.id)};
    const Counted counted{row.number, row.family, row.fingerprint, row.state};
    count(counted, +1);
    in_memory_[slot.id] = counted;
    const std::uint64_t drift =
        slot.made - static_cast<std::uint64_t>(slot.created_at.time_since_epoch().count());
    if (drift > drift_) rows_.drift = drift_ = drift;
    rows_.finished.push_back(std::move(row));
    slot.disk.row = OnDisk::Row::finished;
}

Group Scribe::seal() {
    for (const SlotId id : dirty_) {
        Slot& slot = index_.slot(id);
        if (!slot.in_use() || !slot.disk.staged)
            continue;  // erased meanwhile, or written a moment ago
        slot.disk.staged = false;
        if (!slot.disk.has_body && !slot.body.empty()) {
            rows_.bodies.push_back({slot.made, slot.body});
        } else if (!slot.disk.has_body && slot.disk.row != OnDisk::Row::none) {
            rows_.gone_bodies.push_back(slot.made);  // an empty one took its place
        }
        slot.disk.has_body = true;
        if (slot.disk.row == OnDisk::Row::finished) {
            const auto counted = in_memory_.find(slot.id);
            rows_.gone_finished.push_back(counted->second.number);
            count(counted->second, -1);
            in_memory_.erase(counted);
            if (!is_finished(slot)) {
                rows_.revived_logs.push_back(slot.id);
                ++moves_.revived;
            }
        } else if (slot.disk.row == OnDisk::Row::live && is_finished(slot)) {
            rows_.gone_live.push_back(slot.made);
        }
        is_finished(slot) ? write_finished(slot) : write_live(slot);
    }
    dirty_.clear();
    bytes_ = 0;
    for (const memory::Feed::Cut& cut : index_.feed().cut())
        rows_.feed.push_back({cut.first, cut.count, cut.last_at, std::string(cut.bytes)});
    rows_.feed_next = index_.feed().next();
    for (const auto& [key, changed] : finished_changed_.families)
        rows_.counts.push_back({key.first, key.second, finished_.families[key]});
    for (const auto& [key, changed] : finished_changed_.failures)
        rows_.failures.push_back({key.first, key.second, finished_.failures[key]});
    finished_changed_ = {};
    const auto is_zero = [](const auto& entry) { return entry.second == 0; };
    std::erase_if(finished_.families, is_zero);
    std::erase_if(finished_.failures, is_zero);
    rows_.names = names_.take_fresh();
    rows_.families = families_.take_fresh();
    return std::exchange(rows_, {});
}

bool Scribe::header_of(const FinishedRow& row, Header& h) const {
    const FamilyRow& family = families_.row(row.family);
    h.id = row.id;
    h.kind = family.kind;
    h.queue = family.queue;
    h.type = family.type;
    h.state = row.state;
    return family.number != 0 && static_cast<std::size_t>(row.state) < domain::kStates &&
           unpack_header(row.header, names_, h);
}

bool Scribe::restore(const FinishedRow& row, const std::vector<LogRow>& log_keys) {
    Header h;
    if (!header_of(row, h)) return false;
    Slot& slot = index_.slot(
        index_.restore({std::move(h), row.outcome, row.history, row.made, row.bound_until}));
    slot.disk = {.group = 0,
                 .row = OnDisk::Row::finished,
                 .staged = false,
                 .has_body = true,
                 .dropped = true};
    slot.family->number = row.family;
    in_memory_[row.id] = {row.number, row.family, row.fingerprint, row.state};
    for (const LogRow& log : log_keys) index_.restore_log_key(log.log, log.owner, log.key);
    return true;
}

void Scribe::forget(SlotId id) {
    in_memory_.erase(index_.slot(id).id);
    index_.forget(id);
}

void Scribe::last(const Recovery::Last& last) {
    last_finished_ = last.finished;
    drift_ = last.drift;
}

}  // namespace holdfast::stores::sqlite
