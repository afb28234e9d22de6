#include "coordination/local/local_coordination.h"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace holdfast::coordination {

LocalHub::Holders& LocalHub::holders(const std::string& key) {
    const Time now = clock_.now();
    for (auto lock = locks_.begin(); lock != locks_.end();) {
        std::erase_if(lock->second, [&](const auto& held) { return held.second <= now; });
        lock = lock->second.empty() ? locks_.erase(lock) : std::next(lock);
    }
    return locks_[key];
}

LocalCoordination::LocalCoordination(LocalHub& hub)
    : hub_(hub), place_(hub.members_.insert(hub.members_.end(), this)) {}

LocalCoordination::~LocalCoordination() {
    hub_.members_.erase(place_);
}

// ---- locks ----

Async<Result<std::optional<Lock>>> LocalCoordination::acquire(LockRequest request) {
    CO_TRY_VOID(check(request));
    auto& holders = hub_.holders(request.key);
    if (holders.size() >= request.capacity) co_return std::optional<Lock>{};
    Lock lock{.key = std::move(request.key),
              .token = request.holder + ':' + std::to_string(rng_()),
              .fence = ++hub_.last_fence_,
              .until = hub_.clock_.now() + request.ttl};
    holders[lock.token] = lock.until;
    co_return lock;
}

Async<Result<std::optional<Lock>>> LocalCoordination::renew(Lock lock, Duration ttl) {
    CO_TRY_VOID(check_ttl(ttl));
    auto& holders = hub_.holders(lock.key);
    const auto held = holders.find(lock.token);
    if (held == holders.end()) co_return std::optional<Lock>{};
    held->second = lock.until = std::max(held->second, hub_.clock_.now() + ttl);
    co_return lock;
}

Async<Result<bool>> LocalCoordination::release(Lock lock) {
    co_return hub_.holders(lock.key).erase(lock.token) > 0;
}

Async<Result<std::vector<std::string>>> LocalCoordination::holders_of(std::string key) {
    std::vector<std::string> tokens;
    for (const auto& [token, until] : hub_.holders(key)) tokens.push_back(token);
    co_return tokens;
}

// ---- presence ----

Async<Result<>> LocalCoordination::announce(Instance self, Duration ttl) {
    CO_TRY_VOID(check_ttl(ttl));
    self.seen_at = hub_.clock_.now();
    LocalHub::Present present{std::move(self), hub_.clock_.now() + ttl};
    hub_.present_.insert_or_assign(present.instance.id, present);
    co_return Result<>{};
}

Async<Result<>> LocalCoordination::leave(std::string id) {
    hub_.present_.erase(id);
    co_return Result<>{};
}

Async<Result<std::vector<Instance>>> LocalCoordination::instances() {
    const Time now = hub_.clock_.now();
    std::erase_if(hub_.present_, [&](const auto& entry) { return entry.second.until <= now; });
    std::vector<Instance> all;
    all.reserve(hub_.present_.size());
    for (const auto& [id, present] : hub_.present_) all.push_back(present.instance);
    co_return all;
}

// ---- hints ----

/// Not from within the call: whoever tells may be in the midst of something.
void LocalCoordination::tell(Hint hint) {
    if (stopped_ || hub_.members_.size() < 2) return;
    asio::post(hub_.executor_, [hub = &hub_, from = this, hint = std::move(hint)] {
        for (auto next = hub->members_.begin(); next != hub->members_.end();) {
            const LocalCoordination* other = *next++;
            if (other != from && !other->stopped_ && other->act_) other->act_(hint);
        }
    });
}

Async<void> LocalCoordination::stop() {
    stopped_ = true;
    co_return;
}

}  // namespace holdfast::coordination
