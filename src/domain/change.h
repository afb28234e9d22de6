// Everything one step does, in one value: what a store applies whole or not at all.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/sha256.h"
#include "base/time.h"
#include "base/uuid.h"
#include "domain/record.h"

namespace holdfast::domain {

/// What happened to a record, as its history and the feed tell it.
struct Transition {
    Event event = Event::none;
    State from = State::none;
    State to = State::none;
    std::uint32_t attempt = 0;
    Time at;
    std::string message;
    std::string actor;  ///< The worker or operator; empty: the engine itself.
    Bytes error;        ///< A failure as JSON; empty for anything else.

    friend bool operator==(const Transition&, const Transition&) = default;
};

/// Writes one record. Where it then stands follows from its header alone: `queued` puts a task into
/// its lane, `wake_at` sets its timer. So no Change can queue a task and forget the lane.
struct Put {
    Header header;  ///< As it will be; header.version = expected_version + 1.
    // The very header it was decided on. The version alone would not do: after a crash that lost writes the same
    // number can be given to something else.
    std::uint64_t expected_version = 0;  ///< 0: must not exist yet.
    Epoch expected_epoch{};              ///< Of its last claim.
    std::uint64_t expected_nonce =
        0;  ///< Of the commit that wrote it; 0: a claim did, or it does not matter.
    Time
        unless_renewed_past;  ///< Set when a lost lease ends: one renewed past this moment is a conflict.
    std::optional<Bytes> body;     ///< None: as it is.
    std::optional<Bytes> outcome;  ///< None: as it is.
    bool erase = false;            ///< The record ends here, with its logs.
    bool audit = true;             ///< False for steps too frequent to keep (polls).
    Transition transition;         ///< Written to the record's history and to the feed.
};

struct Append {
    enum class Existing : std::uint8_t {
        skip,    ///< An entry with this key is there already: write nothing, and say so.
        refuse,  ///< …: the whole Change is a `duplicate`.
    };
    std::string log;  ///< checkpoint, signal, revision, ledger, message …
    Uuid owner;
    std::string unique_key;
    Bytes bytes;
    Existing existing = Existing::skip;
};

struct Add {
    std::string counter;
    std::int64_t delta = 0;
    std::optional<std::int64_t> min;  ///< Below: the whole Change is refused.
    std::optional<std::int64_t> max;  ///< Above: likewise.
};

/// Idempotency: (scope, key) names `id` until `ttl` is over or the record is erased.
struct Bind {
    std::string scope;
    std::string key;
    Uuid id;
    Sha256 body_hash{};
    Duration ttl{0};
};

/// At most `capacity` holders of `key` at once.
struct Permit {
    enum class Act : std::uint8_t { acquire, release };
    Act act = Act::release;
    std::string key;
    Uuid holder;
    Epoch epoch{};
    std::uint32_t capacity = 0;  ///< acquire: full refuses the whole Change.
    Duration ttl{0};             ///< acquire: frees itself after so long; 0: held until released.
};

/// An event that is not a step of a record's lifecycle.
struct Note {
    Key subject;
    std::string name;
    Bytes data;
};

/// Names of counters, permits and bindings are the same everywhere: the partition says where they
/// live, it does not tell two of one name apart.
struct Change {
    Partition partition{};  ///< All that it touches lives here.
    std::uint64_t nonce = 0;
    boost::container::small_vector<Put, 1> puts;  ///< Nearly always one.
    std::vector<Append> appends;
    std::vector<Add> adds;
    std::vector<Bind> binds;
    std::vector<Permit> permits;
    std::vector<Note> notes;
};

/// One entry of the feed: a Transition or a Note with what a reader filters by.
struct FeedEvent {
    Key subject;
    std::uint64_t version = 0;
    std::string name;  ///< to_string(Event), or a Note's name.
    State from = State::none;
    State to = State::none;
    std::uint32_t attempt = 0;
    Time at;
    std::string queue, type, tenant;
    std::string message;
    Bytes data;

    friend bool operator==(const FeedEvent&, const FeedEvent&) = default;
};

/// The compact forms in which stores keep rows that exist by the million.
void pack(std::string& out, const Transition& t);
void pack_event(std::string& out, const Header& h, const Transition& t);
void pack_note(std::string& out, const Note& note, Time at);
/// Every row that was packed into `bytes`, in order; stops at damage.
std::vector<Transition> unpack_history(std::string_view bytes);
std::vector<FeedEvent> unpack_events(std::string_view bytes);

inline constexpr std::string_view kCheckpointLog = "checkpoint";
inline constexpr std::string_view kSignalLog = "signal";
inline constexpr std::string_view kRevisionLog = "revision";

/// The permit that stands for a place in a queue's concurrency limit.
inline std::string queue_permit(std::string_view queue) {
    return "queue:" + std::string(queue);
}

}  // namespace holdfast::domain
