// How records, changes and feed entries look to the scripts. The fields of a header are numbered in
// lua/common.lua; what a change is made of stands at the top of lua/commit.lua.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/change.h"
#include "domain/record.h"
#include "stores/store.h"

namespace holdfast::stores::redis {

/// "<kind>:<id>", by which scripts name a record.
std::string ref_of(const Key& key);
std::optional<Key> key_of(std::string_view ref);

/// Everything but id and kind, which the ref has, and wake_at, which the wake set has.
std::string encode_header(const Header& header);
std::optional<Header> decode_header(std::string_view ref, std::string_view bytes, Time wake_at);

std::string lane_name(const Header& header);
std::string encode_change(const Change& change);
std::string encode_queues(const std::vector<ClaimQueue>& queues);
std::string encode_renewals(const std::vector<Renewal>& renewals);

/// A row of history: packed by commit, or a claim's.
std::optional<domain::Transition> decode_row(std::string_view bytes);
/// The events of one feed entry.
std::vector<domain::FeedEvent> decode_events(std::string_view bytes);

std::string scoped_name(std::string_view scope, std::string_view name);
std::string fingerprint_text(std::uint64_t fingerprint);

}  // namespace holdfast::stores::redis
