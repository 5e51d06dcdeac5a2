-- The results of a tournament. One process writes; any number may read at the same time. What stands inside of a table
-- is kept by SQLite: `.schema` shows it.

CREATE TABLE tournament (
    -- What the tournament is: keys `name`, `game`, `rules` (version), `seats`, `sides`, `config` (TOML), `openings`
    -- (SHA-256 of their file, where there is one), `seed` (the run seed, hex: whoever knows it knows all dice to come),
    -- `referee`, `absent` (JSON: the names of bots that are not connected, for as long as the tournament is played), `asked`
    -- (JSON: changes that the process is asked for that plays it).
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE entrants (
    -- Who takes part, in the order of the seeds.
    id INTEGER PRIMARY KEY,                  -- from 0
    name TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,                    -- the command line, or tcp:NAME
    files TEXT NOT NULL,                     -- JSON: path -> SHA-256 of its program and scripts
    joins INTEGER NOT NULL,                  -- the first round in which it is paired, 1 from the beginning; but for a Swiss
                                             -- tournament or a knockout the number of the change, from 2
    leaves INTEGER,                          -- the first round in which it is no longer paired, or the number of the change
    interruptions INTEGER NOT NULL DEFAULT 0 -- attempts at its matches that were cut off, aborted or void
) STRICT;

CREATE TABLE matches (
    -- Every attempt at a match. It has a result where `ranks` is not null, and then there is no other attempt with one.
    -- Lists by seat are JSON: json_each(lineup) has one row a seat.
    number INTEGER NOT NULL,                 -- m17 is 17
    attempt INTEGER NOT NULL,                -- m17.2 is 2
    "set" INTEGER NOT NULL,                  -- s9 is 9
    lineup TEXT NOT NULL,                    -- JSON, by seat: entrants.id
    ranks TEXT,                              -- JSON, by seat
    faulted INTEGER NOT NULL,                -- bit s: seat s made a fault
    forfeited INTEGER NOT NULL,              -- bit s: seat s, or its partner, lost by a fault
    ended_by TEXT NOT NULL,                  -- as in `end`; `cut_off` where the run was interrupted; `void` where the match
                                             -- does not count: it is not played again, or the results that it followed
                                             -- from were lost
    reason TEXT NOT NULL,                    -- as in `end`; where it is played again at once, or void, the cause:
                                             -- `paused`, `no_bots` or `no_opening`
    PRIMARY KEY (number, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE details (
    -- More of the matches that came to their end or were aborted.
    number INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    scores TEXT,                             -- JSON, by seat
    faults TEXT NOT NULL,                    -- JSON, by seat: code -> count
    decisions INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,
    lag_ms INTEGER NOT NULL,
    cpu_ms TEXT NOT NULL,                    -- JSON, by seat
    record TEXT,                             -- its file in `records`
    seal TEXT,                               -- SHA-256 of that file before its last line: what its seal says
    began_at TEXT,                           -- when it began, in UTC: 2026-11-22T18:30:05Z
    PRIMARY KEY (number, attempt)
) STRICT, WITHOUT ROWID;
