// A store with a disk that takes its time, and that can lose power.
//
// As the embedded store will: commits gather into groups, a group is synced, and only then applied, seen and
// answered; claims, renewals and timers are handed out at once and ride to the disk with the next group. A
// crash loses what was not synced, and the index is built anew from the journal.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "base/task_group.h"
#include "bugs.h"
#include "simulated_store.h"
#include "stores/memory/index.h"
#include "virtual_time.h"

namespace holdfast::simulation {

class SimStore final : public SimulatedStore {
  public:
    SimStore(VirtualTime& time, asio::any_io_executor executor, Rng rng, Bug bug);

    Async<Result<std::vector<stores::Outcome>>> commit(
        std::vector<domain::Change> changes) override;
    Async<Result<std::vector<domain::Record>>> claim(stores::ClaimRequest request) override;
    Async<Result<std::vector<stores::Renewed>>> renew(
        std::vector<stores::Renewal> renewals) override;
    Async<Result<std::vector<std::optional<domain::Record>>>> load(
        std::vector<domain::Key> keys) override;
    Async<Result<std::vector<domain::Record>>> due(std::size_t limit) override;
    Async<Result<stores::Page>> list(stores::Filter filter, std::string cursor, std::size_t limit,
                                     std::size_t budget) override;
    Async<Result<stores::Stats>> stats() override;
    Async<Result<std::vector<domain::Transition>>> history(domain::Key key) override;
    Async<Result<std::vector<stores::LogEntry>>> log(std::string log, Uuid owner, std::size_t skip,
                                                     std::size_t limit) override;
    Async<Result<stores::FeedPage>> feed(std::string cursor, std::size_t limit) override;
    Async<Result<std::vector<std::int64_t>>> count(std::vector<stores::Tally> tallies) override;
    Async<Result<std::size_t>> trim(stores::TrimRequest request) override;
    Async<Result<Time>> clock() override;
    std::string_view durability() const override { return "fsync"; }

    void crash(Duration outage) override;
    std::uint64_t crashes() const override { return crashes_; }
    bool is_syncing() const override { return sync_runs_; }
    Async<void> stop() override { return group_.stop(); }

    std::vector<Sight> tasks() override;
    std::optional<domain::Header> header(const domain::Key& key) override;
    std::vector<domain::Transition> rows(const domain::Key& key) override;
    std::vector<stores::LogEntry> entries(std::string_view log, const Uuid& owner) override {
        return index_->log(log, owner, 0, SIZE_MAX);
    }
    std::vector<domain::FeedEvent> events() override { return index_->feed({}, SIZE_MAX).events; }
    std::int64_t tally(const stores::Tally& tally, Time now) override {
        return index_->count(tally, now);
    }

  private:
    using Op = std::function<void(stores::memory::Index&)>;
    /// A caller of commit, waiting for its group.
    struct Writer {
        Writer(SimStore& in, std::vector<domain::Change> what);
        ~Writer();
        Writer(const Writer&) = delete;
        Writer& operator=(const Writer&) = delete;

        SimStore& store;
        std::vector<domain::Change> changes;
        Alarm done;
        std::optional<Result<std::vector<stores::Outcome>>> answer;
    };

    bool is_down() const { return clock_.now() < down_until_; }
    std::vector<stores::Outcome> apply(std::vector<domain::Change> changes,
                                       std::vector<Op>& journal);
    void do_now(Op op);
    Async<void> sync();
    void sabotage(domain::Change& change);
    void rebuild();

    VirtualTime& time_;
    ProcessClock clock_{time_};
    asio::any_io_executor executor_;
    Rng rng_;
    Bug bug_;
    std::unique_ptr<stores::memory::Index> index_;
    std::vector<Op> journal_;   ///< On disk.
    std::vector<Op> unsynced_;  ///< Done, and not on disk yet.
    std::vector<Writer*> gathering_, syncing_;
    bool sync_runs_ = false;
    std::uint64_t crashes_ = 0;
    Time down_until_;
    using StrayRows =
        std::vector<std::pair<std::uint64_t, domain::Transition>>;  ///< with their version
    std::map<Uuid, StrayRows> stray_rows_;                          ///< Bug::audit_outside_commit
    TaskGroup group_;
};

}  // namespace holdfast::simulation
