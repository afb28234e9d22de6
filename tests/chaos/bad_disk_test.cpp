// The disk itself, against plain SQLite: it must be as bad as a real one, and no worse.
#include "bad_disk.h"

#include <gtest/gtest.h>

#include <set>

namespace holdfast::chaos {
namespace {

class Db {
  public:
    explicit Db(const BadDisk& disk, int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        : opened_(sqlite3_open_v2("/disk/test.db", &db_, flags, disk.name().c_str())) {}
    ~Db() { sqlite3_close(db_); }
    Db(const Db&) = delete;
    Db& operator=(const Db&) = delete;

    int opened() const { return opened_; }
    /// The extended code of what SQLite answers.
    int run(const std::string& sql) {
        rows_.clear();
        const int code = sqlite3_exec(db_, sql.c_str(), keep_row, this, nullptr);
        return code == SQLITE_OK ? code : sqlite3_extended_errcode(db_);
    }
    std::string ask(const std::string& sql) {
        const int code = run(sql);
        if (code != SQLITE_OK) return sqlite3_errstr(code);
        return rows_.empty() ? "" : rows_.front();
    }
    /// None: they could not be read.
    std::optional<std::set<int>> numbers() {
        std::set<int> found;
        if (run("SELECT n FROM t") != SQLITE_OK) return std::nullopt;
        for (const std::string& row : rows_) found.insert(std::stoi(row));
        return found;
    }

  private:
    static int keep_row(void* self, int, char** columns, char**) {
        static_cast<Db*>(self)->rows_.emplace_back(columns[0] == nullptr ? "" : columns[0]);
        return 0;
    }
    sqlite3* db_ = nullptr;
    int opened_;
    std::vector<std::string> rows_;
};

std::string settings(const std::string& journal, const std::string& synchronous) {
    return "PRAGMA journal_mode=" + journal + "; PRAGMA synchronous=" + synchronous +
           "; PRAGMA wal_autocheckpoint=8;"
           "CREATE TABLE IF NOT EXISTS t(n INTEGER PRIMARY KEY, filler BLOB);";
}

std::string insert(int n) {
    return "INSERT INTO t VALUES(" + std::to_string(n) + ", randomblob(" +
           std::to_string(n * 37 % 6000) + "))";
}

/// Commits numbers on a disk that loses power again and again.
struct PowerCuts {
    int lost = 0;     ///< Committed numbers that were gone.
    int damaged = 0;  ///< 1: the file was not sound, and it ended there.
    int committed = 0;

    void run(const std::string& pragmas, std::uint64_t seed, int cuts) {
        Rng rng(seed);
        Media media;
        std::set<int> expected;
        int next = 1;
        for (int i = 0; i < cuts; ++i) {
            BadDisk disk(std::move(media), rng());
            disk.cut_at(1 + rng.below(300));
            {
                Db db(disk);
                const bool usable = db.opened() == SQLITE_OK && db.run(pragmas) == SQLITE_OK;
                if (usable) look(db, expected);
                if (!usable && !disk.is_cut()) ++damaged;
                while (!disk.is_cut() && damaged == 0) {
                    if (db.run(insert(next)) == SQLITE_OK) {
                        expected.insert(next);
                        ++committed;
                    }
                    ++next;
                }
            }
            media = disk.after_cut(rng);
            if (damaged > 0) return;
            if (i % 20 == 19) {
                media.clear();
                expected.clear();
            }
        }
    }

