// A look into the embedded store, past its port: at once, and also at what is not on disk yet.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stores/sqlite/journal.h"
#include "stores/sqlite/sqlite_store.h"

namespace holdfast::stores {

/// For a store whose reads are done at once (SqliteOptions::disk). On its executor.
class Peek {
  public:
    explicit Peek(SqliteStore& store);

    struct Task {
        ListRow row;
        bool durable;
    };
    std::vector<Task> tasks();
    std::optional<Header> header(const Key& key);
    std::vector<domain::Transition> history(const Key& key);
    std::vector<LogEntry> log(std::string_view log, const Uuid& owner);
    std::vector<domain::FeedEvent> feed();
    std::int64_t count(const Tally& tally, Time now) const;
    /// SQLite's own check of the file.
    void check();

    /// What could not be read.
    const std::optional<std::string>& complaint() const { return complaint_; }

  private:
    template <class T>
    T read(sqlite::Tried<T> answer);
    Header header_of(const sqlite::FinishedRow& row);
    std::optional<sqlite::FinishedRow> finished(const Uuid& id);

    SqliteStore& store_;
    std::vector<Uuid> in_memory_;     ///< At the last look, sorted.
    std::map<Uuid, Header> put_out_;  ///< Finished tasks that are on disk only.
    std::optional<std::string> complaint_;
};

}  // namespace holdfast::stores
