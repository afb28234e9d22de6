#include "stores/sqlite/reading.h"

#include <algorithm>
#include <queue>

namespace holdfast::stores::sqlite {
namespace {

constexpr const char* kHeadColumns =
    "number, made, id, family, state, attempt, tenant, fingerprint, finished_at, bound_until, "
    "header";

/// What lists need; history and outcome may be on pages of their own.
FinishedRow finished_head(const Statement& s) {
    return {.number = static_cast<std::uint64_t>(s.number(0)),
            .made = static_cast<std::uint64_t>(s.number(1)),
            .id = s.uuid(2),
            .family = static_cast<std::uint32_t>(s.number(3)),
            .state = static_cast<State>(s.number(4)),
            .attempt = static_cast<std::uint32_t>(s.number(5)),
            .tenant = static_cast<Names::Number>(s.number(6)),
            .fingerprint = static_cast<std::uint64_t>(s.number(7)),
            .finished_at = s.time(8),
            .bound_until = s.time(9),
            .header = std::string(s.blob(10)),
            .history = {},
            .outcome = {},
            .has_logs = false};
}

FinishedRow finished_row(const Statement& s) {
    FinishedRow row = finished_head(s);
    row.history = s.blob(11);
    row.outcome = Bytes(s.blob(12));
    return row;
}

constexpr const char* column_of(FinishedQuery::By by) {
    switch (by) {
        case FinishedQuery::By::state:
            return nullptr;
        case FinishedQuery::By::family:
            return "family";
        case FinishedQuery::By::tenant:
            return "tenant > 0 AND tenant";  // as the index says it
        case FinishedQuery::By::fingerprint:
            return "fingerprint <> 0 AND fingerprint";
    }
    std::unreachable();
}

}  // namespace

Tried<> Reading::open(const std::string& path, const std::string& vfs) {
    path_ = path;
    vfs_ = vfs;
    if (auto opened = database_.open(path, Database::Mode::read, vfs); !opened) return opened;
    // Checkpoints are the writer's alone: in SQLite 3.40 two connections that checkpoint and write can race.
    return database_.execute(
        "PRAGMA wal_autocheckpoint=0; PRAGMA query_only=1; PRAGMA cache_size=-4096");
}

Statement& Reading::statement(const std::string& sql) {
    Statement& prepared = statements_[sql];
    if (!prepared.is_ready()) prepared = Statement(database_, sql);
    return prepared;
}

Tried<std::vector<std::optional<FinishedRow>>> Reading::finished(const std::vector<Uuid>& ids) {
    std::vector<std::optional<FinishedRow>> rows(ids.size());
    Statement& s = statement(std::string("SELECT ") + kHeadColumns +
                             ", history, outcome FROM finished WHERE id=?");
    for (std::size_t i = 0; i < ids.size(); ++i) {
        s.bind(ids[i]);
        if (s.row()) rows[i] = finished_row(s);
        s.reset();
    }
    if (auto read = database_.outcome(); !read) return std::unexpected(read.error());
    return rows;
}

Tried<> Reading::walk(const FinishedQuery& query,
                      const std::function<bool(const FinishedRow&)>& visit) {
    struct Cursor {
        Statement statement;
        FinishedRow row;
        bool step() {
            if (!statement.row()) return false;
            row = finished_head(statement);
            return true;
        }
    };
    const char* column = column_of(query.by);
    const std::string sql = std::string("SELECT ") + kHeadColumns + " FROM finished WHERE " +
                            (column == nullptr ? "" : std::string(column) + "=?3 AND ") +
                            "state=?1 AND made<?2 ORDER BY made DESC";
    std::vector<Cursor> cursors;
    for (const std::uint64_t value :
         query.values.empty() ? std::vector<std::uint64_t>{0} : query.values) {
        for (const State state : query.states) {
            Cursor cursor{Statement(database_, sql), {}};
            cursor.statement.bind(static_cast<std::int64_t>(state)).bind(query.top);
            if (column != nullptr) cursor.statement.bind(value);
            if (cursor.step()) cursors.push_back(std::move(cursor));
        }
    }
    const auto newest = [](const Cursor* a, const Cursor* b) { return a->row.made < b->row.made; };
    std::priority_queue<Cursor*, std::vector<Cursor*>, decltype(newest)> order(newest);
    for (Cursor& cursor : cursors) order.push(&cursor);
    while (!order.empty()) {
        Cursor* cursor = order.top();
        order.pop();
        if (!visit(cursor->row)) break;
        if (cursor->step()) order.push(cursor);
    }
    return database_.outcome();
}

Tried<Archive::Old> Reading::old(std::uint64_t from, Time before, Time now, std::size_t limit) {
    constexpr std::size_t kMostLookedAt = 50'000;
    Old old;
    Statement& s = statement(
        "SELECT number, made, id, family, state, fingerprint, finished_at, bound_until FROM "
        "finished "
        "WHERE number>=? ORDER BY number");
    s.bind(from);
    for (std::size_t seen = 0; s.row(); ++seen) {
        const auto number = static_cast<std::uint64_t>(s.number(0));
        if (s.time(6) >= before) break;  // numbers are in the order of ending
        if (seen == kMostLookedAt || old.rows.size() == limit) {
            old.next = number;
            break;
        }
        if (s.time(7) > now) continue;
        FinishedRow row;
        row.number = number;
        row.made = static_cast<std::uint64_t>(s.number(1));
        row.id = s.uuid(2);
        row.family = static_cast<std::uint32_t>(s.number(3));
        row.state = static_cast<State>(s.number(4));
        row.fingerprint = static_cast<std::uint64_t>(s.number(5));
        old.rows.push_back(std::move(row));
    }
    s.reset();
    if (auto read = database_.outcome(); !read) return std::unexpected(read.error());
    return old;
}

/// Tasks are claimed about in the order in which they were made, so their bodies are neighbours: a walk over all of
/// them is several times faster than a search for each. Where too many strangers stand between, it searches.
Tried<std::vector<Bytes>> Reading::bodies(const std::vector<std::uint64_t>& made) {
    std::vector<Bytes> bodies(made.size());
    std::vector<std::size_t> order(made.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return made[i]; });
    Statement& walk =
        statement("SELECT made, body FROM bodies WHERE made BETWEEN ? AND ? ORDER BY made");
    Statement& search = statement("SELECT body FROM bodies WHERE made=?");
    auto wanted = order.begin();
    if (made.size() > 1) {
        walk.bind(made[order.front()]).bind(made[order.back()]);
        for (std::size_t strangers = 0;
             wanted != order.end() && strangers < made.size() && walk.row();) {
            const auto at = static_cast<std::uint64_t>(walk.number(0));
            while (wanted != order.end() && made[*wanted] < at) ++wanted;  // it has none
            strangers += wanted == order.end() || made[*wanted] != at ? 1 : 0;
            for (; wanted != order.end() && made[*wanted] == at; ++wanted)
                bodies[*wanted] = Bytes(walk.blob(1));
        }
        walk.reset();
    }
    for (; wanted != order.end(); ++wanted) {
        search.bind(made[*wanted]);
        if (search.row()) bodies[*wanted] = Bytes(search.blob(0));
        search.reset();
    }
    if (auto read = database_.outcome(); !read) return std::unexpected(read.error());
    return bodies;
}

