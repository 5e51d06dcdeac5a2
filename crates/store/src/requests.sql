CREATE TABLE requests (
    -- Changes that other processes request from the one that plays, until it takes them up.
    id INTEGER PRIMARY KEY,                  -- in the order in which they were made
    request TEXT NOT NULL                    -- JSON
) STRICT;
