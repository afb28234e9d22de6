// A disk for SQLite to suffer from: an SQLite VFS whose files live in memory, that loses power, fails and
// fills up when told to. Errors are those that SQLite's own VFS makes of EIO, ENOSPC and EINTR on Linux.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "platter.h"

namespace holdfast::chaos {

/// What is done to a disk, counted by kind.
enum class Op : std::uint8_t { open, read, write, sync, truncate, remove };
inline constexpr std::array<std::string_view, 6> kOpNames{"open", "read",     "write",
                                                          "sync", "truncate", "remove"};
constexpr std::string_view to_string(Op op) {
    return kOpNames[static_cast<std::size_t>(op)];
}

enum class Trouble : std::uint8_t {
    io_error,     ///< EIO. A sync that fails so has forgotten what it had to do.
    full,         ///< ENOSPC.
    interrupted,  ///< EINTR: everything but a sync is tried again, as SQLite does.
};
inline constexpr std::array<std::string_view, 3> kTroubleNames{"EIO", "ENOSPC", "EINTR"};
constexpr std::string_view to_string(Trouble trouble) {
    return kTroubleNames[static_cast<std::size_t>(trouble)];
}

struct Fault {
    Op op = Op::write;
    std::uint64_t nth = 1;  ///< Of its kind, counted from the disk's first.
    Trouble trouble = Trouble::io_error;
    bool lasting = false;  ///< All after it, too.
};

/// One life of a machine with its disk. After a cut everything fails; the next life begins with a disk made from
/// what after_cut() left. Safe to use from several threads; every connection is closed before it dies.
class BadDisk {
  public:
    explicit BadDisk(Media media = {}, std::uint64_t seed = 1);
    ~BadDisk();
    BadDisk(const BadDisk&) = delete;
    BadDisk& operator=(const BadDisk&) = delete;

    /// Under which SQLite knows it.
    const std::string& name() const { return name_; }

    // ---- misfortune ----
    /// Power goes while the n-th change is under way: opens that create, writes, syncs, truncations and
    /// deletions are changes, counted from the disk's first.
    void cut_at(std::uint64_t nth_change);
    void cut();
    bool is_cut() const;
    void plan(Fault fault);
    bool has_struck() const;  ///< The planned fault happened, or there was no room.
    void heal();
    void limit_to(std::uint64_t bytes);

    // ---- what happened ----
    std::uint64_t count(Op op) const;
    std::uint64_t changes() const;
    /// Everything written to this file has been synced.
    bool is_safe(const std::string& path) const;
    Media seen() const;
    Media after_cut(Rng& rng) const;

  private:
    struct Handle;
    struct Shared;
    class Vfs;
    enum class Fate : std::uint8_t { good, over, dying, io_error, full, interrupted };
    Fate meet(Op op, bool is_change);
    bool has_room(const Handle& handle, std::size_t end);

    mutable std::mutex mutex_;
    std::string name_;
    std::unique_ptr<sqlite3_vfs> vfs_;
    Platter platter_;
    std::map<const File*, std::weak_ptr<Shared>> shared_;
    Rng rng_;
    std::array<std::uint64_t, kOpNames.size()> counts_{};
    std::uint64_t changes_ = 0;
    std::uint64_t cut_at_ = 0;
    bool cut_ = false;
    std::optional<Fault> fault_;
    bool struck_ = false;
    std::uint64_t limit_ = UINT64_MAX;
};

}  // namespace holdfast::chaos
