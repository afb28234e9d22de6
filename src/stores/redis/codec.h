// How a record looks in Redis and to the scripts. The fields of a header are numbered in lua/record.lua.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/record.h"
#include "stores/store.h"

namespace holdfast::stores::redis {

/// By which scripts name a record: a task by its id, any other by "<id>:<kind>", so that of one moment
/// the older comes first.
std::string ref_of(const Key& key);
std::optional<Key> key_of(std::string_view ref);

/// The half of a header that steps change, without state and attempt, which stand beside it for people to read, and
/// without wake_at, which is in the wake set.
std::string encode_hot(const Header& header);
/// The half that stays as it is from the submission on.
std::string encode_cold(const Header& header);

/// A record's fields as a script gives them.
struct Parts {
    std::string_view ref, state, hot, cold, wake_at;
    std::int64_t attempt = 0;
};
std::optional<Header> decode_header(const Parts& parts);

std::string lane_name(const Header& header);
std::string scoped_name(std::string_view scope, std::string_view name);
std::string fingerprint_text(std::uint64_t fingerprint);

/// A 64-bit number that a Lua number cannot hold; scripts pass it on unread. 0 is empty.
std::string eight_bytes(std::uint64_t n);

inline std::int64_t micros(Time t) {
    return t.time_since_epoch().count();
}
inline Time time_at(std::int64_t us) {
    return Time{Duration{us}};
}

}  // namespace holdfast::stores::redis
