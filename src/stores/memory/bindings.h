// Idempotency keys: which record a key names, and until when.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <deque>
#include <string_view>
#include <utility>

#include "base/sha256.h"
#include "base/time.h"
#include "base/uuid.h"

namespace holdfast::stores::memory {

struct Binding {
    Uuid id;
    Sha256 hash{};
    Time expires_at;
};

/// Keys are kept as 128 bits of their hash: there may be a day's worth of them.
class Bindings {
  public:
    /// None where nobody has the key, its time is over, or its record was erased.
    const Binding* find(std::string_view scope, std::string_view key, Time now) const;
    void bind(std::string_view scope, std::string_view key, const Binding& binding);
    /// The record is no more: its keys are free.
    void erased(const Uuid& id) { erased_.insert(id); }
    void drop_old(Time now);

  private:
    using KeyHash = Uuid;  ///< 128 bits
    static KeyHash hash_of(std::string_view scope, std::string_view key);

    boost::unordered_flat_map<KeyHash, Binding, UuidHash> by_key_;
    std::deque<std::pair<Time, KeyHash>> by_end_;
    boost::unordered_flat_set<Uuid, UuidHash> erased_;  ///< while keys still name them
};

}  // namespace holdfast::stores::memory
