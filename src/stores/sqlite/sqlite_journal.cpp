#include "stores/sqlite/sqlite_journal.h"

#include "stores/sqlite/reading.h"

namespace holdfast::stores::sqlite {

std::string_view sql_text(std::string_view name);

namespace {

/// "Hfst": tells our files from others in `file` and in our own check.
constexpr std::int64_t kApplicationId = 0x48667374;
constexpr int kCheckpointPages = 1000;
constexpr std::int64_t kLargestWalBytes = std::int64_t{64} << 20;
constexpr int kLargestWalPages = kLargestWalBytes / 4096;

std::int64_t of(State state) {
    return static_cast<std::int64_t>(state);
}

Error cannot_open(const std::string& path, const Trouble& trouble) {
    std::string next;
    switch (trouble.kind) {
        case Trouble::Kind::foreign:
        case Trouble::Kind::corrupt:
            next =
                "it is damaged or no SQLite file; nothing was changed. Restore a backup, or name "
                "another directory";
            break;
        case Trouble::Kind::read_only:
            next =
                "it cannot be written to. Give this user the right to write to the directory and "
                "its files";
            break;
        case Trouble::Kind::full:
            next = "the disk is full. Free some space and start again; nothing was lost";
            break;
        case Trouble::Kind::io:
            next =
                "the disk could not be read or written, or the directory is not there; nothing was "
                "changed. "
                "Look after the disk, then start again";
            break;
        case Trouble::Kind::busy:
            next = "another program has it open. Close that one first";
            break;
        default:
            next = "see that the directory exists, is on a local disk and can be written to";
    }
    return {Code::unavailable, "cannot open " + path + ": " + next + ": " + trouble.text, {}};
}

}  // namespace

struct SqliteJournal::Writing {
    explicit Writing(Database& db)
        : begin(db, "BEGIN IMMEDIATE"),
          commit(db, "COMMIT"),
          rollback(db, "ROLLBACK"),
          name(db, "INSERT OR REPLACE INTO names VALUES (?,?)"),
          family(db, "INSERT OR REPLACE INTO families VALUES (?,?,?,?)"),
          insert_live(db, "INSERT INTO live VALUES (?,?,?,?,?,?,?,?,?,?)"),
          update_live(
              db,
              "UPDATE live SET family=?2, state=?3, attempt=?4, wake_at=?5, bound_until=?6, "
              "header=?7, history=?8, outcome=?9 WHERE made=?1"),
          delete_live(db, "DELETE FROM live WHERE made=?"),
          insert_finished(db, "INSERT INTO finished VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"),
          delete_finished(db, "DELETE FROM finished WHERE number=?"),
          body(db, "INSERT OR REPLACE INTO bodies VALUES (?,?)"),
          delete_body(db, "DELETE FROM bodies WHERE made=?"),
          log(db, "INSERT OR REPLACE INTO logs VALUES (?,?,?,?,?)"),
          finish_logs(db, "INSERT OR REPLACE INTO finished_logs SELECT * FROM logs WHERE owner=?"),
          revive_logs(db, "INSERT OR REPLACE INTO logs SELECT * FROM finished_logs WHERE owner=?"),
          delete_logs(db, "DELETE FROM logs WHERE owner=?"),
          delete_finished_logs(db, "DELETE FROM finished_logs WHERE owner=?"),
          feed(db, "INSERT INTO feed VALUES (?,?,?,?)"),
          trim_feed(db,
                    "DELETE FROM feed WHERE first IN "
                    "(SELECT first FROM feed ORDER BY first LIMIT 10000) "
                    "AND at < ?1 AND first + count <= ?2"),
          binding(db, "INSERT OR REPLACE INTO bindings VALUES (?,?,?,?,?)"),
          trim_bindings(db, "DELETE FROM bindings WHERE expires_at <= ?"),
          trim_permits(db, "DELETE FROM permits WHERE expires_at > 0 AND expires_at <= ?"),
          unbind(db, "DELETE FROM bindings WHERE id = ?"),
          acquire(db, "INSERT OR REPLACE INTO permits VALUES (?,?,?,?)"),
          release(db, "DELETE FROM permits WHERE key=? AND holder=? AND epoch=?"),
          counter(db, "INSERT OR REPLACE INTO counters VALUES (?,?)"),
          count(db, "INSERT OR REPLACE INTO finished_counts VALUES (?,?,?)"),
          failure(db, "INSERT OR REPLACE INTO finished_failures VALUES (?,?,?)"),
          no_count(db, "DELETE FROM finished_counts WHERE family=? AND state=?"),
          no_failure(db, "DELETE FROM finished_failures WHERE fingerprint=? AND state=?"),
          meta(db, "INSERT OR REPLACE INTO meta VALUES (?,?)") {}

