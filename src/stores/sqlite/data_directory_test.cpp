#include "stores/sqlite/data_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "testing/sqlite_fixture.h"

namespace holdfast::stores::sqlite {
namespace {

using holdfast::testing::TemporaryDirectory;

std::string refusal(const std::filesystem::path& path) {
    const auto opened = DataDirectory::open(path);
    return opened ? "it opened" : opened.error().detail;
}
bool says(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(DataDirectory, is_made_for_its_owner_alone) {
    const TemporaryDirectory there;
    const auto path = there.path() / "data";
    const auto opened = DataDirectory::open(path);
    ASSERT_TRUE(opened) << opened.error().detail;
    struct stat about{};
    ASSERT_EQ(stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0700U);
    EXPECT_EQ(opened->database(), (path / "holdfast.db").string());
    ASSERT_EQ(stat(opened->database().c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST(DataDirectory, a_second_owner_is_told_who_has_it) {
    const TemporaryDirectory there;
    const auto first = DataDirectory::open(there.path());
    ASSERT_TRUE(first);
    const std::string said = refusal(there.path());
    EXPECT_TRUE(says(said, "in use by process " + std::to_string(getpid()))) << said;
    EXPECT_TRUE(says(said, "name another directory")) << said;
}

TEST(DataDirectory, a_process_that_has_it_is_named_and_its_death_frees_it) {
    const TemporaryDirectory there;
    int ready[2], done[2];
    ASSERT_EQ(pipe(ready), 0);
    ASSERT_EQ(pipe(done), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(done[1]);
        const auto mine = DataDirectory::open(there.path());
        char byte = mine ? 'y' : 'n';
        if (::write(ready[1], &byte, 1) != 1) _exit(1);
        static_cast<void>(::read(done[0], &byte, 1));
        _exit(0);
    }
    close(done[0]);
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    ASSERT_EQ(byte, 'y');
    const std::string said = refusal(there.path());
    EXPECT_TRUE(says(said, "process " + std::to_string(child) + ".")) << said;
    close(done[1]);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
    EXPECT_TRUE(DataDirectory::open(there.path()));
}

TEST(DataDirectory, is_free_again_when_its_owner_lets_go) {
    const TemporaryDirectory there;
    {
        const auto first = DataDirectory::open(there.path());
    }
    EXPECT_TRUE(DataDirectory::open(there.path()));
}

TEST(DataDirectory, a_missing_parent_is_named_with_what_to_do) {
    const TemporaryDirectory there;
    const std::string said = refusal(there.path() / "none" / "data");
    EXPECT_TRUE(says(said, (there.path() / "none" / "data").string())) << said;
    EXPECT_TRUE(says(said, "No such file or directory")) << said;
    EXPECT_TRUE(says(said, "Make the directory above it")) << said;
    EXPECT_FALSE(std::filesystem::exists(there.path() / "none"));
}

TEST(DataDirectory, a_file_in_its_place_is_named_and_stays_as_it_is) {
    const TemporaryDirectory there;
    const auto path = there.path() / "data";
    std::ofstream(path) << "somebody's file";
    const std::string said = refusal(path);
    EXPECT_TRUE(says(said, path.string() + " is no directory")) << said;
    EXPECT_TRUE(says(said, "Name another one")) << said;
    EXPECT_EQ(holdfast::testing::bytes_of(path), "somebody's file");
}

TEST(DataDirectory, one_that_cannot_be_written_to_is_named_with_what_to_do) {
    const TemporaryDirectory there;
    const auto path = there.path() / "data";
    ASSERT_EQ(mkdir(path.c_str(), 0500), 0);
    if (access(path.c_str(), W_OK) == 0) GTEST_SKIP() << "this user may write everywhere";
    const std::string said = refusal(path);
    EXPECT_TRUE(says(said, "cannot write to the data directory " + path.string())) << said;
    EXPECT_TRUE(says(said, "Permission denied")) << said;
    EXPECT_TRUE(says(said, "Give this user the right to write there")) << said;
}

TEST(DataDirectory, ballast_takes_up_room_until_it_is_dropped) {
    const TemporaryDirectory there;
    auto directory = DataDirectory::open(there.path());
    ASSERT_TRUE(directory);
    directory->lay_ballast(1 << 20);
    EXPECT_EQ(std::filesystem::file_size(there.path() / "ballast"), 1U << 20);
    EXPECT_TRUE(directory->drop_ballast());
    EXPECT_FALSE(std::filesystem::exists(there.path() / "ballast"));
    EXPECT_FALSE(directory->drop_ballast());
}

TEST(DataDirectory, no_ballast_is_laid_where_there_is_no_room_for_it) {
    const TemporaryDirectory there;
    auto directory = DataDirectory::open(there.path());
    ASSERT_TRUE(directory);
    directory->lay_ballast(directory->room().free_bytes);
    EXPECT_FALSE(std::filesystem::exists(there.path() / "ballast"));
    EXPECT_LE(directory->room().free_bytes, directory->room().total_bytes);
}

}  // namespace
}  // namespace holdfast::stores::sqlite
