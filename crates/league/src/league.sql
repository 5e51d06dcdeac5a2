-- A league. `referee serve` writes results; `referee league` writes bots and challenges, also while the league runs.
-- SQLite stores the comments inside of tables: `.schema` prints them.

CREATE TABLE league (
    -- `seed:LADDER` (the run seed of a ladder, hex, which determines all future dice), `seed-from:LADDER` (the number of
    -- the first match with this seed: a restored backup goes on with another one), `last:LADDER` (the last number of a
    -- match that began before the server was started), `erased:LADDER` (the number up to which private lines of records were
    -- erased by `[retention]`), `changes` (counts the changes of bots and owners), `organiser:NAME` (the SHA-256 of the token of an organiser, hex), `packed:LADDER` (the number up to which records were packed by `[retention]`), `paused` (1 if no match begins), `memory:LADDER` (exclusions and new versions of
    -- the day, JSON).
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE bots (
    -- Bots that connect with a token, and programs that the server starts.
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    skeleton TEXT NOT NULL,                  -- the name without case, separators and differences that are easily overlooked
    owner TEXT NOT NULL,                     -- bots of the same owner do not meet
    token BLOB,                              -- SHA-256 of the token of a bot that connects
    command TEXT,                            -- the command line of a program
    directory TEXT,                          -- its working directory
    anchor REAL,                             -- its fixed rating, in Elo
    ladders TEXT,                            -- JSON: the ladders that a program plays on; null: all
    is_of_file INTEGER NOT NULL,             -- 1 if the program is listed in the file of the league
    is_paused INTEGER NOT NULL DEFAULT 0,    -- bits: 1: by its owner; 2: by the organiser, so that only the organiser resumes it; 4: its owner is banned
    added_at TEXT NOT NULL,                  -- in UTC: 2026-11-22T18:30:05Z
    revoked_at TEXT,
    refused TEXT,                            -- why the server does not start the command; null: it does
    display_name TEXT,                       -- what people see instead of the name
    version INTEGER                          -- that of the submission whose program it is; null: it was not submitted
) STRICT;

CREATE INDEX bots_of_owner ON bots (owner);

CREATE TABLE players (
    -- A bot or a version of it on a ladder.
    ladder TEXT NOT NULL,
    id INTEGER NOT NULL,                     -- from 0 on each ladder
    name TEXT NOT NULL,                      -- NAME or NAME@VERSION
    joined_at TEXT NOT NULL,
    last_seen TEXT NOT NULL,
    PRIMARY KEY (ladder, id),
    UNIQUE (ladder, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE matches (
    -- Every match that ended. Lists by seat are JSON.
    ladder TEXT NOT NULL,
    number INTEGER NOT NULL,                 -- m17 is 17; the challenges c18 and r18 are 18
    players TEXT NOT NULL,                   -- by seat: the names of the players
    ranks TEXT,                              -- by seat; null without a result
    scores TEXT,                             -- by seat
    amounts TEXT,                            -- by seat; null in games without amounts
    opening INTEGER,                         -- a digest of the opening, and one of this and all moves after it by
    moves INTEGER,                           -- seat, by which copies are found; null in games with chance
    faults TEXT NOT NULL,                    -- by seat: code -> count
    totals TEXT,                             -- by seat: name -> sum of what the bot reported in `info`; null if nothing
    ended_by TEXT NOT NULL,                  -- as in `end`
    reason TEXT NOT NULL,                    -- as in `end`
    is_challenge INTEGER NOT NULL,           -- 1: a challenge (c18); 2: a rated one (r18)
    deal INTEGER,                            -- the number of the first match of its mirrored set; null: it is the first one
    is_rated INTEGER NOT NULL,               -- 0 for c18, and if a bot never said `hello`
    decisions INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,
    record TEXT,                             -- its file
    seal TEXT,                               -- SHA-256 of that file without its last line, as in its seal
    ended_at TEXT NOT NULL,
    worker TEXT,                             -- the worker that played it; null: the server
    is_void INTEGER NOT NULL DEFAULT 0,      -- 1: it was taken back (`referee worker void`), and is not rated
    season INTEGER NOT NULL,                 -- that in which its result was stored
    PRIMARY KEY (ladder, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX matches_of_season ON matches (ladder, season);

CREATE TABLE seasons (
    -- The seasons that have ended. The one in progress has the next number.
    number INTEGER PRIMARY KEY,              -- from 1
    name TEXT NOT NULL UNIQUE,
    ended_at TEXT NOT NULL,                  -- in UTC
    keeps_ratings INTEGER NOT NULL,          -- 1: players have started the next one from their ratings
    ended_by TEXT NOT NULL                   -- the user of the operating system
) STRICT;

CREATE TABLE final_standings (
    -- The standings of a ladder at the end of a season.
    season INTEGER NOT NULL,                 -- its number
    ladder TEXT NOT NULL,
    standings TEXT NOT NULL,                 -- JSON, as `referee league standings --season NAME --json` prints them
    PRIMARY KEY (season, ladder)
) STRICT, WITHOUT ROWID;

CREATE TABLE seats (
    -- The seats of all matches by bot, so that its last matches are found however many there are.
    ladder TEXT NOT NULL,
    bot TEXT NOT NULL,                       -- the player without its version
    number INTEGER NOT NULL,                 -- of the match
    seat INTEGER NOT NULL,
    player TEXT NOT NULL,
    is_faulted INTEGER NOT NULL,             -- 1 if the player made a fault
    PRIMARY KEY (ladder, bot, number, seat)
) STRICT, WITHOUT ROWID;

CREATE INDEX faulted_seats ON seats (ladder, bot, number) WHERE is_faulted = 1;

CREATE TABLE packs (
    -- The packs of records: the file ladders/LADDER/records/matches-1-1000.zip has those of the matches 1 to 1000.
    ladder TEXT NOT NULL,
    first INTEGER NOT NULL,                  -- the number of its first match
    sent_at TEXT,                            -- null: `[retention] send` has not succeeded since the pack was written
    PRIMARY KEY (ladder, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE ratings (
    -- The ratings of players over time: at the first matches, then every ten minutes in which there were new results.
    ladder TEXT NOT NULL,
    player TEXT NOT NULL,
    at TEXT NOT NULL,
    value REAL NOT NULL,                     -- Elo
    low REAL NOT NULL,                       -- its 95% interval
    high REAL NOT NULL,
    matches INTEGER NOT NULL,                -- rated matches so far
    is_provisional INTEGER NOT NULL,         -- 1: it came after those of which more was known
    PRIMARY KEY (ladder, player, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE challenges (
    -- Matches that were asked for and have not ended.
    id INTEGER PRIMARY KEY AUTOINCREMENT,    -- never used again: who reads later ones misses none
    ladder TEXT NOT NULL,
    players TEXT NOT NULL,                   -- JSON
    asked_by TEXT,                           -- the id of the owner; null: the organiser
    asked_at TEXT NOT NULL
) STRICT;

CREATE TABLE log (
    -- Who has changed the league with `referee league`.
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,                        -- in UTC
    user TEXT NOT NULL,                      -- of the operating system
    action TEXT NOT NULL                     -- as in the command line: pause alice
) STRICT;

CREATE TABLE owners (
    -- People and teams who have signed up. `bots.owner` may name others, for whom the organiser acts.
    id TEXT PRIMARY KEY,                     -- as in `bots.owner`
    display_name TEXT,                       -- what people see instead of the id
    affiliation TEXT,
    contact TEXT,                            -- for the organiser only
    state TEXT NOT NULL,                     -- waiting (for the approval of the organiser), active, banned, left
    token BLOB UNIQUE,                       -- SHA-256 of the token
    token_at TEXT,                           -- when it was made
    former_token BLOB UNIQUE,                -- SHA-256 of the token before it, for bots that connect
    former_until TEXT,                       -- until when they may
    network TEXT,                            -- from which the owner signed up, for the limit of a day; empty once it has left;
                                             -- null: with an invitation, or added by the organiser
    joined_at TEXT NOT NULL,
    left_at TEXT
) STRICT;

CREATE TABLE owner_tokens (
    -- Further tokens of owners, such as those of the members of a team.
    owner TEXT NOT NULL,
    name TEXT NOT NULL,                      -- whose it is
    hash TEXT NOT NULL UNIQUE,               -- SHA-256 of the token, hex
    made_at TEXT NOT NULL,                   -- in UTC
    PRIMARY KEY (owner, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE invitations (
    -- Links that admit owners.
    id INTEGER PRIMARY KEY,
    secret BLOB NOT NULL UNIQUE,             -- SHA-256 of the secret in the link
    owner TEXT,                              -- the id that the owner gets; null: any
    display_name TEXT,                       -- what the owner is called, unless it says something else when it signs up
    affiliation TEXT,                        -- the same
    contact TEXT,                            -- the same
    uses INTEGER NOT NULL,                   -- how many owners it admits
    used INTEGER NOT NULL DEFAULT 0,
    expires_at TEXT NOT NULL,
    made_at TEXT NOT NULL,
    made_by TEXT NOT NULL                    -- the user of the operating system
) STRICT;

CREATE TABLE submissions (
    -- Programs that owners have handed in. Their files are in the directory `submissions`.
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,                     -- as in `bots.owner`
    bot TEXT,                                -- the name in its bot.toml, once that has been read
    version INTEGER,                         -- 1, 2, 3, ... of the submissions of this bot; the player is BOT@VERSION
    language TEXT,                           -- as in bot.toml
    command TEXT,                            -- as in bot.toml
    archive TEXT NOT NULL,                   -- SHA-256 of the archive, hex
    size INTEGER NOT NULL,                   -- its size in bytes
    built TEXT,                              -- SHA-256 of the archive of what was built, hex
    ladders TEXT NOT NULL DEFAULT '[]',      -- JSON: the ladders whose check it has passed
    state TEXT NOT NULL,                     -- received, building, checking, waiting (for approval), playing, retired, failed
    is_approved INTEGER NOT NULL DEFAULT 0,  -- 1: its bot takes part once it has passed
    attempts INTEGER NOT NULL DEFAULT 0,     -- how often the server has begun to build it
    log TEXT NOT NULL DEFAULT '',            -- what the build and the check have reported
    received_at TEXT NOT NULL,               -- in UTC
    changed_at TEXT NOT NULL                 -- when its state changed last
) STRICT;

CREATE INDEX submissions_of_owner ON submissions (owner);

-- A server reads bots and owners again only if they have changed: there may be many, most of which take part no longer.
CREATE TRIGGER bots_insert AFTER INSERT ON bots BEGIN
    INSERT INTO league VALUES ('changes', '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1;
END;
CREATE TRIGGER bots_update AFTER UPDATE ON bots BEGIN
    INSERT INTO league VALUES ('changes', '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1;
END;
CREATE TRIGGER bots_delete AFTER DELETE ON bots BEGIN
    INSERT INTO league VALUES ('changes', '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1;
END;
CREATE TRIGGER owners_insert AFTER INSERT ON owners BEGIN
    INSERT INTO league VALUES ('changes', '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1;
END;
CREATE TRIGGER owners_update AFTER UPDATE ON owners BEGIN
    INSERT INTO league VALUES ('changes', '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1;
END;
CREATE TRIGGER owners_delete AFTER DELETE ON owners BEGIN
    INSERT INTO league VALUES ('changes', '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1;
END;
