// What clients were told over all lives of a store, and whether the store agrees.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "engine/engine.h"
#include "told.h"

namespace holdfast::chaos {

/// The first thing that was wrong. A store that contradicts itself is worse than one that has lost something, and
/// takes its place.
struct Violation {
    std::string detail;  ///< Begins with the invariant (I1 …) or promise (P1 …) it breaks.
    bool is_loss =
        false;  ///< Somebody was told what is not true any more; the store agrees with itself.
};

class Promises {
  public:
    explicit Promises(std::uint64_t seed) : rng_(seed) {}

    void hear(const Told& told);
    /// Looks at all that the store has, with nobody else at work. What is wrong stays in violation().
    Async<void> check(engine::Engine* engine);
    /// Something else that had to go well.
    void expect(const Result<>& answer);

    const std::optional<Violation>& violation() const { return violation_; }
    std::uint64_t heard() const { return heard_; }
    std::size_t tasks() const { return accepted_.size(); }

  private:
    struct Step {
        domain::Event event;
        domain::State state;
        std::uint32_t attempt;
        std::uint64_t version;
    };
    using Rows = std::vector<stores::ListRow>;
    using ByState = std::array<std::uint64_t, domain::kStates>;
    using Entries = std::vector<stores::LogEntry>;

    void hear_claim(const Told& told);
    void hear_step(const Told& told);
    void fail(const std::string& invariant, const std::string& detail);
    void lost(const std::string& invariant, const std::string& detail);
    bool broken() const { return violation_ && !violation_->is_loss; }
    template <class T>
    bool read(const Result<T>& answer);

    Async<Rows> survey(engine::Engine* engine);
    void check_place(const stores::ListRow& row);
    void check_existence(const Rows& rows);
    Async<void> check_counts(engine::Engine* engine, const Rows* rows);
    void compare(const std::string& what, const ByState& counted, const ByState& there);
    Async<void> check_permits(engine::Engine* engine, const Rows* rows);
    Async<void> check_task(engine::Engine* engine, domain::Header header);
    void check_record(const domain::Record& record);
    void check_history(const domain::Header& h, const std::vector<domain::Transition>& rows);
    Async<void> check_logs(engine::Engine* engine, domain::Header header);
    void check_entries(const domain::Header& h, const std::string& log, const Entries& entries,
                       std::size_t expected, const std::set<std::string>& told);
    Async<void> check_ledger(engine::Engine* engine);
    Async<void> check_queues(engine::Engine* engine);
    Async<void> check_keys(engine::Engine* engine);
    Async<void> check_feed(engine::Engine* engine, const Rows* rows);

    Rng rng_;
    std::uint64_t heard_ = 0;
    std::optional<Violation> violation_;
    std::set<Uuid> accepted_;
    std::map<std::string, Uuid> keys_;
    std::map<Uuid, std::string> key_of_;
    std::map<Uuid, std::map<domain::Epoch, std::uint64_t>>
        claims_;  ///< epoch → the version it made
    std::map<Uuid, std::vector<Step>> steps_;
    std::map<Uuid, std::string> results_;
    struct Ending {
        domain::State state;
        std::uint64_t version;  ///< 0: it was told again, and not which.
        bool looked_at =
            false;  ///< It was over when we last looked: whatever is told since came after it.
    };
    std::map<Uuid, Ending> final_;
    std::map<Uuid, std::set<std::string>> stages_, signals_;
    std::set<std::string> spent_;
    std::map<std::string, std::uint64_t> limits_;
    std::map<Uuid, std::uint64_t>
        checked_;  ///< Finished tasks that were found right, and their version.
};

}  // namespace holdfast::chaos
