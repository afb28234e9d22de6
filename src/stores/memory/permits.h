// "At most n of these at once."
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/uuid.h"
#include "domain/record.h"

namespace holdfast::stores::memory {

struct Lane;

class Permits {
  public:
    struct Holder {
        Uuid id;
        domain::Epoch epoch{};
        Time expires_at;  ///< None: until released.
        bool is(const Uuid& other_id, domain::Epoch other_epoch) const {
            return id == other_id && epoch == other_epoch;
        }
    };

    /// Holders whose time is not over.
    std::vector<Holder> holders(std::string_view key, Time now) const;
    std::uint32_t held(std::string_view key, Time now) const;
    void acquire(const std::string& key, Holder holder, Time now);
    /// Gives the lanes that were waiting for this permit: they may be tried again.
    std::vector<Lane*> release(std::string_view key, const Uuid& id, domain::Epoch epoch);

    /// `lane` found `key` full. It is given back by release(), or by lapsed() when a holder's time is over.
    void wait(std::string_view key, Lane* lane, Time now);
    std::vector<Lane*> lapsed(Time now);
    void forget(std::string_view key, const Lane* lane);

  private:
    struct Entry {
        std::vector<Holder> holders;
        std::vector<Lane*> waiting;
    };
    void drop_if_idle(std::string_view key);

    boost::unordered_flat_map<std::string, Entry> entries_;
    /// When a holder with an end stands before a waiting lane: the moments to look again. Usually empty.
    std::vector<std::pair<Time, std::string>> looks_;
};

}  // namespace holdfast::stores::memory
