CREATE TABLE log (
    -- Who has changed the league with `referee league`.
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,                        -- in UTC
    user TEXT NOT NULL,                      -- of the operating system
    action TEXT NOT NULL                     -- as in the command line: pause alice
) STRICT;
