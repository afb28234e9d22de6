// What the index did, as rows: notes down what changes, and makes a group of it when asked.
//
// A record that changes several times while a group gathers is written once, as it then is.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "stores/memory/index.h"
#include "stores/sqlite/journal.h"
#include "stores/sqlite/names.h"

namespace holdfast::stores::sqlite {

class Scribe {
  public:
    explicit Scribe(memory::Index& index) : index_(index) {}

    /// Looks at what a Change will erase, before it does.
    struct Erased {
        Uuid id;
        std::uint64_t made = 0;
        memory::OnDisk::Row row{};
        bool bound = false;
    };
    std::vector<Erased> erasures(const Change& change) const;
    /// A Change was committed to the index, in `group`.
    void committed(const Change& change, const Outcome& outcome, const std::vector<Erased>& erased,
                   Time now, std::uint64_t group);
    /// A record was changed by a claim or a renewal.
    void touched(memory::SlotId id);
    /// A finished task goes in `group`, with all that is its own.
    void trimmed(const FinishedRow& row, std::uint64_t group);
    /// Bindings and permits whose time is over go.
    void trim_ended(Time now) { rows_.ended_before = now; }
    void trim_feed(Time before, std::uint64_t needed);
    void raise_epochs(std::int64_t ceiling) { rows_.epoch_ceiling = ceiling; }

    /// Everything since the last time.
    Group seal();
    /// About how much waits to be sealed.
    std::size_t bytes() const { return bytes_; }

    // ---- finished tasks ----

    /// How many of each sort: by family or fingerprint, and state.
    using Counts = std::map<std::pair<std::uint64_t, State>, std::int64_t>;
    struct Finished {
        Counts families, failures;
    };
    /// Now, with those that are not sealed yet.
    Finished count_finished();

    /// What was read on disk is out of date if one of these changed meanwhile. A read of finished tasks begins when
    /// the last group that moved any is durable.
    struct Moves {
        std::uint64_t rewritten = 0;  ///< Rows that changed or went.
        std::uint64_t gone = 0;       ///< Records that went for good, of whatever kind.
        std::uint64_t revived = 0;    ///< Those that are live again.
        std::uint64_t group = 0;      ///< The last of these is in this group.
    };
    const Moves& moves() const { return moves_; }

    /// Brings a finished task back into the index. False: its row is damaged.
    bool restore(const FinishedRow& row, const std::vector<LogRow>& log_keys);
    bool header_of(const FinishedRow& row, Header& header) const;
    void forget(memory::SlotId id);

    // ---- recovery ----

    void recovered_count(const CountRow& row) {
        finished_.families[{row.what, row.state}] = row.count;
    }
    void recovered_failure(const CountRow& row) {
        finished_.failures[{row.what, row.state}] = row.count;
    }
    void last(const Recovery::Last& last);
    Names& names() { return names_; }
    Families& families() { return families_; }
    std::uint64_t drift() const { return drift_; }

  private:
    /// How a finished task is counted, and the number of its row.
    struct Counted {
        std::uint64_t number = 0, family = 0, fingerprint = 0;
        State state{};
    };

    static void count(Finished& finished, const Counted& counted, std::int64_t by);
    void count(const Counted& counted, std::int64_t by);
    void moved(std::uint64_t group) {
        ++moves_.rewritten;
        moves_.group = group;
    }
    void write_live(memory::Slot& slot);
    void write_finished(memory::Slot& slot);
    std::uint32_t family_of(const memory::Slot& slot);

    memory::Index& index_;
    Group rows_;
    std::vector<memory::SlotId> dirty_;
    std::size_t bytes_ = 0;
    Names names_;
    Families families_;
    std::uint64_t last_finished_ = 0;
    std::uint64_t drift_ = 0;
    boost::unordered_flat_map<Uuid, Counted, UuidHash>
        in_memory_;  ///< Finished tasks that the index has.
    Moves moves_;
    Finished finished_;          ///< As it was last sealed, with what changed since in …
    Finished finished_changed_;  ///< … whose values do not matter.
};

}  // namespace holdfast::stores::sqlite
