-- The results of a tournament. One process writes; any number may read concurrently. SQLite stores the comments inside
-- of tables: `.schema` prints them.

CREATE TABLE tournament (
    -- The description of the tournament: keys `name`, `game`, `rules` (version), `program` (JSON: the rules, if they are a
    -- program, as in records), `seats`, `sides`, `config` (TOML), `openings` (SHA-256 of their file, if there is one), `seed` (the run seed, hex, which determines all future dice), `referee`,
    -- `absent` (JSON: the names of bots that are not connected, valid while the tournament is played),
    -- `voided_workers` (JSON: the workers whose matches were taken back).
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE entrants (
    -- The entrants, in the order of the seeds.
    id INTEGER PRIMARY KEY,                  -- from 0
    name TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,                    -- the command line, or tcp:NAME
    files TEXT NOT NULL,                     -- JSON: path -> SHA-256 of its program and scripts
    joins INTEGER NOT NULL,                  -- the first round in which it is paired, 1 from the start; in formats without
                                             -- rounds the number of the change, from 2
    leaves INTEGER,                          -- the first round in which it is no longer paired, or the number of the change
    interruptions INTEGER NOT NULL DEFAULT 0, -- attempts at its matches that were cut off, aborted or void
    missed TEXT NOT NULL DEFAULT '[]',       -- JSON: rounds between a withdrawal and a return, as [first missed, first paired]
    display_name TEXT                        -- what people see instead of the name
) STRICT;

CREATE TABLE matches (
    -- Every attempt at a match. The attempt with a result has `ranks`; a match has several only if rulings had it replayed. Lists by seat are
    -- JSON: json_each(lineup) has one row per seat.
    number INTEGER NOT NULL,                 -- m17 is 17
    attempt INTEGER NOT NULL,                -- m17.2 is 2
    "set" INTEGER NOT NULL,                  -- s9 is 9
    lineup TEXT NOT NULL,                    -- JSON, by seat: entrants.id
    ranks TEXT,                              -- JSON, by seat
    faulted INTEGER NOT NULL,                -- bit s: seat s made a fault
    forfeited INTEGER NOT NULL,              -- bit s: seat s, or its partner, lost by a fault
    ended_by TEXT NOT NULL,                  -- as in `end`; `cut_off` if the run was interrupted; `void` if the match does
                                             -- not count: it is not replayed, results that it depended on were lost, or
                                             -- those of its worker were taken back
    reason TEXT NOT NULL,                    -- as in `end`; if it is replayed immediately, or void, the cause: `paused`,
                                             -- `no_bots`, `no_opening`, `rules_failed` or `unavailable`
    opening INTEGER,                         -- a digest of the position after the opening, and one of this and all later moves
    moves INTEGER,                           -- by seat, where matches can share openings; null in games with chance
    amounts TEXT,                            -- JSON, by seat; null in games without amounts
    PRIMARY KEY (number, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE details (
    -- Details of matches that ended or were aborted.
    number INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    scores TEXT,                             -- JSON, by seat
    faults TEXT NOT NULL,                    -- JSON, by seat: code -> count
    decisions INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,
    lag_ms INTEGER NOT NULL,
    cpu_ms TEXT NOT NULL,                    -- JSON, by seat
    record TEXT,                             -- its file in `records`
    seal TEXT,                               -- SHA-256 of that file without its last line, as in its seal
    began_at TEXT,                           -- when it began, in UTC: 2026-11-22T18:30:05Z
    worker TEXT,                             -- the worker that played it; null: the process of the tournament
    totals TEXT,                             -- JSON, by seat: name -> sum of what the bot reported in `info`; null if nothing
    PRIMARY KEY (number, attempt)
) STRICT, WITHOUT ROWID;
