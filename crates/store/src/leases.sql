-- The sets of a run that workers have, and the workers. One process writes; any number may read concurrently. The results of
-- the run are the truth: this file may be deleted while no process plays the run.

CREATE TABLE run (
    -- Keys: `id` (32 hex digits, random).
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE sets (
    -- Attempts at sets, until the set has an outcome that counts.
    "set" INTEGER NOT NULL,                  -- s17 is 17
    attempt INTEGER NOT NULL,                -- s17.2 is 2
    state TEXT NOT NULL,                     -- `queued`; `out`: a worker has it; `replaced`: a later attempt is queued or out;
                                             -- `given_up`
    deliveries INTEGER NOT NULL DEFAULT 0,   -- how often a worker received it
    worker TEXT,                             -- the last one
    moved_at INTEGER NOT NULL,               -- when it was queued, received or last made progress: seconds since 1970
    unit TEXT NOT NULL,                      -- JSON, with the seeds of its matches
    PRIMARY KEY ("set", attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE workers (
    -- The machines that have connected.
    name TEXT PRIMARY KEY,
    machine TEXT NOT NULL,                   -- JSON: what it says about itself
    state TEXT NOT NULL DEFAULT 'active',    -- `active`, `drained` or `aside`
    reason TEXT,                             -- why it was put aside
    is_connected INTEGER NOT NULL,
    joined_at INTEGER NOT NULL,              -- when it first connected: seconds since 1970
    seen_at INTEGER NOT NULL,                -- when something of it last changed
    sets INTEGER NOT NULL DEFAULT 0,         -- outcomes that count
    matches INTEGER NOT NULL DEFAULT 0,      -- their matches
    faults INTEGER NOT NULL DEFAULT 0,       -- matches of these in which a bot made a fault
    lost INTEGER NOT NULL DEFAULT 0,         -- sets that it received and did not play
    duplicates INTEGER NOT NULL DEFAULT 0,   -- outcomes of sets that had one already
    refused INTEGER NOT NULL DEFAULT 0       -- outcomes that differ from what their unit asks for
) STRICT, WITHOUT ROWID;