  private:
    void look(Db& db, std::set<int>& expected) {
        const std::string state = db.ask("PRAGMA integrity_check");
        const auto found = db.numbers();
        if (!found) return;  // cut while looking
        damaged += state == "ok" ? 0 : 1;
        for (const int n : expected) lost += found->contains(n) ? 0 : 1;
        expected = *found;
    }
};

TEST(BadDisk, full_synchronous_wal_loses_nothing_committed) {
    PowerCuts cuts;
    cuts.run(settings("WAL", "FULL"), 1, 1000);
    EXPECT_GT(cuts.committed, 5'000);
    EXPECT_EQ(cuts.lost, 0);
    EXPECT_EQ(cuts.damaged, 0);
}

TEST(BadDisk, a_rollback_journal_whose_deletion_is_synced_loses_nothing_committed) {
    PowerCuts cuts;
    cuts.run(settings("DELETE", "EXTRA"), 2, 1000);
    EXPECT_GT(cuts.committed, 1'000);
    EXPECT_EQ(cuts.lost, 0);
    EXPECT_EQ(cuts.damaged, 0);
}

/// SQLite says so of FULL: the deletion of the journal is the commit, and EXTRA is what syncs it.
TEST(BadDisk, a_rollback_journal_whose_deletion_is_not_synced_loses_some_and_stays_sound) {
    PowerCuts cuts;
    cuts.run(settings("DELETE", "FULL"), 2, 1000);
    EXPECT_GT(cuts.lost, 0);
    EXPECT_EQ(cuts.damaged, 0);
}

TEST(BadDisk, normal_synchronous_wal_loses_some_and_stays_sound) {
    PowerCuts cuts;
    cuts.run(settings("WAL", "NORMAL"), 3, 500);
    EXPECT_GT(cuts.lost, 100);
    EXPECT_EQ(cuts.damaged, 0);
}

TEST(BadDisk, without_syncs_the_file_is_damaged) {
    PowerCuts cuts;
    cuts.run(settings("WAL", "OFF"), 4, 500);
    EXPECT_GT(cuts.damaged, 0);
}

TEST(BadDisk, two_connections_see_one_another_through_the_wal) {
    BadDisk disk;
    Db writer(disk);
    ASSERT_EQ(writer.run(settings("WAL", "FULL")), SQLITE_OK);
    Db reader(disk, SQLITE_OPEN_READONLY);
    for (int n = 1; n <= 100; ++n) {
        ASSERT_EQ(writer.run(insert(n)), SQLITE_OK);
        ASSERT_EQ(reader.ask("SELECT count(*) FROM t"), std::to_string(n));
    }
    ASSERT_EQ(writer.run("BEGIN IMMEDIATE; " + insert(101)), SQLITE_OK);
    EXPECT_EQ(reader.ask("SELECT count(*) FROM t"), "100");
    Db second(disk);
    EXPECT_EQ(second.run("BEGIN IMMEDIATE") & 0xff, SQLITE_BUSY);
}

TEST(BadDisk, a_killed_process_loses_nothing_that_was_written) {
    Media media;
    {
        BadDisk disk;
        Db db(disk);
        ASSERT_EQ(db.run(settings("WAL", "NORMAL")), SQLITE_OK);
        for (int n = 1; n <= 30; ++n) ASSERT_EQ(db.run(insert(n)), SQLITE_OK);
        media = disk.seen();
    }
    BadDisk disk(std::move(media));
    Db db(disk);
    EXPECT_EQ(db.numbers().value().size(), 30U);
}

TEST(BadDisk, after_a_cut_everything_fails) {
    BadDisk disk;
    Db db(disk);
    ASSERT_EQ(db.run(settings("WAL", "FULL")), SQLITE_OK);
    disk.cut();
    EXPECT_EQ(db.run(insert(1)) & 0xff, SQLITE_IOERR);
    EXPECT_EQ(Db(disk).run("SELECT 1 FROM t") & 0xff, SQLITE_CANTOPEN);
}

struct Expectation {
    Op op;
    Trouble trouble;
    int code;
};

TEST(BadDisk, a_fault_is_told_as_the_unix_vfs_tells_it) {
    const std::vector<Expectation> kAll{
        {Op::write, Trouble::io_error, SQLITE_IOERR_WRITE},
        {Op::write, Trouble::full, SQLITE_FULL},
        {Op::write, Trouble::interrupted, SQLITE_OK},
        {Op::sync, Trouble::io_error, SQLITE_IOERR_FSYNC},
        {Op::sync, Trouble::full, SQLITE_IOERR_FSYNC},
        {Op::sync, Trouble::interrupted, SQLITE_IOERR_FSYNC},
        {Op::read, Trouble::io_error, SQLITE_IOERR_READ},
        {Op::read, Trouble::interrupted, SQLITE_OK},
    };
    for (const Expectation& e : kAll) {
        SCOPED_TRACE(std::string(to_string(e.op)) + ' ' + std::string(to_string(e.trouble)));
        BadDisk disk;
        Db db(disk);
        ASSERT_EQ(db.run(settings("WAL", "FULL") + insert(1)), SQLITE_OK);
        if (e.op == Op::read) {  // the cache would answer
            ASSERT_EQ(db.run("PRAGMA wal_checkpoint; PRAGMA shrink_memory;"), SQLITE_OK);
        }
        disk.plan({e.op, disk.count(e.op) + 1, e.trouble, false});
        EXPECT_EQ(db.run(e.op == Op::read ? "SELECT * FROM t" : insert(2)), e.code);
        EXPECT_TRUE(disk.has_struck());
        EXPECT_EQ(db.run(insert(3)), SQLITE_OK);  // it was one fault
    }
}

TEST(BadDisk, a_file_that_cannot_be_opened_is_told) {
    BadDisk disk;
    disk.plan({Op::open, 1, Trouble::full, true});
    Db db(disk);
    EXPECT_EQ(db.run("CREATE TABLE t(n)") & 0xff, SQLITE_CANTOPEN);
}

TEST(BadDisk, a_lasting_fault_stays_until_healed) {
    BadDisk disk;
    Db db(disk);
    ASSERT_EQ(db.run(settings("WAL", "FULL")), SQLITE_OK);
    disk.plan({Op::write, disk.count(Op::write) + 1, Trouble::full, true});
    EXPECT_EQ(db.run(insert(1)), SQLITE_FULL);
    EXPECT_EQ(db.run(insert(1)), SQLITE_FULL);
    disk.heal();
    EXPECT_EQ(db.run(insert(1)), SQLITE_OK);
}

TEST(BadDisk, a_full_disk_refuses_and_keeps_what_it_has) {
    BadDisk disk;
    disk.limit_to(256 << 10);
    Db db(disk);
    ASSERT_EQ(db.run(settings("WAL", "FULL")), SQLITE_OK);
    int n = 1;
    while (db.run(insert(n)) == SQLITE_OK) ++n;
    EXPECT_EQ(db.run(insert(n)), SQLITE_FULL);
    EXPECT_GT(n, 20);
    EXPECT_EQ(db.ask("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(db.numbers().value().size(), static_cast<std::size_t>(n - 1));
}

/// The trap of fsync: a sync that failed, tried again, says "done" about what is not there. Here the WAL's sync
/// before a checkpoint is lied about, so the checkpoint destroys what only the WAL could mend.
TEST(BadDisk, a_sync_that_failed_once_says_done_and_is_not) {
    int damaged = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Rng rng(seed);
        BadDisk disk({}, seed);
        {
            Db db(disk);
            ASSERT_EQ(db.run(settings("WAL", "NORMAL")), SQLITE_OK);
            ASSERT_EQ(db.run("PRAGMA wal_autocheckpoint=0"), SQLITE_OK);
            for (int n = 1; n <= 30; ++n) ASSERT_EQ(db.run(insert(n)), SQLITE_OK);
            disk.plan({Op::sync, disk.count(Op::sync) + 1, Trouble::io_error, false});
            EXPECT_EQ(db.run("PRAGMA wal_checkpoint"), SQLITE_IOERR_FSYNC);
            disk.cut_at(disk.changes() + 2 + rng.below(20));  // past the sync that says "done"
            db.run("PRAGMA wal_checkpoint");
            disk.cut();
        }
        BadDisk next(disk.after_cut(rng));
        damaged += Db(next).ask("PRAGMA integrity_check") == "ok" ? 0 : 1;
    }
    EXPECT_GT(damaged, 0);
}

/// Why a store has to checkpoint by itself: an automatic checkpoint keeps its troubles to itself.
TEST(BadDisk, sqlite_is_silent_about_an_automatic_checkpoint_that_failed) {
    BadDisk disk;
    Db db(disk);
    ASSERT_EQ(db.run(settings("WAL", "FULL")), SQLITE_OK);
    for (int n = 1; !disk.has_struck(); ++n) {
        // A commit syncs once; the second sync from here is the checkpoint's.
        disk.plan({Op::sync, disk.count(Op::sync) + 2, Trouble::io_error, false});
        ASSERT_EQ(db.run(insert(n)), SQLITE_OK);
    }
}

}  // namespace
}  // namespace holdfast::chaos
