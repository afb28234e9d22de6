#include "bad_disk.h"

#include <atomic>
#include <cstring>
#include <new>

#include "sqlite_locks.h"

namespace holdfast::chaos {

/// What the connections of one database file share.
struct BadDisk::Shared {
    FileLock lock;
    SharedMemory memory;
};

/// An open file, in memory that SQLite provides.
struct BadDisk::Handle : sqlite3_file {
    BadDisk* disk = nullptr;
    std::shared_ptr<File> file;
    std::shared_ptr<Shared> shared;
    FileLock::Holder lock;
    SharedMemory::User memory;
    std::string path;  ///< Empty: a temporary file without a name.
    bool syncs_names =
        false;  ///< SQLite syncs the folder with the first sync of a journal it made.
    bool keeps_wal = false;
    bool deletes_itself = false;
};

/// The C functions that SQLite calls.
class BadDisk::Vfs {
  public:
    static std::unique_ptr<sqlite3_vfs> make(BadDisk& disk) {
        auto vfs = std::make_unique<sqlite3_vfs>();
        vfs->iVersion = 2;
        vfs->szOsFile = sizeof(Handle);
        vfs->mxPathname = 4096;
        vfs->zName = disk.name_.c_str();
        vfs->pAppData = &disk;
        vfs->xOpen = open;
        vfs->xDelete = remove;
        vfs->xAccess = access;
        vfs->xFullPathname = full_path;
        vfs->xRandomness = [](sqlite3_vfs*, int n, char* to) {
            return system().xRandomness(&system(), n, to);
        };
        vfs->xSleep = [](sqlite3_vfs*, int us) { return system().xSleep(&system(), us); };
        vfs->xCurrentTime = [](sqlite3_vfs*, double* now) {
            return system().xCurrentTime(&system(), now);
        };
        vfs->xCurrentTimeInt64 = [](sqlite3_vfs*, sqlite3_int64* now) {
            return system().xCurrentTimeInt64(&system(), now);
        };
        vfs->xGetLastError = [](sqlite3_vfs*, int, char*) { return 0; };
        return vfs;
    }

  private:
    static sqlite3_vfs& system() { return *sqlite3_vfs_find("unix"); }
    static BadDisk& of(sqlite3_vfs* vfs) { return *static_cast<BadDisk*>(vfs->pAppData); }
    static Handle& of(sqlite3_file* file) { return *static_cast<Handle*>(file); }

    // ---- paths ----