    Statement begin, commit, rollback, name, family, insert_live, update_live, delete_live,
        insert_finished, delete_finished, body, delete_body, log, finish_logs, revive_logs,
        delete_logs, delete_finished_logs, feed, trim_feed, binding, trim_bindings, trim_permits,
        unbind, acquire, release, counter, count, failure, no_count, no_failure, meta;
};

SqliteJournal::SqliteJournal(JournalOptions options) : options_(std::move(options)) {}
SqliteJournal::~SqliteJournal() = default;

Result<std::unique_ptr<SqliteJournal>> SqliteJournal::open(JournalOptions options) {
    std::unique_ptr<SqliteJournal> journal(new SqliteJournal(std::move(options)));
    TRY_VOID(journal->start());
    return journal;
}

Result<> SqliteJournal::start() {
    const auto failed = [&](const Trouble& trouble) {
        return std::unexpected(cannot_open(options_.path, trouble));
    };
    if (auto opened = database_.open(options_.path, Database::Mode::write, options_.vfs); !opened)
        return failed(opened.error());
    // A look at the file before anything is set: WAL mode is written into a foreign file, too, and a log that was
    // left behind goes into the file when the last connection closes.
    keep_log(true);
    const std::int64_t tables = database_.pragma("schema_version");
    const std::int64_t ours = database_.pragma("application_id");
    if (auto read = database_.outcome(); !read) return failed(read.error());
    if (tables != 0 && ours != kApplicationId)
        return refuse(
            Code::unavailable,
            options_.path +
                " is a database of another program; nothing was changed. Name another directory");
    TRY_VOID(refuse_newer());
    const std::string setup =
        std::string("PRAGMA journal_mode=WAL; PRAGMA synchronous=") +
        (options_.relaxed ? "NORMAL" : "FULL") +
        "; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192; PRAGMA journal_size_limit=" +
        std::to_string(kLargestWalBytes);
    if (auto set = database_.execute(setup); !set) return failed(set.error());
    sqlite3_wal_hook(
        database_.handle(),
        [](void* pages, sqlite3*, const char*, int count) {
            *static_cast<int*>(pages) = count;
            return SQLITE_OK;
        },
        &wal_pages_);
    TRY_VOID(prepare_schema());
    writing_ = std::make_unique<Writing>(database_);
    if (auto prepared = database_.outcome(); !prepared) return failed(prepared.error());
    reading_ = std::make_unique<Reading>();
    if (auto opened = reading_->open(options_.path, options_.vfs); !opened)
        return failed(opened.error());
    return {};
}

void SqliteJournal::keep_log(bool keep) {
    sqlite3_db_config(database_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
}

Result<> SqliteJournal::refuse_newer() {
    const std::int64_t version = database_.pragma("user_version");
    if (version <= kSchemaVersion) return {};
    return refuse(
        Code::unavailable,
        options_.path + " was written by a newer Holdfast (schema " + std::to_string(version) +
            ", this one knows " + std::to_string(kSchemaVersion) +
            "); nothing was changed. Install that version, or restore a backup made before it");
}

Result<> SqliteJournal::prepare_schema() {
    if (database_.pragma("user_version") == kSchemaVersion) return {};
    // Version 0 is a new file. A later schema adds its step here: from n to n + 1, all in one transaction.
    std::string script = "BEGIN IMMEDIATE;" + std::string(sql_text("schema"));
    for (std::size_t i = 0; i < domain::kStates; ++i)
        script += "INSERT INTO state_names VALUES (" + std::to_string(i) + ",'" +
                  std::string(domain::kStateNames[i]) + "');";
    for (std::size_t i = 0; i < domain::kKinds; ++i)
        script += "INSERT INTO kind_names VALUES (" + std::to_string(i) + ",'" +
                  std::string(domain::kKindNames[i]) + "');";
    script += "PRAGMA application_id=" + std::to_string(kApplicationId) +
              ";PRAGMA user_version=" + std::to_string(kSchemaVersion) + ";COMMIT;";
    if (auto made = database_.execute(script); !made)
        return std::unexpected(cannot_open(options_.path, made.error()));
    return {};
}

Tried<> SqliteJournal::append(const Group& group) {
    pass("before_write");
    Writing& w = *writing_;
    if (w.begin.run()) {
        write(group);
        if (auto written = database_.outcome(); !written) {
            if (sqlite3_get_autocommit(database_.handle()) == 0) w.rollback.run();
            database_.forgive();
            return written;
        }
        pass("before_sync");
        if (!w.commit.run() && sqlite3_get_autocommit(database_.handle()) == 0) {
            auto failed = database_.outcome();
            w.rollback.run();
            database_.forgive();
            return failed;
        }
    }
    auto done = database_.outcome();
    if (done) pass("after_sync");
    return done;
}

Tried<> SqliteJournal::tidy() {
    if (wal_pages_ < kCheckpointPages) return {};
    // Above the limit it waits for nobody either, but makes the file small again if no reader is in the way.
    const int mode =
        wal_pages_ < kLargestWalPages ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE;
    pass("before_checkpoint");
    sqlite3_busy_timeout(database_.handle(), 0);
    const int rc =
        sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, mode, &wal_pages_, nullptr);
    sqlite3_busy_timeout(database_.handle(), Database::kPatienceMs);
    if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_BUSY) database_.note(rc);
    return database_.outcome();
}

