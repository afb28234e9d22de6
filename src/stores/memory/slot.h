// A record as the index keeps it: small, in one place, with its links to the lane it stands in.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "domain/record.h"
#include "stores/memory/interner.h"

namespace holdfast::stores::memory {

using SlotId = std::uint32_t;
inline constexpr SlotId kNoSlot = 0;

struct Family;
struct Lane;

/// What few records have.
struct Extras {
    std::string gate, labels, note;
    std::uint32_t gate_limit = 0;
    std::uint64_t fingerprint = 0;
    Duration lease{0};
    Time run_at, deadline, bound_until;
};

/// What a store that keeps a journal knows of a slot; the index itself does not look at it.
struct OnDisk {
    enum class Row : std::uint8_t { none, live, finished };
    std::uint64_t group = 0;    ///< The last commit that wrote the record is in this group.
    Row row = Row::none;        ///< Where its row is, once all groups are written.
    bool staged : 1 = false;    ///< The group that gathers will write it.
    bool has_body : 1 = false;  ///< Its body's row is the body, once all groups are written.
    bool dropped : 1 = false;   ///< The body is on disk only.
};

struct Slot {
    Uuid id;
    std::uint64_t made =
        0;  ///< Its place in the order of creation: unique, and never before created_at.
    std::uint64_t version = 0;
    std::uint64_t nonce = 0;
    domain::Epoch epoch{};
    Time created_at, updated_at, started_at, finished_at, due_at, lease_until, wake_at;
    Duration lease_granted{0};
    Bytes body, outcome;
    std::string history;  ///< domain::pack()ed transitions
    Family* family = nullptr;
    Lane* lane = nullptr;  ///< The lane it stands in now, if any.
    std::unique_ptr<Extras> extras;
    SlotId lane_prev = kNoSlot, lane_next = kNoSlot;
    Interner::Number tenant = 0, policy = 0, worker = 0;
    std::uint32_t attempt = 0;
    float progress = -1;
    std::uint16_t retry_count = 0, crashes = 0, revision = 0, checkpoints = 0, signals = 0;
    domain::Kind kind{};
    domain::State state{};
    std::uint8_t priority = 5;
    domain::Event ended_by{};
    bool pause_requested : 1 = false;
    bool cancel_requested : 1 = false;
    bool until_signal : 1 = false;
    bool signal_pending : 1 = false;
    bool lane_by_type : 1 = false;
    bool holds_gate : 1 = false;
    bool holds_queue_permit : 1 = false;
    OnDisk disk;

    bool in_use() const { return version != 0; }
};

/// Slots by number, in chunks that never move.
class SlotArena {
  public:
    Slot& operator[](SlotId id) { return chunks_[id / kChunk][id % kChunk]; }
    const Slot& operator[](SlotId id) const { return chunks_[id / kChunk][id % kChunk]; }

    void prefetch(SlotId id) const {
        const auto* bytes = reinterpret_cast<const char*>(&(*this)[id]);
        for (std::size_t line = 0; line < sizeof(Slot); line += 64)
            __builtin_prefetch(bytes + line);
    }

    SlotId take() {
        if (!free_.empty()) {
            const SlotId id = free_.back();
            free_.pop_back();
            return id;
        }
        if (used_ % kChunk == 0) chunks_.push_back(std::make_unique<Slot[]>(kChunk));
        return used_++ == 0 ? take() : used_ - 1;  // number 0 stays unused: it means "none"
    }
    void give_back(SlotId id) {
        (*this)[id] = Slot{};
        free_.push_back(id);
    }

  private:
    static constexpr SlotId kChunk = 1024;
    std::vector<std::unique_ptr<Slot[]>> chunks_;
    std::vector<SlotId> free_;
    SlotId used_ = 0;
};

/// Slots found by their id. Only the number is kept: the id is in the slot, which is wanted anyway.
class SlotsById {
  public:
    explicit SlotsById(const SlotArena& slots) : numbers_(0, Hash{&slots}, Equal{&slots}) {}

    SlotId find(const Uuid& id) const {
        const auto found = numbers_.find(id);
        return found == numbers_.end() ? kNoSlot : *found;
    }
    bool contains(const Uuid& id) const { return numbers_.contains(id); }
    /// The slot has its id, and keeps it until it is erased here.
    void insert(SlotId slot) { numbers_.insert(slot); }
    void erase(SlotId slot) { numbers_.erase(slot); }

  private:
    struct Hash {
        using is_transparent = void;
        using is_avalanching = void;
        const SlotArena* slots;
        std::size_t operator()(const Uuid& id) const { return UuidHash{}(id); }
        std::size_t operator()(SlotId slot) const { return UuidHash{}((*slots)[slot].id); }
    };
    struct Equal {
        using is_transparent = void;
        const SlotArena* slots;
        bool operator()(SlotId a, SlotId b) const { return a == b; }
        bool operator()(const Uuid& id, SlotId slot) const { return (*slots)[slot].id == id; }
        bool operator()(SlotId slot, const Uuid& id) const { return (*slots)[slot].id == id; }
    };
    boost::unordered_flat_set<SlotId, Hash, Equal> numbers_;
};

}  // namespace holdfast::stores::memory
