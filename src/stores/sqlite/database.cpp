#include "stores/sqlite/database.h"

#include <bit>
#include <cstring>

namespace holdfast::stores::sqlite {
namespace {

Trouble::Kind kind_of(int rc) {
    switch (rc & 0xff) {
        case SQLITE_FULL:
            return Trouble::Kind::full;
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
            return Trouble::Kind::io;
        case SQLITE_CORRUPT:
            return Trouble::Kind::corrupt;
        case SQLITE_NOTADB:
            return Trouble::Kind::foreign;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return Trouble::Kind::busy;
        case SQLITE_READONLY:
        case SQLITE_PERM:
            return Trouble::Kind::read_only;
        default:
            return Trouble::Kind::other;
    }
}

std::uint64_t big_endian(std::uint64_t value) {
    if constexpr (std::endian::native == std::endian::little) return __builtin_bswap64(value);
    return value;
}

}  // namespace

IdBytes id_bytes(const Uuid& id) {
    IdBytes bytes{};
    const std::uint64_t high = big_endian(id.high), low = big_endian(id.low);
    std::memcpy(bytes.data(), &high, 8);
    std::memcpy(bytes.data() + 8, &low, 8);
    return bytes;
}

Uuid id_of(std::string_view bytes) {
    Uuid id;
    if (bytes.size() != 16) return id;
    std::memcpy(&id.high, bytes.data(), 8);
    std::memcpy(&id.low, bytes.data() + 8, 8);
    return {big_endian(id.high), big_endian(id.low)};
}

// ---- Statement ----

Statement::Statement(Database& database, std::string_view sql) : database_(&database) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()),
                             SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
    statement_.reset(statement);
}

Statement& Statement::check(int rc) {
    if (rc != SQLITE_OK) database_->note(rc);
    return *this;
}

Statement& Statement::bind(std::string_view text) {
    return check(sqlite3_bind_text64(get(), ++bound_, text.data() == nullptr ? "" : text.data(),
                                     text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

Statement& Statement::bind_blob(std::string_view bytes) {
    return check(sqlite3_bind_blob64(get(), ++bound_, bytes.data() == nullptr ? "" : bytes.data(),
                                     bytes.size(), SQLITE_STATIC));
}

Statement& Statement::bind(const Uuid& id) {
    const IdBytes bytes = id_bytes(id);
    return check(sqlite3_bind_blob(get(), ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
}

bool Statement::run() {
    if (get() == nullptr || database_->is_in_trouble()) {
        reset();
        return false;
    }
    int rc = SQLITE_ROW;
    while (rc == SQLITE_ROW) rc = sqlite3_step(get());
    if (rc != SQLITE_DONE) database_->note(rc);
    reset();
    return rc == SQLITE_DONE;
}

bool Statement::row() {
    if (get() == nullptr || database_->is_in_trouble()) {
        reset();
        return false;
    }
    const int rc = sqlite3_step(get());
    if (rc == SQLITE_ROW) return true;
    if (rc != SQLITE_DONE) database_->note(rc);
    reset();
    return false;
}

void Statement::reset() {
    sqlite3_reset(get());
    bound_ = 0;
}

std::string_view Statement::blob(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(get(), column));
    return bytes == nullptr
               ? std::string_view{}
               : std::string_view(bytes,
                                  static_cast<std::size_t>(sqlite3_column_bytes(get(), column)));
}

std::string_view Statement::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(get(), column));
    return text == nullptr
               ? std::string_view{}
               : std::string_view(text,
                                  static_cast<std::size_t>(sqlite3_column_bytes(get(), column)));
}

Uuid Statement::uuid(int column) const {
    return id_of(blob(column));
}

// ---- Database ----

namespace {

/// SQLite's own count of its memory takes a lock at every allocation; nobody reads it.
void set_up_library() {
    static const int kOnce = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    static_cast<void>(kOnce);
}

}  // namespace

Tried<> Database::open(const std::string& path, Mode mode, const std::string& vfs) {
    const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE |
                      (mode == Mode::write ? SQLITE_OPEN_CREATE : 0);
    set_up_library();
    sqlite3* handle = nullptr;
    const int rc =
        sqlite3_open_v2(path.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
    handle_.reset(handle);
    if (handle != nullptr) {
        sqlite3_extended_result_codes(handle, 1);
        sqlite3_busy_timeout(handle, kPatienceMs);
    }
    note(rc);
    return outcome();
}

void Database::note(int rc) {
    if (rc == SQLITE_OK || in_trouble_) return;
    in_trouble_ = true;
    const char* text = handle() == nullptr ? sqlite3_errstr(rc) : sqlite3_errmsg(handle());
    trouble_ = {kind_of(rc), std::string(text) + " (SQLite result " + std::to_string(rc)};
    const int cause = handle() == nullptr ? 0 : sqlite3_system_errno(handle());
    if (cause != 0 && (rc & 0xff) == SQLITE_IOERR) {
        trouble_.text += ", ";
        trouble_.text += strerrordesc_np(cause);
    }
    trouble_.text += ')';
}

Tried<> Database::outcome() {
    if (!in_trouble_) return {};
    in_trouble_ = false;
    return std::unexpected(std::exchange(trouble_, {}));
}

Tried<> Database::execute(const std::string& sql) {
    note(sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr));
    return outcome();
}

std::int64_t Database::pragma(const std::string& name) {
    Statement statement(*this, "PRAGMA " + name);
    return statement.row() ? statement.number(0) : 0;
}

}  // namespace holdfast::stores::sqlite