void SqliteJournal::write(const Group& g) {
    Writing& w = *writing_;
    for (const auto& n : g.names) w.name.bind(n.number).bind(std::string_view(n.text)).run();
    for (const FamilyRow& f : g.families)
        w.family.bind(f.number)
            .bind(static_cast<std::int64_t>(f.kind))
            .bind(std::string_view(f.queue))
            .bind(std::string_view(f.type))
            .run();
    for (const BodyRow& b : g.bodies) w.body.bind(b.made).bind_blob(b.body.view()).run();
    for (const std::uint64_t made : g.gone_live) w.delete_live.bind(made).run();
    for (const std::uint64_t number : g.gone_finished) w.delete_finished.bind(number).run();
    for (const std::uint64_t made : g.gone_bodies) w.delete_body.bind(made).run();
    for (const LiveRow& r : g.live) {
        Statement& s = r.fresh ? w.insert_live : w.update_live;
        s.bind(r.made);
        if (r.fresh) s.bind(r.id);
        s.bind(r.family)
            .bind(of(r.state))
            .bind(r.attempt)
            .bind(r.wake_at)
            .bind(r.bound_until)
            .bind_blob(r.header)
            .bind_blob(r.history)
            .bind_blob(r.outcome.view())
            .run();
    }
    for (const FinishedRow& r : g.finished)
        w.insert_finished.bind(r.number)
            .bind(r.made)
            .bind(r.id)
            .bind(r.family)
            .bind(of(r.state))
            .bind(r.attempt)
            .bind(r.tenant)
            .bind(r.fingerprint)
            .bind(r.finished_at)
            .bind(r.bound_until)
            .bind_blob(r.header)
            .bind_blob(r.history)
            .bind_blob(r.outcome.view())
            .run();
    for (const Uuid& owner : g.gone_logs) {
        w.delete_logs.bind(owner).run();
        w.delete_finished_logs.bind(owner).run();
    }
    for (const Uuid& owner : g.revived_logs) {
        w.revive_logs.bind(owner).run();
        w.delete_finished_logs.bind(owner).run();
    }
    for (const LogRow& l : g.logs)
        w.log.bind(l.owner)
            .bind(std::string_view(l.log))
            .bind(l.place)
            .bind(std::string_view(l.key))
            .bind_blob(l.bytes.view())
            .run();
    for (const FinishedRow& r : g.finished) {
        if (!r.has_logs) continue;
        w.finish_logs.bind(r.id).run();
        w.delete_logs.bind(r.id).run();
    }
    for (const FeedRow& f : g.feed)
        w.feed.bind(f.first).bind(f.count).bind(f.at).bind_blob(f.events).run();
    for (const BindingRow& b : g.bindings)
        w.binding.bind(b.expires_at)
            .bind(std::string_view(b.scope))
            .bind(std::string_view(b.key))
            .bind(b.id)
            .bind_blob({reinterpret_cast<const char*>(b.hash.data()), b.hash.size()})
            .run();
    for (const Uuid& id : g.unbound) w.unbind.bind(id).run();
    for (const PermitRow& p : g.permits) {
        Statement& s = p.release ? w.release : w.acquire;
        s.bind(std::string_view(p.key)).bind(p.holder).bind(static_cast<std::int64_t>(p.epoch));
        if (!p.release) s.bind(p.expires_at);
        s.run();
    }
    for (const auto& [name, value] : g.counters)
        w.counter.bind(std::string_view(name)).bind(value).run();
    const auto keep = [](const CountRow& c, Statement& some, Statement& none) {
        if (c.count == 0) {
            none.bind(c.what).bind(of(c.state)).run();
        } else {
            some.bind(c.what).bind(of(c.state)).bind(c.count).run();
        }
    };
    for (const CountRow& c : g.counts) keep(c, w.count, w.no_count);
    for (const CountRow& c : g.failures) keep(c, w.failure, w.no_failure);
    if (g.epoch_ceiling)
        w.meta.bind(std::string_view("epoch_ceiling")).bind(*g.epoch_ceiling).run();
    if (g.drift) w.meta.bind(std::string_view("drift")).bind(*g.drift).run();
    if (is_set(g.ended_before)) {
        w.trim_bindings.bind(g.ended_before).run();
        w.trim_permits.bind(g.ended_before).run();
    }
    if (is_set(g.feed_before)) {
        w.trim_feed.bind(g.feed_before).bind(g.feed_needed).run();
        w.meta.bind(std::string_view("feed_next")).bind(g.feed_next).run();
    }
}

