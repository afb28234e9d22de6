// The locks and the shared memory of one SQLite database, between the connections of one process. What the
// kernel does for SQLite's own VFS. The caller sees to it that one thread at a time is in here.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace holdfast::chaos {

/// The five levels of a database file's lock: none, shared, reserved, pending, exclusive.
class FileLock {
  public:
    /// A connection's part in it.
    struct Holder {
        int level = SQLITE_LOCK_NONE;
    };

    int lock(Holder& who, int level) {
        if (who.level >= level) return SQLITE_OK;
        const bool others_write = writer_ != nullptr && writer_ != &who;
        if (level == SQLITE_LOCK_SHARED) {
            if (others_write && writer_->level >= SQLITE_LOCK_PENDING) return SQLITE_BUSY;
            ++holders_;
            who.level = level;
            return SQLITE_OK;
        }
        if (others_write) return SQLITE_BUSY;
        writer_ = &who;
        const bool must_wait = level == SQLITE_LOCK_EXCLUSIVE && holders_ > 1;
        who.level = must_wait ? SQLITE_LOCK_PENDING : level;
        return must_wait ? SQLITE_BUSY : SQLITE_OK;
    }
    void unlock(Holder& who, int level) {
        if (who.level <= level) return;
        if (writer_ == &who && level <= SQLITE_LOCK_SHARED) writer_ = nullptr;
        if (level == SQLITE_LOCK_NONE) --holders_;
        who.level = level;
    }
    bool is_reserved() const { return writer_ != nullptr; }

  private:
    int holders_ = 0;
    const Holder* writer_ = nullptr;
};

/// The memory behind a WAL's index, and its eight locks. Gone with its last user, as after a crash.
class SharedMemory {
  public:
    struct User {
        bool attached = false;
        std::array<bool, SQLITE_SHM_NLOCK> shares{};
        std::array<bool, SQLITE_SHM_NLOCK> owns{};
    };

    void* region(User& who, std::size_t number, std::size_t size, bool make) {
        if (!who.attached) ++users_;
        who.attached = true;
        while (make && regions_.size() <= number) regions_.push_back(zeros(size));
        return number < regions_.size() ? regions_[number].get() : nullptr;
    }
    int lock(User& who, std::size_t first, std::size_t count, bool exclusive) {
        for (std::size_t i = first; i < first + count; ++i) {
            if (who.shares[i] || who.owns[i]) continue;
            if (owners_[i] > 0 || (exclusive && sharers_[i] > 0)) return SQLITE_BUSY;
        }
        for (std::size_t i = first; i < first + count; ++i) {
            auto& mine = exclusive ? who.owns : who.shares;
            auto& all = exclusive ? owners_ : sharers_;
            if (!mine[i]) ++all[i];
            mine[i] = true;
        }
        return SQLITE_OK;
    }
    void unlock(User& who, std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; ++i) {
            sharers_[i] -= who.shares[i] ? 1 : 0;
            owners_[i] -= who.owns[i] ? 1 : 0;
            who.shares[i] = who.owns[i] = false;
        }
    }
    void detach(User& who) {
        if (!who.attached) return;
        unlock(who, 0, SQLITE_SHM_NLOCK);
        who.attached = false;
        if (--users_ == 0) regions_.clear();
    }

  private:
    using Region = std::unique_ptr<std::byte[]>;
    static Region zeros(std::size_t size) { return std::make_unique<std::byte[]>(size); }

    int users_ = 0;
    std::vector<Region> regions_;
    std::array<int, SQLITE_SHM_NLOCK> sharers_{};
    std::array<int, SQLITE_SHM_NLOCK> owners_{};
};

}  // namespace holdfast::chaos
