#include "stores/memory/bindings.h"

#include <cstring>
#include <string>

namespace holdfast::stores::memory {

Bindings::KeyHash Bindings::hash_of(std::string_view scope, std::string_view key) {
    std::string joined;
    joined.reserve(scope.size() + 1 + key.size());
    joined.append(scope).push_back('\0');
    const Sha256 hash = sha256(joined.append(key));
    KeyHash bits;
    std::memcpy(&bits.high, hash.data(), sizeof bits.high);
    std::memcpy(&bits.low, hash.data() + sizeof bits.high, sizeof bits.low);
    return bits;
}

const Binding* Bindings::find(std::string_view scope, std::string_view key, Time now) const {
    const auto found = by_key_.find(hash_of(scope, key));
    if (found == by_key_.end() || found->second.expires_at <= now) return nullptr;
    return erased_.contains(found->second.id) ? nullptr : &found->second;
}

void Bindings::bind(std::string_view scope, std::string_view key, const Binding& binding) {
    const KeyHash hash = hash_of(scope, key);
    by_end_.emplace_back(binding.expires_at, hash);
    by_key_[hash] = binding;
}

void Bindings::drop_old(Time now) {
    for (; !by_end_.empty() && by_end_.front().first <= now; by_end_.pop_front()) {
        const auto found = by_key_.find(by_end_.front().second);
        if (found == by_key_.end() || found->second.expires_at > now) continue;
        erased_.erase(found->second.id);
        by_key_.erase(found);
    }
}

}  // namespace holdfast::stores::memory