Tried<std::vector<LogEntry>> Reading::log(std::string_view log, const Uuid& owner, std::size_t skip,
                                          std::size_t limit) {
    std::vector<LogEntry> entries;
    // In one statement: a task's logs move as a whole, and may do so at any moment.
    Statement& s = statement(
        "SELECT key, bytes FROM ("
        "SELECT place, key, bytes FROM logs WHERE owner=?1 AND log=?2 UNION ALL "
        "SELECT place, key, bytes FROM finished_logs WHERE owner=?1 AND log=?2) "
        "ORDER BY place LIMIT ?3 OFFSET ?4");
    s.bind(owner).bind(log);
    s.bind(static_cast<std::int64_t>(std::min<std::size_t>(limit, INT64_MAX)));
    s.bind(static_cast<std::int64_t>(std::min<std::size_t>(skip, INT64_MAX)));
    while (s.row()) entries.push_back({std::string(s.text(0)), Bytes(s.blob(1))});
    if (auto read = database_.outcome(); !read) return std::unexpected(read.error());
    return entries;
}

Tried<std::vector<LogRow>> Reading::log_keys(const Uuid& owner) {
    std::vector<LogRow> rows;
    Statement& s =
        statement("SELECT log, place, key FROM finished_logs WHERE owner=? ORDER BY log, place");
    s.bind(owner);
    while (s.row())
        rows.push_back({owner,
                        std::string(s.text(0)),
                        static_cast<std::uint64_t>(s.number(1)),
                        std::string(s.text(2)),
                        {}});
    if (auto read = database_.outcome(); !read) return std::unexpected(read.error());
    return rows;
}

Tried<std::vector<FeedRow>> Reading::feed(std::uint64_t from, std::size_t events) {
    std::vector<FeedRow> rows;
    Statement& s = statement(
        "SELECT first, count, at, events FROM feed "
        "WHERE first >= coalesce((SELECT max(first) FROM feed WHERE first<=?1), 0) ORDER BY first");
    s.bind(from);
    std::size_t found = 0;
    while (found <= events && s.row()) {
        rows.push_back({static_cast<std::uint64_t>(s.number(0)),
                        static_cast<std::uint64_t>(s.number(1)), s.time(2),
                        std::string(s.blob(3))});
        found += rows.size() == 1 ? 0 : rows.back().count;  // the first one may lie before `from`
    }
    s.reset();
    if (auto read = database_.outcome(); !read) return std::unexpected(read.error());
    return rows;
}

Tried<> Reading::check() {
    Database database;
    if (auto opened = database.open(path_, Database::Mode::read, vfs_); !opened) return opened;
    Statement s(database, "PRAGMA integrity_check(10)");
    std::string found;
    while (s.row()) found += (found.empty() ? "" : "; ") + std::string(s.text(0));
    if (auto read = database.outcome(); !read) return read;
    if (found == "ok") return {};
    return std::unexpected(Trouble{Trouble::Kind::corrupt, "PRAGMA integrity_check: " + found});
}

Tried<> Reading::backup(const std::string& to) {
    Database original, copy;
    if (auto opened = original.open(path_, Database::Mode::read, vfs_); !opened) return opened;
    if (auto opened = copy.open(to, Database::Mode::write, vfs_); !opened) return opened;
    sqlite3_backup* backup = sqlite3_backup_init(copy.handle(), "main", original.handle(), "main");
    if (backup == nullptr) {
        copy.note(sqlite3_errcode(copy.handle()));
        return copy.outcome();
    }
    const int rc = sqlite3_backup_step(backup, -1);  // one read transaction: a state that was
    sqlite3_backup_finish(backup);
    if (rc != SQLITE_DONE) copy.note(rc);
    return copy.outcome();
}

}  // namespace holdfast::stores::sqlite