    static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* at, int flags,
                    int* out_flags) {
        at->pMethods = nullptr;
        BadDisk& disk = of(vfs);
        const std::scoped_lock lock(disk.mutex_);
        const std::string name = path == nullptr ? "" : path;
        std::shared_ptr<File> file = disk.platter_.find(name);
        const bool creates = !file && (flags & SQLITE_OPEN_CREATE) != 0;
        const Fate fate = disk.meet(Op::open, creates && !name.empty());
        if (fate == Fate::dying) disk.platter_.create(name);
        if (fate != Fate::good && fate != Fate::interrupted) return SQLITE_CANTOPEN;
        if (creates) file = name.empty() ? std::make_shared<File>() : disk.platter_.create(name);
        if (!file) return SQLITE_CANTOPEN;

        auto* handle = new (at) Handle;
        handle->disk = &disk;
        handle->path = name;
        handle->file = std::move(file);
        handle->deletes_itself = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
        constexpr int kJournals =
            SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
        handle->syncs_names = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & kJournals) != 0;
        std::weak_ptr<Shared>& known = disk.shared_[handle->file.get()];
        handle->shared = known.lock();
        if (!handle->shared) known = handle->shared = std::make_shared<Shared>();
        handle->pMethods = &kMethods;
        if (out_flags != nullptr) *out_flags = flags;
        return SQLITE_OK;
    }

    static int remove(sqlite3_vfs* vfs, const char* path, int sync_folder) {
        BadDisk& disk = of(vfs);
        const std::scoped_lock lock(disk.mutex_);
        if (!disk.platter_.find(path))
            return disk.cut_ ? SQLITE_IOERR_DELETE : SQLITE_IOERR_DELETE_NOENT;
        const Fate fate = disk.meet(Op::remove, true);
        if (fate == Fate::dying) disk.platter_.remove(path);
        if (fate != Fate::good && fate != Fate::interrupted) return SQLITE_IOERR_DELETE;
        disk.platter_.remove(path);
        if (sync_folder != 0) disk.platter_.sync_names();
        return SQLITE_OK;
    }

    /// An empty file does not exist for SQLite: its journals are no journals then.
    static int access(sqlite3_vfs* vfs, const char* path, int flags, int* yes) {
        BadDisk& disk = of(vfs);
        const std::scoped_lock lock(disk.mutex_);
        if (disk.cut_) return SQLITE_IOERR_ACCESS;
        const std::shared_ptr<File> file = disk.platter_.find(path);
        *yes = file && (flags != SQLITE_ACCESS_EXISTS || !file->seen().empty()) ? 1 : 0;
        return SQLITE_OK;
    }

    static int full_path(sqlite3_vfs*, const char* path, int size, char* to) {
        if (std::strlen(path) >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
        std::strcpy(to, path);
        return SQLITE_OK;
    }

    // ---- files ----

    static int close(sqlite3_file* at) {
        Handle& handle = of(at);
        BadDisk& disk = *handle.disk;
        const std::scoped_lock lock(disk.mutex_);
        handle.shared->memory.detach(handle.memory);
        handle.shared->lock.unlock(handle.lock, SQLITE_LOCK_NONE);
        if (handle.deletes_itself && !handle.path.empty() && !disk.cut_)
            disk.platter_.remove(handle.path);
        if (handle.shared.use_count() == 1) disk.shared_.erase(handle.file.get());
        handle.~Handle();
        return SQLITE_OK;
    }

    static int read(sqlite3_file* at, void* to, int amount, sqlite3_int64 offset) {
        Handle& handle = of(at);
        const std::scoped_lock lock(handle.disk->mutex_);
        const Fate fate = handle.disk->meet(Op::read, false);
        if (fate != Fate::good && fate != Fate::interrupted) return SQLITE_IOERR_READ;
        const std::string& bytes = handle.file->seen();
        const auto from = std::min(static_cast<std::size_t>(offset), bytes.size());
        const auto size = static_cast<std::size_t>(amount);
        const std::size_t got = bytes.copy(static_cast<char*>(to), size, from);
        std::memset(static_cast<char*>(to) + got, 0, size - got);
        return got == size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
    }

    static int write(sqlite3_file* at, const void* from, int amount, sqlite3_int64 offset) {
        Handle& handle = of(at);
        BadDisk& disk = *handle.disk;
        const std::scoped_lock lock(disk.mutex_);
        const std::string_view bytes(static_cast<const char*>(from),
                                     static_cast<std::size_t>(amount));
        const auto where = static_cast<std::size_t>(offset);
        const std::string_view part = bytes.substr(0, disk.rng_.below(bytes.size()));
        const bool fits = disk.has_room(handle, where + bytes.size());
        switch (disk.meet(Op::write, true)) {
            case Fate::over:
                return SQLITE_IOERR_WRITE;
            case Fate::dying:
                handle.file->write(where, bytes);
                return SQLITE_IOERR_WRITE;
            case Fate::io_error:
                handle.file->write(where, part);
                return SQLITE_IOERR_WRITE;
            case Fate::full:
                if (fits) handle.file->write(where, part);
                return SQLITE_FULL;
            case Fate::interrupted:
                handle.file->write(where, part);
                [[fallthrough]];
            case Fate::good:
                if (!fits) return SQLITE_FULL;
                handle.file->write(where, bytes);
                return SQLITE_OK;
        }
        std::unreachable();
    }

    static int truncate(sqlite3_file* at, sqlite3_int64 size) {
        Handle& handle = of(at);
        const std::scoped_lock lock(handle.disk->mutex_);
        const Fate fate = handle.disk->meet(Op::truncate, true);
        const bool done = fate == Fate::good || fate == Fate::interrupted;
        if (done || fate == Fate::dying) handle.file->truncate(static_cast<std::size_t>(size));
        return done ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
    }

    static int sync(sqlite3_file* at, int) {
        Handle& handle = of(at);
        BadDisk& disk = *handle.disk;
        const std::scoped_lock lock(disk.mutex_);
        const Fate fate = disk.meet(Op::sync, true);
        if (fate == Fate::io_error || fate == Fate::full) handle.file->fail_to_sync(disk.rng_);
        if (fate != Fate::good) return SQLITE_IOERR_FSYNC;
        handle.file->sync();
        if (handle.syncs_names) disk.platter_.sync_names();
        handle.syncs_names = false;
        return SQLITE_OK;
    }

    static int size(sqlite3_file* at, sqlite3_int64* size) {
        Handle& handle = of(at);
        const std::scoped_lock lock(handle.disk->mutex_);
        if (handle.disk->cut_) return SQLITE_IOERR_FSTAT;
        *size = static_cast<sqlite3_int64>(handle.file->seen().size());
        return SQLITE_OK;
    }

    static int lock(sqlite3_file* at, int level) {
        Handle& handle = of(at);
        const std::scoped_lock lock(handle.disk->mutex_);
        if (handle.disk->cut_) return SQLITE_IOERR_LOCK;
        return handle.shared->lock.lock(handle.lock, level);
    }

    static int unlock(sqlite3_file* at, int level) {
        Handle& handle = of(at);
        const std::scoped_lock lock(handle.disk->mutex_);
        handle.shared->lock.unlock(handle.lock, level);
        return SQLITE_OK;
    }

    static int is_reserved(sqlite3_file* at, int* yes) {
        Handle& handle = of(at);
        const std::scoped_lock lock(handle.disk->mutex_);
        *yes = handle.shared->lock.is_reserved() ? 1 : 0;
        return SQLITE_OK;
    }

    static int control(sqlite3_file* at, int what, void* argument) {
        Handle& handle = of(at);
        if (what != SQLITE_FCNTL_PERSIST_WAL) return SQLITE_NOTFOUND;
        int& wish = *static_cast<int*>(argument);
        if (wish >= 0) handle.keeps_wal = wish != 0;
        wish = handle.keeps_wal ? 1 : 0;
        return SQLITE_OK;
    }

    // ---- the WAL's shared memory ----

    static int map(sqlite3_file* at, int number, int size, int make, void volatile** to) {
        Handle& handle = of(at);
        const std::scoped_lock lock(handle.disk->mutex_);
        *to = nullptr;
        if (handle.disk->cut_) return SQLITE_IOERR_SHMMAP;
        *to = handle.shared->memory.region(handle.memory, static_cast<std::size_t>(number),
                                           static_cast<std::size_t>(size), make != 0);
        return SQLITE_OK;
    }

    static int lock_memory(sqlite3_file* at, int first, int count, int flags) {
        Handle& handle = of(at);
        const std::scoped_lock lock(handle.disk->mutex_);
        SharedMemory& memory = handle.shared->memory;
        const auto from = static_cast<std::size_t>(first);
        const auto size = static_cast<std::size_t>(count);
        if ((flags & SQLITE_SHM_UNLOCK) != 0) {
            memory.unlock(handle.memory, from, size);
            return SQLITE_OK;
        }
        if (handle.disk->cut_) return SQLITE_IOERR_SHMLOCK;
        return memory.lock(handle.memory, from, size, (flags & SQLITE_SHM_EXCLUSIVE) != 0);
    }

    /// Taking the lock is the barrier.
    static void barrier(sqlite3_file* at) { const std::scoped_lock lock(of(at).disk->mutex_); }

    static int unmap(sqlite3_file* at, int) {
        Handle& handle = of(at);
        const std::scoped_lock lock(handle.disk->mutex_);
        handle.shared->memory.detach(handle.memory);
        return SQLITE_OK;
    }

    static constexpr sqlite3_io_methods kMethods{
        .iVersion = 2,
        .xClose = close,
        .xRead = read,
        .xWrite = write,
        .xTruncate = truncate,
        .xSync = sync,
        .xFileSize = size,
        .xLock = lock,
        .xUnlock = unlock,
        .xCheckReservedLock = is_reserved,
        .xFileControl = control,
        .xSectorSize = [](sqlite3_file*) { return 4096; },
        // What SQLite takes for granted on Linux: a torn write harms nothing beside it.
        .xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; },
        .xShmMap = map,
        .xShmLock = lock_memory,
        .xShmBarrier = barrier,
        .xShmUnmap = unmap,
        .xFetch = nullptr,
        .xUnfetch = nullptr,
    };
};

