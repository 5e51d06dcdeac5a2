CREATE TABLE rulings (
    -- Decisions of the organiser, which replace results. The results themselves stay as they were played.
    id INTEGER PRIMARY KEY,                  -- from 1, in the order in which they were made
    at TEXT NOT NULL,                        -- in UTC: 2026-11-22T18:30:05Z
    user TEXT NOT NULL,                      -- of the operating system
    act TEXT NOT NULL,                       -- `void`, `award`, `replay`, `disqualify` or `rename`
    ladder TEXT,                             -- of a league; null: all ladders
    matches TEXT NOT NULL,                   -- JSON: [{"number":17,"attempt":1,"winner":"bob","kind":"pairing"}]; `attempt` is the last
                                             -- one before a replay, `kind` as in ids of a league, `winner` is null for a draw and for a match that does not count
    name TEXT,                               -- the entrant or bot that is disqualified or renamed
    is_from_start INTEGER NOT NULL,          -- 1: all results of a disqualified entrant are annulled
    display TEXT,                            -- JSON: [before, after], the display names of a renamed one
    since INTEGER NOT NULL,                  -- the round of a tournament that was paired next; later rounds follow the ruling
    until INTEGER,                           -- the same when it was undone
    reason TEXT NOT NULL,
    is_public INTEGER NOT NULL,              -- 1: pages and reports show the reason
    undone_at TEXT,
    undone_by TEXT,
    undone_for TEXT                          -- the reason
) STRICT;
