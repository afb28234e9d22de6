// Which server of a cluster has which slot, and where a server sends us instead. Knows no sockets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "redis/redis.h"
#include "redis/reply.h"

namespace holdfast::redis {

inline constexpr std::uint16_t kSlots = 16'384;

class SlotMap {
  public:
    SlotMap() { owners_.fill(kNobody); }
    /// From the answer to CLUSTER SLOTS. A server that does not know its own host is at `asked_host`.
    static Result<SlotMap> read(const Reply& slots, const std::string& asked_host);

    const Address* owner(std::uint16_t slot) const;
    void set(std::uint16_t slot, const Address& address);
    std::set<Address> masters() const;
    /// None: every slot has its server.
    std::optional<std::uint16_t> first_without_owner() const;

  private:
    static constexpr std::uint16_t kNobody = 0xffff;
    std::uint16_t place_of(const Address& address);

    std::vector<Address> addresses_;
    std::array<std::uint16_t, kSlots> owners_{};  ///< Places in addresses_.
};

/// What a cluster's server says when a command is not for it, or not now.
struct Redirection {
    enum class Kind : std::uint8_t {
        none,   ///< It is an ordinary error.
        moved,  ///< Another server has the slot, for good.
        ask,    ///< This key is with another server already; the slot is not.
        later,  ///< The slot is on its way, or the cluster is about to mend itself: try again.
    };
    Kind kind = Kind::none;
    std::uint16_t slot = 0;
    Address address;  ///< moved, ask.
};
Redirection redirection_in(std::string_view error, const std::string& asked_host);

}  // namespace holdfast::redis
