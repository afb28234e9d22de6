-- Schema 1 of the embedded store. Times are microseconds since 1970; ids are the 16 bytes of a UUID.
-- Read the views (tasks, finished_tasks, queues, …) rather than the tables: they show names and times.

CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- Names that many rows share.
CREATE TABLE names (number INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE families (number INTEGER PRIMARY KEY, kind INTEGER NOT NULL, queue TEXT NOT NULL, type TEXT NOT NULL);

-- Unfinished tasks and records of other kinds. `made` is the order of creation.
CREATE TABLE live (
    made INTEGER PRIMARY KEY,
    id BLOB NOT NULL,
    family INTEGER NOT NULL,
    state INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    wake_at INTEGER NOT NULL,
    bound_until INTEGER NOT NULL,
    header BLOB NOT NULL,
    history BLOB NOT NULL,
    outcome BLOB NOT NULL
);
-- What a record is to do: written once, read when it is claimed or looked at.
CREATE TABLE bodies (made INTEGER PRIMARY KEY, body BLOB NOT NULL);

-- Finished tasks, in the order in which they ended.
CREATE TABLE finished (
    number INTEGER PRIMARY KEY,
    made INTEGER NOT NULL,
    id BLOB NOT NULL,
    family INTEGER NOT NULL,
    state INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    tenant INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL,
    finished_at INTEGER NOT NULL,
    bound_until INTEGER NOT NULL,
    header BLOB NOT NULL,
    history BLOB NOT NULL,
    outcome BLOB NOT NULL
);
CREATE INDEX finished_by_id ON finished (id);
CREATE INDEX finished_by_state ON finished (state, made);
CREATE INDEX finished_by_family ON finished (family, state, made);
CREATE INDEX finished_by_tenant ON finished (tenant, state, made) WHERE tenant > 0;
CREATE INDEX finished_by_failure ON finished (fingerprint, state, made) WHERE fingerprint <> 0;
CREATE TABLE finished_counts (
    family INTEGER NOT NULL, state INTEGER NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (family, state)
) WITHOUT ROWID;
CREATE TABLE finished_failures (
    fingerprint INTEGER NOT NULL, state INTEGER NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, state)
) WITHOUT ROWID;

-- Checkpoints, signals, revisions, ledgers …: of what is unfinished, and of finished tasks.
CREATE TABLE logs (
    owner BLOB NOT NULL, log TEXT NOT NULL, place INTEGER NOT NULL, key TEXT NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (owner, log, place)
) WITHOUT ROWID;
CREATE TABLE finished_logs (
    owner BLOB NOT NULL, log TEXT NOT NULL, place INTEGER NOT NULL, key TEXT NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (owner, log, place)
) WITHOUT ROWID;

CREATE TABLE feed (first INTEGER PRIMARY KEY, count INTEGER NOT NULL, at INTEGER NOT NULL, events BLOB NOT NULL);
CREATE TABLE bindings (
    expires_at INTEGER NOT NULL, scope TEXT NOT NULL, key TEXT NOT NULL, id BLOB NOT NULL, hash BLOB NOT NULL,
    PRIMARY KEY (expires_at, scope, key)
) WITHOUT ROWID;
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE permits (
    key TEXT NOT NULL, holder BLOB NOT NULL, epoch INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    PRIMARY KEY (key, holder, epoch)
) WITHOUT ROWID;

-- For a person with sqlite3.
CREATE TABLE kind_names (kind INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE state_names (state INTEGER PRIMARY KEY, name TEXT NOT NULL);

CREATE VIEW tasks AS
SELECT lower(substr(hex(l.id), 1, 8) || '-' || substr(hex(l.id), 9, 4) || '-' || substr(hex(l.id), 13, 4) || '-' ||
             substr(hex(l.id), 17, 4) || '-' || substr(hex(l.id), 21)) AS id,
       s.name AS state, f.queue, f.type, l.attempt,
       strftime('%Y-%m-%dT%H:%M:%fZ', l.made / 1e6, 'unixepoch') AS created,
       CASE WHEN l.wake_at > 0 THEN strftime('%Y-%m-%dT%H:%M:%fZ', l.wake_at / 1e6, 'unixepoch') END AS wakes,
       CAST(b.body AS TEXT) AS body, CAST(l.outcome AS TEXT) AS outcome
FROM live l
JOIN families f ON f.number = l.family AND f.kind = 0
JOIN state_names s ON s.state = l.state
LEFT JOIN bodies b ON b.made = l.made;

CREATE VIEW finished_tasks AS
SELECT lower(substr(hex(t.id), 1, 8) || '-' || substr(hex(t.id), 9, 4) || '-' || substr(hex(t.id), 13, 4) || '-' ||
             substr(hex(t.id), 17, 4) || '-' || substr(hex(t.id), 21)) AS id,
       s.name AS state, f.queue, f.type, t.attempt,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.made / 1e6, 'unixepoch') AS created,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.finished_at / 1e6, 'unixepoch') AS finished,
       CAST(b.body AS TEXT) AS body, CAST(t.outcome AS TEXT) AS outcome
FROM finished t
JOIN families f ON f.number = t.family
JOIN state_names s ON s.state = t.state
LEFT JOIN bodies b ON b.made = t.made;

CREATE VIEW queues AS
SELECT f.queue, f.type, s.name AS state, n.count
FROM (SELECT family, state, count(*) AS count FROM live GROUP BY family, state
      UNION ALL SELECT family, state, count FROM finished_counts WHERE count > 0) n
JOIN families f ON f.number = n.family AND f.kind = 0
JOIN state_names s ON s.state = n.state
ORDER BY f.queue, f.type, n.state;