BadDisk::BadDisk(Media media, std::uint64_t seed) : platter_(std::move(media)), rng_(seed) {
    static std::atomic<std::uint64_t> made = 0;
    sqlite3_initialize();
    name_ = "bad-disk-" + std::to_string(++made);
    vfs_ = Vfs::make(*this);
    sqlite3_vfs_register(vfs_.get(), 0);
}

BadDisk::~BadDisk() {
    sqlite3_vfs_unregister(vfs_.get());
}

/// What becomes of the operation that begins now.
BadDisk::Fate BadDisk::meet(Op op, bool is_change) {
    if (cut_) return Fate::over;
    const std::uint64_t number = ++counts_[static_cast<std::size_t>(op)];
    if (is_change && ++changes_ == cut_at_) {
        cut_ = true;
        return Fate::dying;
    }
    if (!fault_ || fault_->op != op) return Fate::good;
    if (fault_->lasting ? number < fault_->nth : number != fault_->nth) return Fate::good;
    struck_ = true;
    switch (fault_->trouble) {
        case Trouble::io_error:
            return Fate::io_error;
        case Trouble::full:
            return Fate::full;
        case Trouble::interrupted:
            return Fate::interrupted;
    }
    std::unreachable();
}

bool BadDisk::has_room(const Handle& handle, std::size_t end) {
    const std::size_t size = handle.file->seen().size();
    const bool fits = end <= size || platter_.bytes() + (end - size) <= limit_;
    if (!fits && !cut_) struck_ = true;
    return fits;
}