Archive& SqliteJournal::archive() {
    return *reading_;
}

Result<> SqliteJournal::recover(Recovery& r) {
    std::string damaged;
    const auto rows = [&](const char* sql, auto&& visit) {
        for (Statement s(database_, sql); s.row();) visit(s);
    };
    const auto must = [&](bool good, std::string_view what, std::int64_t number) {
        if (!good && damaged.empty()) damaged = std::string(what) + std::to_string(number);
    };
    rows("SELECT number, text FROM names ORDER BY number", [&](Statement& s) {
        must(r.name(static_cast<Names::Number>(s.number(0)), s.text(1)), "name ", s.number(0));
    });
    rows("SELECT number, kind, queue, type FROM families ORDER BY number", [&](Statement& s) {
        must(r.family({static_cast<std::uint32_t>(s.number(0)),
                       static_cast<domain::Kind>(s.number(1)), std::string(s.text(2)),
                       std::string(s.text(3))}),
             "family ", s.number(0));
    });
    Recovery::Last last;
    Statement live(
        database_,
        "SELECT made, id, family, state, attempt, wake_at, bound_until, header, history, outcome "
        "FROM live ORDER BY made");
    while (damaged.empty() && live.row()) {
        last.made = static_cast<std::uint64_t>(live.number(0));
        const std::int64_t number = live.number(0);
        const bool good = r.live({.fresh = false,
                                  .made = last.made,
                                  .id = live.uuid(1),
                                  .family = static_cast<std::uint32_t>(live.number(2)),
                                  .state = static_cast<State>(live.number(3)),
                                  .attempt = static_cast<std::uint32_t>(live.number(4)),
                                  .wake_at = live.time(5),
                                  .bound_until = live.time(6),
                                  .header = std::string(live.blob(7)),
                                  .history = std::string(live.blob(8)),
                                  .outcome = Bytes(live.blob(9))});
        must(good, "live record ", number);
    }
    rows("SELECT owner, log, place, key FROM logs ORDER BY owner, log, place", [&](Statement& s) {
        r.log_key(s.uuid(0), s.text(1), static_cast<std::uint64_t>(s.number(2)), s.text(3));
    });
    rows("SELECT expires_at, scope, key, id, hash FROM bindings ORDER BY expires_at",
         [&](Statement& s) {
             BindingRow row{
                 std::string(s.text(1)), std::string(s.text(2)), s.uuid(3), {}, s.time(0)};
             const std::string_view hash = s.blob(4);
             std::copy_n(hash.begin(), std::min(hash.size(), row.hash.size()), row.hash.begin());
             r.binding(row);
         });
    rows("SELECT key, holder, epoch, expires_at FROM permits", [&](Statement& s) {
        r.permit({std::string(s.text(0)), s.uuid(1), domain::Epoch{s.number(2)}, s.time(3), false});
    });
    rows("SELECT name, value FROM counters",
         [&](Statement& s) { r.counter(s.text(0), s.number(1)); });
    const auto counted = [](Statement& s) {
        return CountRow{static_cast<std::uint64_t>(s.number(0)), static_cast<State>(s.number(1)),
                        s.number(2)};
    };
    rows("SELECT family, state, count FROM finished_counts",
         [&](Statement& s) { must(r.count(counted(s)), "count of family ", s.number(0)); });
    rows("SELECT fingerprint, state, count FROM finished_failures",
         [&](Statement& s) { must(r.failure(counted(s)), "count of failure ", s.number(0)); });
    rows("SELECT max(number) FROM finished",
         [&](Statement& s) { last.finished = static_cast<std::uint64_t>(s.number(0)); });
    rows("SELECT max(made) FROM bodies", [&](Statement& s) {
        last.made = std::max(last.made, static_cast<std::uint64_t>(s.number(0)));
    });
    for (std::size_t state = 0; state < domain::kStates; ++state) {  // by an index
        const std::string sql =
            "SELECT max(made) FROM finished WHERE state=" + std::to_string(state);
        rows(sql.c_str(), [&](Statement& s) {
            last.made = std::max(last.made, static_cast<std::uint64_t>(s.number(0)));
        });
    }
    rows("SELECT max(id) FROM finished", [&](Statement& s) { last.finished_id = s.uuid(0); });
    rows("SELECT first + count - 1 FROM feed ORDER BY first DESC LIMIT 1",
         [&](Statement& s) { last.feed = static_cast<std::uint64_t>(s.number(0)); });
    rows("SELECT name, value FROM meta", [&](Statement& s) {
        if (s.text(0) == "epoch_ceiling") last.epoch_ceiling = s.number(1);
        if (s.text(0) == "feed_next")
            last.feed = std::max(last.feed, static_cast<std::uint64_t>(s.number(1)) - 1);
        if (s.text(0) == "drift") last.drift = static_cast<std::uint64_t>(s.number(1));
    });
    if (auto read = database_.outcome(); !read)
        return std::unexpected(cannot_open(options_.path, read.error()));
    if (!damaged.empty())
        return std::unexpected(
            cannot_open(options_.path, {Trouble::Kind::corrupt, damaged + " makes no sense"}));
    keep_log(false);
    r.last(last);
    return {};
}

}  // namespace holdfast::stores::sqlite
