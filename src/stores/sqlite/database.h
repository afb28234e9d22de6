// SQLite behind two small classes: a connection and a prepared statement.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "base/uuid.h"

namespace holdfast::stores::sqlite {

/// What SQLite said: the kind decides what can be done about it, the text is for a person.
struct Trouble {
    enum class Kind : std::uint8_t { other, io, full, corrupt, foreign, busy, read_only };
    Kind kind = Kind::other;
    std::string text;
};
template <class T = void>
using Tried = std::expected<T, Trouble>;

inline std::unexpected<Error> unavailable(const Trouble& trouble) {
    return refuse(Code::unavailable, trouble.text);
}

class Database;

/// Parameters are bound in order; `run` or `row` then does the work, and the statement is ready again.
class Statement {
  public:
    Statement() = default;
    Statement(Database& database, std::string_view sql);
    bool is_ready() const { return statement_ != nullptr; }

    Statement& bind(std::int64_t value) {
        return check(sqlite3_bind_int64(get(), ++bound_, value));
    }
    Statement& bind(std::uint64_t value) { return bind(static_cast<std::int64_t>(value)); }
    Statement& bind(std::uint32_t value) { return bind(static_cast<std::int64_t>(value)); }
    Statement& bind(Time value) { return bind(value.time_since_epoch().count()); }
    /// Texts and blobs are not copied: they stay as they are until the statement has run.
    Statement& bind(std::string_view text);
    Statement& bind_blob(std::string_view bytes);
    Statement& bind(const Uuid& id);

    /// Runs to the end, without looking at rows. Does nothing while the database is in trouble.
    bool run();
    /// Steps to the next row. False: there are no more, or something went wrong (see Database::trouble).
    bool row();
    /// Before a reuse, when not all rows were read.
    void reset();

    std::int64_t number(int column) const { return sqlite3_column_int64(get(), column); }
    Time time(int column) const { return Time{Duration{number(column)}}; }
    Uuid uuid(int column) const;
    /// Valid until the next step.
    std::string_view blob(int column) const;
    std::string_view text(int column) const;

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
    };
    sqlite3_stmt* get() const { return statement_.get(); }
    Statement& check(int rc);

    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    Database* database_ = nullptr;
    int bound_ = 0;
};

class Database {
  public:
    enum class Mode : std::uint8_t { write, read };
    /// With our own other connection, which may be recovering the log, and with a person who writes to the file
    /// with a tool: they hold us up for a moment, and do not end the process.
    static constexpr int kPatienceMs = 10'000;
    Database() = default;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    Tried<> open(const std::string& path, Mode mode, const std::string& vfs);
    Tried<> execute(const std::string& sql);
    /// The first thing that went wrong since it was last asked, if anything did.
    Tried<> outcome();
    /// After an error SQLite may have ended the transaction by itself: what would follow must not run alone.
    bool is_in_trouble() const { return in_trouble_; }
    void note(int rc);
    /// What went wrong does not matter.
    void forgive() { in_trouble_ = false; }
    std::int64_t pragma(const std::string& name);
    sqlite3* handle() const { return handle_.get(); }

  private:
    struct Close {
        void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
    };
    std::unique_ptr<sqlite3, Close> handle_;
    Trouble trouble_;
    bool in_trouble_ = false;
};

/// An id as the 16 bytes that sort as its text does.
using IdBytes = std::array<char, 16>;
IdBytes id_bytes(const Uuid& id);
Uuid id_of(std::string_view bytes);

}  // namespace holdfast::stores::sqlite
