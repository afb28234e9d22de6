// `sqlite:DIR` — the embedded store: the memory index in front, SQLite behind it, nothing to configure.
//
// The index decides; each group of changes is one transaction that is on disk before anybody is told. An answer
// waits for the group of what it shows, so nothing is seen that a power cut could take back. A claim alone is
// handed out at once: its stamp rides in the next group, and its epoch is never minted again.
//
// Threads: the executor owns the index; one thread writes, one reads.
// Failure: when a write or a sync fails, nothing is acknowledged any more, and on_broken ends the process.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "stores/memory/index.h"
#include "stores/store.h"

namespace holdfast::stores {

namespace sqlite {
class DataDirectory;
class Journal;
class Pipeline;
class Scribe;
struct FinishedRow;
struct LogRow;
}  // namespace sqlite

struct SqliteOptions {
    std::filesystem::path directory;
    enum class Durability : std::uint8_t {
        full,     ///< What was acknowledged survives a power cut.
        relaxed,  ///< It survives the death of the process; a power cut may take the last moments.
    };
    Durability durability = Durability::full;
    std::size_t body_cache_bytes = std::size_t{14}
                                   << 20;  ///< Payloads of the newest tasks; older ones are read.
    std::size_t finished_cache = 1'000;    ///< Finished tasks kept in memory.
    std::uint64_t reserve_bytes = std::uint64_t{512} << 20;  ///< With less free disk than this …
    double reserve_share = 0.05;  ///< … or this part of it, no new task is let in.
    std::uint64_t ballast_bytes = std::uint64_t{64}
                                  << 20;  ///< Given up when the disk is full all the same.
    std::size_t most_gathered_bytes = std::size_t{64}
                                      << 20;  ///< More than this waiting: overloaded.
    std::string vfs;                          ///< A registered SQLite VFS; empty: the system's.
    /// A write or sync failed. By default: a message on stderr and exit code 70.
    std::function<void(const Error&)> on_broken;
    /// For tests that own time: runs what is else done on the writer's thread; reads are then done at once.
    std::function<void(std::function<void()>)> disk;
    /// For tests, on the writer's thread: before_write, before_sync, after_sync.
    std::function<void(std::string_view point)> failpoint;
};

class SqliteStore final : public Store {
  public:
    static constexpr int kExitBroken = 70;

    static Result<std::unique_ptr<SqliteStore>> open(SqliteOptions options, Clock& clock,
                                                     asio::any_io_executor executor);
    /// Nobody may be waiting for an answer. What is not durable yet is dropped: close() first.
    ~SqliteStore() override;

    /// Returns when everything that was done is on disk.
    Async<Result<>> close();
    /// PRAGMA integrity_check.
    Async<Result<>> check();
    /// A copy of the whole store, as it is at one moment, while work goes on.
    Async<Result<>> backup(std::filesystem::path to);

    Async<Result<std::vector<Outcome>>> commit(std::vector<Change> changes) override;
    Async<Result<std::vector<Record>>> claim(ClaimRequest request) override;
    Async<Result<std::vector<Renewed>>> renew(std::vector<Renewal> renewals) override;
    Async<Result<std::vector<std::optional<Record>>>> load(std::vector<Key> keys) override;
    Async<Result<std::vector<Record>>> due(std::size_t limit) override;
    Async<Result<Page>> list(Filter filter, std::string cursor, std::size_t limit,
                             std::size_t budget) override;
    Async<Result<Stats>> stats() override;
    Async<Result<std::vector<domain::Transition>>> history(Key key) override;
    Async<Result<std::vector<LogEntry>>> log(std::string log, Uuid owner, std::size_t skip,
                                             std::size_t limit) override;
    Async<Result<FeedPage>> feed(std::string cursor, std::size_t limit) override;
    Async<Result<std::vector<std::int64_t>>> count(std::vector<Tally> tallies) override;
    Async<Result<std::size_t>> trim(TrimRequest request) override;
    Async<Result<Time>> clock() override;
    std::string_view durability() const override;

  private:
    friend class Peek;  ///< The simulation looks without asking.
    class Recall;
    /// Epochs of claims whose stamp may be lost are below this much of the future.
    static constexpr std::int64_t kEpochsAhead =
        std::chrono::microseconds(std::chrono::hours{24}).count();
    static constexpr std::size_t kFeedBytes = std::size_t{4}
                                              << 20;  ///< Of the newest feed, in memory.
    struct Cached {
        memory::SlotId slot;
        std::uint64_t made, group;
        std::size_t bytes;
    };
    SqliteStore(SqliteOptions options, Clock& clock, asio::any_io_executor executor);
    Result<> start();
    void group_is_durable(std::uint64_t group);
    void evict_bodies();
    void evict_finished();
    bool has_room();
    /// Reads on a thread: the reader's, unless it takes long.
    using Thread = std::optional<asio::thread_pool>;
    template <class Read>
    auto reading(Read read, Thread* thread)
        -> Async<Result<typename std::invoke_result_t<Read>::value_type>>;
    template <class Read>
    auto reading(Read read) {
        return reading(std::move(read), &reader_);
    }

    /// May a finished task of this id be on disk, and not in memory?
    bool may_be_on_disk(const Uuid& id) const;
    class Pins;
    /// Finished tasks stay on disk as they are for a read that begins now.
    Async<Result<>> moves_are_durable();
    Async<Result<>> bring_in(std::vector<Uuid> ids);
    std::vector<Uuid> to_bring_in(const std::vector<Change>& changes) const;
    Async<Result<std::vector<std::optional<sqlite::FinishedRow>>>> find_finished(
        std::vector<Uuid> ids);
    /// Bodies that are on disk only: by their place among the records, and their `made`.
    using Missing = std::vector<std::pair<std::size_t, std::uint64_t>>;
    void note_missing(const memory::Slot& slot, std::size_t place, Missing& missing) const;
    Async<Result<>> fill_bodies(std::vector<Record>* records, Missing missing);
    struct FinishedPage;
    Async<Result<FinishedPage>> list_finished(Filter filter, std::uint64_t top, std::size_t limit,
                                              std::size_t budget);

    SqliteOptions options_;
    Clock& clock_;
    asio::any_io_executor executor_;
    memory::Index index_;
    std::unique_ptr<sqlite::DataDirectory> directory_;
    std::unique_ptr<sqlite::Journal> journal_;
    std::unique_ptr<sqlite::Scribe> scribe_;
    std::unique_ptr<sqlite::Pipeline> pipeline_;
    Thread reader_;
    Thread doctor_;  ///< For what reads the whole file: claims do not wait behind it.
    std::deque<Cached> cached_;
    std::size_t cached_bytes_ = 0;
    std::uint64_t shown_ = 0;  ///< The last group with something that an answer may show.
    std::uint64_t sealed_feed_ =
        0;  ///< The feed's next number when the group that is written was sealed.
    std::int64_t epoch_ceiling_ = 0;
    Time horizon_;                        ///< No finished task on disk only has an id minted later.
    std::map<Uuid, std::size_t> pinned_;  ///< Finished tasks that somebody is about to write to.
    std::uint64_t trim_from_ =
        0;  ///< Where the next trim looks; bound tasks are passed over, and met again later.
    bool low_on_room_ = false;
};

}  // namespace holdfast::stores
