// What a producer may say about a task, checked once at the door.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/json.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/time.h"
#include "base/uuid.h"
#include "domain/policy.h"

namespace holdfast::domain {

/// [A-Za-z0-9_.-]{1,64}: queues, types, tenants, stages, label keys.
bool is_name(std::string_view text);
Result<> check_name(std::string_view field, std::string_view text);
/// Printable ASCII without blanks, 1 to 128 characters: workers, signal ids.
Result<> check_token(std::string_view field, std::string_view text);

/// At most 1 MiB of JSON: payloads, results, stages, signals.
Result<> check_size(std::string_view field, const Json& json);

inline constexpr std::size_t kMostLabels = 16;
inline constexpr std::size_t kLongestLabelValue = 256;
inline constexpr std::size_t kLongestIdempotencyKey = 255;
inline constexpr std::uint32_t kLargestGate = 100'000;
inline constexpr Duration kShortestLease = std::chrono::seconds{1};
inline constexpr Duration kLongestLease = std::chrono::hours{24};
Result<> check_lease(std::string_view field, Duration lease);

struct Submission {
    std::string type;
    std::string queue = "default";
    std::string tenant;
    Json payload;
    std::uint8_t priority = 5;
    std::vector<std::pair<std::string, std::string>> labels;
    std::string idempotency_key;
    std::string traceparent;
    Json user;
    Json placeholder;
    std::optional<Time> run_at;
    std::optional<Duration> delay;  ///< instead of run_at
    Duration lease{0};
    Policy policy;
    std::string gate;  ///< "concurrency": {"key", "limit"}
    std::uint32_t gate_limit = 0;
    bool lane_by_type = false;  ///< Set by the engine from the queue's configuration.
};

/// From a request's object. Unknown fields and bad values are `invalid_argument` naming the field.
Result<Submission> read_submission(const Json& json);
/// The same rules for a Submission made in C++.
Result<> validate(const Submission& submission, Time now);

/// SHA-256 of the sorted-key JSON of type, queue, payload, run_at: two submissions under one
/// idempotency key are the same if this is.
Sha256 content_hash(const Submission& submission);

/// hash(tenant), else hash(idempotency key), else hash(concurrency key), else none: then any will
/// do.
std::optional<Partition> home_partition(const Submission& submission);

/// The body of a task record, and its parts.
Bytes make_body(const Submission& submission);
Bytes with_payload(const Bytes& body, const Json& payload);
Json payload_of(const Bytes& body);

}  // namespace holdfast::domain
