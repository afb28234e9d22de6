#include "redis/slot_map.h"

#include <algorithm>
#include <charconv>

namespace holdfast::redis {
namespace {

template <class Number>
std::optional<Number> plain_number(std::string_view text) {
    Number number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc{} || end != text.data() + text.size()) return {};
    return number;
}

std::string host_or(std::string_view host, const std::string& asked_host) {
    return host.empty() || host == "?" ? asked_host : std::string(host);
}

}  // namespace

Result<SlotMap> SlotMap::read(const Reply& slots, const std::string& asked_host) {
    SlotMap map;
    for (const Value range : slots.root()) {
        const std::int64_t first = range[0].integer();
        const std::int64_t last = range[1].integer();
        const Value master = range[2];
        const std::int64_t port = master[1].integer();
        if (first < 0 || last >= kSlots || first > last || port < 1 || port > 65'535)
            return refuse(Code::unavailable, "a server gave a slot map that makes no sense");
        const std::uint16_t place =
            map.place_of({host_or(master[0].text(), asked_host), static_cast<std::uint16_t>(port)});
        std::fill(map.owners_.begin() + first, map.owners_.begin() + last + 1, place);
    }
    if (map.addresses_.empty())
        return refuse(Code::unavailable, "redis " + asked_host + ": the cluster serves no slots");
    return map;
}

const Address* SlotMap::owner(std::uint16_t slot) const {
    const std::uint16_t place = owners_[slot % kSlots];
    return place == kNobody ? nullptr : &addresses_[place];
}

void SlotMap::set(std::uint16_t slot, const Address& address) {
    owners_[slot % kSlots] = place_of(address);
}

std::uint16_t SlotMap::place_of(const Address& address) {
    const auto found = std::ranges::find(addresses_, address);
    const auto place = static_cast<std::uint16_t>(found - addresses_.begin());
    if (found == addresses_.end()) addresses_.push_back(address);
    return place;
}

std::set<Address> SlotMap::masters() const {
    std::vector<bool> has_slots(addresses_.size());
    for (const std::uint16_t place : owners_) {
        if (place != kNobody) has_slots[place] = true;
    }
    std::set<Address> masters;
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
        if (has_slots[i]) masters.insert(addresses_[i]);
    }
    return masters;
}

std::optional<std::uint16_t> SlotMap::first_without_owner() const {
    const auto found = std::ranges::find(owners_, kNobody);
    if (found == owners_.end()) return {};
    return static_cast<std::uint16_t>(found - owners_.begin());
}

/// "MOVED 3999 127.0.0.1:6381", "ASK 3999 :6381", "TRYAGAIN …".
Redirection redirection_in(std::string_view error, const std::string& asked_host) {
    using Kind = Redirection::Kind;
    if (error.starts_with("TRYAGAIN") || error.starts_with("CLUSTERDOWN"))
        return {.kind = Kind::later, .slot = 0, .address = {}};
    Redirection found{.kind = Kind::none, .slot = 0, .address = {}};
    const Kind kind = error.starts_with("MOVED ") ? Kind::moved
                      : error.starts_with("ASK ") ? Kind::ask
                                                  : Kind::none;
    if (kind == Kind::none) return found;
    error.remove_prefix(error.find(' ') + 1);
    const std::size_t space = error.find(' ');
    const std::size_t colon = error.rfind(':');
    if (space == std::string_view::npos || colon == std::string_view::npos || colon < space)
        return found;
    const auto slot = plain_number<std::uint16_t>(error.substr(0, space));
    const auto port = plain_number<std::uint16_t>(error.substr(colon + 1));
    if (!slot || *slot >= kSlots || !port || *port == 0) return found;
    return {.kind = kind,
            .slot = *slot,
            .address = {host_or(error.substr(space + 1, colon - space - 1), asked_host), *port}};
}

}  // namespace holdfast::redis
