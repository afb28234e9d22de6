// The embedded store itself, on a disk in memory that takes its time, and that can lose power.
//
// A crash ends a life of the store: either the process dies and the files are as they were, or power is lost and
// what was not synced may be. The next life begins with those files when the outage is over.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bad_disk.h"
#include "base/rng.h"
#include "base/task_group.h"
#include "peek.h"
#include "simulated_store.h"
#include "stores/sqlite/sqlite_store.h"
#include "virtual_time.h"

namespace holdfast::simulation {

class SimSqlite final : public SimulatedStore {
  public:
    /// `relaxed`: a power cut may take what was acknowledged, and the oracle is to see it.
    SimSqlite(VirtualTime& time, asio::any_io_executor executor, Rng rng, bool relaxed);
    ~SimSqlite() override;

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
    std::string_view durability() const override { return now().store->durability(); }

    void crash(Duration outage) override;
    std::uint64_t crashes() const override { return crashes_; }
    bool is_syncing() const override { return now().write != nullptr; }
    Async<void> stop() override { return group_.stop(); }

    std::optional<std::string> complaint() const override;
    bool is_open() const override { return !now().over; }
    std::vector<Sight> tasks() override;
    std::optional<domain::Header> header(const domain::Key& key) override;
    std::vector<domain::Transition> rows(const domain::Key& key) override;
    std::vector<stores::LogEntry> entries(std::string_view log, const Uuid& owner) override;
    std::vector<domain::FeedEvent> events() override;
    std::int64_t tally(const stores::Tally& tally, Time now) override;

  private:
    using Work = std::function<void()>;
    struct Life {
        std::filesystem::path directory;
        std::unique_ptr<chaos::BadDisk> disk;
        std::unique_ptr<stores::SqliteStore> store;
        std::optional<stores::Peek> peek;
        Work write;  ///< On its way to the disk.
        bool over = false;
    };
    Life& now() const { return *lives_.back(); }
    stores::SqliteStore& store() const { return *now().store; }

    /// Paths are relative to the data directory, which is another one in each life.
    void open(chaos::Media files);
    Async<void> open_later(chaos::Media files, Duration outage);
    void take(Life& life, Work write);
    Async<void> write_later(Life* life);
    /// What a life that is over still says, nobody hears.
    template <class T>
    Async<Result<T>> heard(Async<Result<T>> call, std::uint64_t life);

    ProcessClock clock_;
    asio::any_io_executor executor_;
    Rng rng_;
    stores::SqliteOptions options_;
    std::filesystem::path root_;
    std::vector<std::unique_ptr<Life>>
        lives_;  ///< Kept to the end: calls may be under way in any of them.
    std::uint64_t crashes_ = 0;
    std::optional<std::string> complaint_;
    TaskGroup group_;
};

}  // namespace holdfast::simulation
