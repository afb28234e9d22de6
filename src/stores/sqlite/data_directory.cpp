#include "stores/sqlite/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

namespace holdfast::stores::sqlite {
namespace {

struct NetworkFileSystem {
    unsigned long magic;
    std::string_view name;
};
constexpr std::array kNetworkFileSystems{
    NetworkFileSystem{0x6969, "NFS"},        NetworkFileSystem{0x517b, "SMB"},
    NetworkFileSystem{0xff534d42, "CIFS"},   NetworkFileSystem{0xfe534d42, "SMB2"},
    NetworkFileSystem{0x01021997, "9P"},     NetworkFileSystem{0x00c36400, "Ceph"},
    NetworkFileSystem{0x0bd00bd0, "Lustre"}, NetworkFileSystem{0x5346414f, "AFS"},
    NetworkFileSystem{0x73757245, "Coda"},   NetworkFileSystem{0x47504653, "GPFS"},
};

std::unexpected<Error> failed(std::string what, int cause) {
    std::string text = std::move(what) + ": " + strerrordesc_np(cause);
    if (cause == ENOENT) text += ". Make the directory above it first, or name another one";
    if (cause == EACCES || cause == EPERM || cause == EROFS)
        text += ". Give this user the right to write there, or name another directory";
    if (cause == ENOSPC) text += ". Free some space and start again";
    return refuse(Code::unavailable, std::move(text));
}

/// A directory that was just made is lost in a power cut unless the one above it is synced.
void sync_parent(const std::filesystem::path& path) {
    const auto parent = std::filesystem::absolute(path).lexically_normal().parent_path();
    const int directory = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    fsync(directory);
    close(directory);
}

Result<> refuse_network(const std::filesystem::path& path) {
    struct statfs about{};
    if (statfs(path.c_str(), &about) != 0) return failed("cannot look at " + path.string(), errno);
    for (const auto& [magic, name] : kNetworkFileSystems) {
        if (static_cast<unsigned long>(about.f_type) == magic)
            return refuse(Code::unavailable, path.string() + " is on a network file system (" +
                                                 std::string(name) +
                                                 "), where locks and syncs cannot be relied on. "
                                                 "Name a directory on a local disk");
    }
    return {};
}

std::string holder_of(int lock) {
    std::array<char, 32> text{};
    const ssize_t size = pread(lock, text.data(), text.size(), 0);
    int pid = 0;
    if (size > 0) std::from_chars(text.data(), text.data() + size, pid);
    return pid > 0 ? "process " + std::to_string(pid) : "another process";
}

}  // namespace

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DataDirectory::~DataDirectory() {
    if (lock_ >= 0) close(lock_);
}

Result<DataDirectory> DataDirectory::open(const std::filesystem::path& path) {
    if (mkdir(path.c_str(), 0700) == 0) {
        sync_parent(path);
    } else if (errno != EEXIST) {
        return failed("cannot make the data directory " + path.string(), errno);
    }
    struct stat about{};
    if (stat(path.c_str(), &about) == 0 && !S_ISDIR(about.st_mode))
        return refuse(Code::unavailable, path.string() +
                                             " is no directory; nothing was changed. Name another "
                                             "one");
    TRY_VOID(refuse_network(path));
    DataDirectory directory;
    directory.path_ = path;
    const std::string file = (path / "lock").string();
    directory.lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (directory.lock_ < 0)
        return failed("cannot write to the data directory " + path.string(), errno);
    if (flock(directory.lock_, LOCK_EX | LOCK_NB) != 0)
        return refuse(Code::unavailable, "the data directory " + path.string() + " is in use by " +
                                             holder_of(directory.lock_) +
                                             ". Stop it first, or name another directory");
    // SQLite would let everybody read it.
    const int database =
        ::open(directory.database().c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (database >= 0) close(database);
    const std::string pid = std::to_string(getpid()) + '\n';
    if (ftruncate(directory.lock_, 0) != 0 ||
        pwrite(directory.lock_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        if (errno != ENOSPC)
            return failed("cannot write to the data directory " + path.string(), errno);
    }
    return directory;
}

void DataDirectory::lay_ballast(std::uint64_t bytes) {
    if (bytes == 0 || room().free_bytes < 2 * bytes) return;
    const int file = ::open(ballast().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return;
    if (posix_fallocate(file, 0, static_cast<off_t>(bytes)) != 0) unlink(ballast().c_str());
    close(file);
}

bool DataDirectory::drop_ballast() {
    return unlink(ballast().c_str()) == 0;
}

DataDirectory::Room DataDirectory::room() const {
    struct statvfs about{};
    if (statvfs(path_.c_str(), &about) != 0) return {};
    return {static_cast<std::uint64_t>(about.f_bavail) * about.f_frsize,
            static_cast<std::uint64_t>(about.f_blocks) * about.f_frsize};
}

}  // namespace holdfast::stores::sqlite
