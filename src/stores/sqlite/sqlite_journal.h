// The journal on SQLite: one file in WAL mode, one connection that writes and checkpoints, one that reads.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "stores/sqlite/journal.h"

namespace holdfast::stores::sqlite {

class Reading;

struct JournalOptions {
    std::string path;
    std::string vfs;
    bool relaxed = false;  ///< synchronous=NORMAL: a power cut may take the last groups.
    std::function<void(std::string_view)> failpoint;
};

inline constexpr std::int64_t kSchemaVersion = 1;

class SqliteJournal final : public Journal {
  public:
    /// Creates the file, or opens it and brings its schema up to date; refuses what is not ours or is newer.
    static Result<std::unique_ptr<SqliteJournal>> open(JournalOptions options);
    ~SqliteJournal() override;

    Tried<> append(const Group& group) override;
    Tried<> tidy() override;
    Result<> recover(Recovery& recovery) override;
    Archive& archive() override;

  private:
    struct Writing;  ///< The writer's prepared statements.
    explicit SqliteJournal(JournalOptions options);
    Result<> refuse_newer();
    Result<> prepare_schema();
    /// What is in the log stays there when the file is closed.
    void keep_log(bool keep);
    Result<> start();
    void write(const Group& group);
    void pass(std::string_view point) const {
        if (options_.failpoint) options_.failpoint(point);
    }

    JournalOptions options_;
    int wal_pages_ = 0;
    Database database_;
    std::unique_ptr<Writing> writing_;
    std::unique_ptr<Reading> reading_;
};

}  // namespace holdfast::stores::sqlite
