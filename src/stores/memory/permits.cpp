#include "stores/memory/permits.h"

#include <algorithm>
#include <utility>

namespace holdfast::stores::memory {
namespace {

bool is_live(const Permits::Holder& holder, Time now) {
    return !is_set(holder.expires_at) || holder.expires_at > now;
}

}  // namespace

std::vector<Permits::Holder> Permits::holders(std::string_view key, Time now) const {
    const auto found = entries_.find(std::string(key));
    if (found == entries_.end()) return {};
    std::vector<Holder> live = found->second.holders;
    std::erase_if(live, [now](const Holder& h) { return !is_live(h, now); });
    return live;
}

std::uint32_t Permits::held(std::string_view key, Time now) const {
    const auto found = entries_.find(std::string(key));
    if (found == entries_.end()) return 0;
    return static_cast<std::uint32_t>(std::ranges::count_if(
        found->second.holders, [now](const Holder& h) { return is_live(h, now); }));
}

void Permits::acquire(const std::string& key, Holder holder, Time now) {
    Entry& entry = entries_[key];
    std::erase_if(entry.holders, [now](const Holder& h) { return !is_live(h, now); });
    const bool has_it = std::ranges::any_of(
        entry.holders, [&](const Holder& h) { return h.is(holder.id, holder.epoch); });
    if (!has_it) entry.holders.push_back(holder);
}

std::vector<Lane*> Permits::release(std::string_view key, const Uuid& id, domain::Epoch epoch) {
    const auto found = entries_.find(std::string(key));
    if (found == entries_.end()) return {};
    std::erase_if(found->second.holders, [&](const Holder& h) { return h.is(id, epoch); });
    std::vector<Lane*> woken = std::exchange(found->second.waiting, {});
    drop_if_idle(key);
    return woken;
}

void Permits::wait(std::string_view key, Lane* lane, Time now) {
    Entry& entry = entries_[std::string(key)];
    entry.waiting.push_back(lane);
    for (const Holder& holder : entry.holders) {
        if (is_set(holder.expires_at) && holder.expires_at > now)
            looks_.emplace_back(holder.expires_at, key);
    }
}

std::vector<Lane*> Permits::lapsed(Time now) {
    std::vector<Lane*> woken;
    std::erase_if(looks_, [&](const auto& look) {
        if (look.first > now) return false;
        if (const auto found = entries_.find(look.second); found != entries_.end()) {
            const auto lanes = std::exchange(found->second.waiting, {});
            woken.insert(woken.end(), lanes.begin(), lanes.end());
        }
        return true;
    });
    return woken;
}

void Permits::forget(std::string_view key, const Lane* lane) {
    const auto found = entries_.find(std::string(key));
    if (found == entries_.end()) return;
    std::erase(found->second.waiting, lane);
    drop_if_idle(key);
}

void Permits::drop_if_idle(std::string_view key) {
    const auto found = entries_.find(std::string(key));
    if (found->second.holders.empty() && found->second.waiting.empty()) entries_.erase(found);
}

}  // namespace holdfast::stores::memory
