// The folder the embedded store lives in: one process owns it, and it keeps room for finishing what was begun.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace holdfast::stores::sqlite {

class DataDirectory {
  public:
    DataDirectory() = default;
    ~DataDirectory();
    DataDirectory(DataDirectory&& other) noexcept;
    DataDirectory& operator=(DataDirectory&&) = delete;

    /// Makes the folder if there is none, and takes it for this process. Refuses network file systems, whose
    /// locks and syncs cannot be relied on, and a folder that another process has.
    static Result<DataDirectory> open(const std::filesystem::path& path);

    std::string database() const { return (path_ / "holdfast.db").string(); }

    /// A file that does nothing but take up room, until there is no other.
    void lay_ballast(std::uint64_t bytes);
    /// False: there was none.
    bool drop_ballast();

    struct Room {
        std::uint64_t free_bytes = UINT64_MAX;
        std::uint64_t total_bytes = UINT64_MAX;
    };
    Room room() const;

  private:
    std::filesystem::path ballast() const { return path_ / "ballast"; }

    std::filesystem::path path_;
    int lock_ = -1;
};

}  // namespace holdfast::stores::sqlite