void BadDisk::cut_at(std::uint64_t nth_change) {
    const std::scoped_lock lock(mutex_);
    cut_at_ = nth_change;
}
void BadDisk::cut() {
    const std::scoped_lock lock(mutex_);
    cut_ = true;
}
bool BadDisk::is_cut() const {
    const std::scoped_lock lock(mutex_);
    return cut_;
}
void BadDisk::plan(Fault fault) {
    const std::scoped_lock lock(mutex_);
    fault_ = fault;
    struck_ = false;
}
bool BadDisk::has_struck() const {
    const std::scoped_lock lock(mutex_);
    return struck_;
}
void BadDisk::heal() {
    const std::scoped_lock lock(mutex_);
    fault_.reset();
    limit_ = UINT64_MAX;
}
void BadDisk::limit_to(std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    limit_ = bytes;
}
std::uint64_t BadDisk::count(Op op) const {
    const std::scoped_lock lock(mutex_);
    return counts_[static_cast<std::size_t>(op)];
}
std::uint64_t BadDisk::changes() const {
    const std::scoped_lock lock(mutex_);
    return changes_;
}
bool BadDisk::is_safe(const std::string& path) const {
    const std::scoped_lock lock(mutex_);
    const auto file = platter_.find(path);
    return !file || file->is_safe();
}
Media BadDisk::seen() const {
    const std::scoped_lock lock(mutex_);
    return platter_.seen();
}
Media BadDisk::after_cut(Rng& rng) const {
    const std::scoped_lock lock(mutex_);
    return platter_.after_cut(rng);
}

}  // namespace holdfast::chaos
