// What opens, and what is refused without a trace.
#include <gtest/gtest.h>

#include <fstream>

#include "stores/sqlite/database.h"
#include "stores/sqlite/sqlite_journal.h"
#include "testing/sqlite_fixture.h"

namespace holdfast::stores::sqlite {
namespace {

class Opening : public holdfast::testing::SqliteTest {
  protected:
    /// A store with a running, a waiting and a finished task, closed.
    void have_a_store() {
        open();
        finish();
        submit();
        claim();
        submit(task("other"));
        settle();
        kill();
    }
    void change(const std::string& sql) {
        Database database;
        ASSERT_TRUE(database.open(file().string(), Database::Mode::write, ""));
        const auto done = database.execute(sql);
        ASSERT_TRUE(done) << done.error().text;
    }
    /// Refused, with these words, and the file is as it was.
    void expect_refused(const std::vector<std::string_view>& words) {
        const std::string before = holdfast::testing::bytes_of(file());
        const std::string said = refusal();
        for (const std::string_view word : words)
            EXPECT_NE(said.find(word), std::string::npos) << "“" << word << "” is not in: " << said;
        EXPECT_NE(said.find(file().string()), std::string::npos) << said;
        EXPECT_TRUE(holdfast::testing::bytes_of(file()) == before) << "the file was changed";
        EXPECT_NE(said.find("nothing was changed"), std::string::npos) << said;
    }
};

TEST_F(Opening, a_new_directory_becomes_a_store) {
    open();
    submit();
    reopen();
    EXPECT_EQ(claim().size(), 1U);
    EXPECT_EQ(store_->durability(), "fsync");
}

TEST_F(Opening, an_empty_file_becomes_a_store) {
    std::filesystem::create_directory(options_.directory);
    std::ofstream(file()).flush();
    open();
    submit();
    EXPECT_EQ(claim().size(), 1U);
}

TEST_F(Opening, a_second_store_is_told_who_has_the_directory) {
    open();
    EXPECT_NE(refusal().find("in use by process " + std::to_string(getpid())), std::string::npos);
}

TEST_F(Opening, a_database_of_another_program_is_left_alone) {
    std::filesystem::create_directory(options_.directory);
    change("CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup')");
    expect_refused({"another program", "Name another directory"});
}

TEST_F(Opening, a_text_file_is_left_alone) {
    std::filesystem::create_directory(options_.directory);
    std::ofstream(file()) << std::string(5000, 'x') << "no database\n";
    expect_refused({"no SQLite file", "Restore a backup"});
}

TEST_F(Opening, a_newer_schema_is_left_alone) {
    have_a_store();
    change("PRAGMA user_version=99");
    expect_refused({"newer Holdfast", "schema 99", "Install that version"});
}

TEST_F(Opening, a_newer_schema_that_was_not_closed_is_left_alone_with_its_log) {
    have_a_store();
    Database other;
    ASSERT_TRUE(other.open(file().string(), Database::Mode::write, ""));
    ASSERT_TRUE(other.execute("PRAGMA user_version=99"));
    // What the death of a process leaves behind: the file and its log.
    const auto dead = directory_.path() / "dead";
    std::filesystem::create_directory(dead);
    for (const char* name : {"holdfast.db", "holdfast.db-wal"})
        std::filesystem::copy_file(options_.directory / name, dead / name);
    options_.directory = dead;
    const std::string log = holdfast::testing::bytes_of(dead / "holdfast.db-wal");
    ASSERT_FALSE(log.empty());
    expect_refused({"newer Holdfast", "schema 99"});
    EXPECT_TRUE(holdfast::testing::bytes_of(dead / "holdfast.db-wal") == log);
}

TEST_F(Opening, a_truncated_file_is_refused_and_left_alone) {
    have_a_store();
    std::filesystem::resize_file(file(), 3 * 4096);
    expect_refused({"damaged", "Restore a backup"});
}

TEST_F(Opening, a_file_with_a_damaged_page_is_refused_and_left_alone) {
    have_a_store();
    {
        std::fstream out(file(), std::ios::in | std::ios::out | std::ios::binary);
        out.seekp(4096);
        out << std::string(std::filesystem::file_size(file()) - 4096, '\xa5');
    }
    expect_refused({"damaged", "Restore a backup"});
}

TEST_F(Opening, rows_with_values_that_cannot_be_are_refused) {
    have_a_store();
    const std::string good = holdfast::testing::bytes_of(file());
    for (const char* damage : {"UPDATE live SET state=77", "UPDATE families SET kind=77",
                               "UPDATE live SET family=77", "UPDATE live SET header=x'0102'",
                               "UPDATE live SET header=x''", "UPDATE finished_counts SET state=77",
                               "DELETE FROM families", "UPDATE names SET number=4000000000"}) {
        std::ofstream(file(), std::ios::binary | std::ios::trunc) << good;
        change(damage);
        SCOPED_TRACE(damage);
        expect_refused({"damaged", "Restore a backup"});
    }
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << good;
    open();
}

TEST_F(Opening, a_file_in_the_place_of_the_directory_is_refused) {
    std::ofstream(options_.directory) << "a file";
    EXPECT_NE(refusal().find("is no directory"), std::string::npos);
    EXPECT_EQ(holdfast::testing::bytes_of(options_.directory), "a file");
}

TEST_F(Opening, a_directory_in_the_place_of_the_file_is_refused) {
    std::filesystem::create_directories(file());
    EXPECT_NE(refusal().find("cannot open " + file().string()), std::string::npos);
}

TEST_F(Opening, a_file_that_cannot_be_written_to_is_refused) {
    have_a_store();
    std::filesystem::permissions(file(), std::filesystem::perms::owner_read);
    if (access(file().c_str(), W_OK) == 0) GTEST_SKIP() << "this user may write everywhere";
    const std::string said = refusal();
    EXPECT_NE(said.find("Give this user the right to write"), std::string::npos) << said;
}

}  // namespace
}  // namespace holdfast::stores::sqlite
