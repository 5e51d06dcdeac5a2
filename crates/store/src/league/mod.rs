//! The database of a league, in SQLite. `league.sql` and `log.sql` document the tables.

mod history;
mod log;
mod owners;
mod retention;
mod submissions;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use history::RatingPoint;
pub use log::LeagueChange;
pub use owners::{Invitation, InvitationError, LeagueOwner, OwnerError, OwnerState, OwnerToken};
pub use submissions::{Submission, SubmissionError, SubmissionQuota, SubmissionState, SubmittedBot};

use referee_files::{Folder, keep_private};
use referee_game::name;

use crate::database::database_files;
use crate::results::prepare;
use crate::rows::json;
use crate::rulings::{RulingRow, UndoneRuling, insert_ruling, read_rulings, undo_ruling};

/// The page cache of a connection in KiB. A server has several connections for months, and mostly appends.
const CACHE: i64 = 256;
/// The schema version: `PRAGMA user_version`.
const VERSION: i64 = 7;
/// The file name in the directory of the league.
const NAME: &str = "league.sqlite";

/// The database of a league. Several processes may use it concurrently.
#[derive(Debug)]
pub struct League {
    db: Connection,
}

/// A bot of a league.
#[derive(Clone, Debug, PartialEq)]
pub struct LeagueBot {
    /// Its name, without a version.
    pub name: String,
    /// Bots of the same owner do not meet.
    pub owner: String,
    /// SHA-256 of its token, if it connects.
    pub token: Option<[u8; 32]>,
    /// Its command line, if the server starts it.
    pub command: Option<String>,
    /// The working directory of the command.
    pub directory: Option<PathBuf>,
    /// Its fixed rating, in Elo.
    pub anchor: Option<f64>,
    /// The ladders that a program plays on; `None`: all.
    pub ladders: Option<BTreeSet<String>>,
    /// Whether the file of the league lists it.
    pub is_of_file: bool,
    /// Whether it is not paired for the time being.
    pub is_paused: bool,
    /// When it was added, in UTC.
    pub added_at: String,
    /// Since when it does not take part any more.
    pub revoked_at: Option<String>,
    /// Why the server does not start its command.
    pub refused: Option<String>,
    /// What people see instead of its name.
    pub display_name: Option<String>,
    /// The version of the submission whose program it is; its directory is then relative to that of the league.
    pub version: Option<u32>,
}

/// A player of a ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaguePlayer {
    /// `NAME` or `NAME@VERSION`.
    pub name: String,
    /// When it first connected, in UTC.
    pub joined_at: String,
    /// When its last match ended, or when it joined.
    pub last_seen: String,
}

/// A match of a ladder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeagueMatch {
    /// m17 is 17.
    #[serde(skip)]
    pub number: u32,
    /// The names of the players by seat.
    pub players: Vec<String>,
    /// By seat; `None` without a result.
    pub ranks: Option<Vec<u8>>,
    /// By seat; `None` without a result.
    pub scores: Option<Vec<f64>>,
    /// By seat: code -> count.
    pub faults: Vec<BTreeMap<String, u32>>,
    /// As in `end`.
    pub ended_by: String,
    /// As in `end`.
    pub reason: String,
    /// Whether it counts for ratings.
    #[serde(rename = "rated")]
    pub is_rated: bool,
    /// Whether it was requested with `referee league challenge`.
    #[serde(rename = "challenge", serialize_with = "is_challenge")]
    pub kind: MatchKind,
    /// The number of the first match of its mirrored set, if it is the second one: it plays the same deal.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "deal")]
    pub deal: Option<u32>,
    /// The number of moves.
    pub decisions: u32,
    /// From opening to end, in microseconds.
    pub duration_us: u64,
    /// Its record, a file name.
    pub record: Option<String>,
    /// SHA-256 of the record without its seal, in hex.
    pub seal: Option<String>,
    /// When it ended, in UTC.
    pub ended_at: String,
    /// The worker that played it; omitted if the server did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Whether it was taken back; omitted if false.
    #[serde(rename = "void", skip_serializing_if = "std::ops::Not::not")]
    pub is_void: bool,
}

impl LeagueMatch {
    /// Whether ratings take it into account.
    pub fn counts(&self) -> bool {
        self.is_rated && !self.is_void
    }

    /// The match id.
    pub fn id(&self) -> String {
        match_id(self.number, self.kind)
    }
}

/// Why a match is played. The database has the number of the variant, the id of the match its letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    /// The ladder paired the players. Matches of tournaments are of this kind.
    #[default]
    Pairing = 0,
    /// A challenge, which is not rated.
    Challenge = 1,
    /// A challenge on a ladder where challenges are rated.
    RatedChallenge = 2,
}

impl MatchKind {
    const ALL: [MatchKind; 3] = [MatchKind::Pairing, MatchKind::Challenge, MatchKind::RatedChallenge];

    fn letter(self) -> char {
        match self {
            MatchKind::Pairing => 'm',
            MatchKind::Challenge => 'c',
            MatchKind::RatedChallenge => 'r',
        }
    }

    /// Whether it was requested with `referee league challenge`.
    pub fn is_challenge(self) -> bool {
        self != MatchKind::Pairing
    }

    /// Whether such matches count for ratings.
    pub fn is_rated(self) -> bool {
        self != MatchKind::Challenge
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_challenge<S: serde::Serializer>(kind: &MatchKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(kind.is_challenge())
}

fn deal<S: serde::Serializer>(deal: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
    deal.map(|number| match_id(number, MatchKind::Pairing)).serialize(serializer)
}

/// The id of a match: m17; c17 or, if it is rated, r17 for a challenge.
pub fn match_id(number: u32, kind: MatchKind) -> String {
    format!("{}{number}", kind.letter())
}

/// The number in a match id, and the kind of the match.
pub fn parse_match_id(id: &str) -> Option<(u32, MatchKind)> {
    let kind = MatchKind::ALL.into_iter().find(|kind| id.starts_with(kind.letter()))?;
    let number = id[1..].parse().ok().filter(|&number| number > 0)?;
    (match_id(number, kind) == id).then_some((number, kind))
}

/// A match that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// Its number in the database.
    pub id: i64,
    /// The names of the players, in no order of seats.
    pub players: Vec<String>,
}

fn failed(error: rusqlite::Error) -> io::Error {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, DiskFull};
    let kind = match error.sqlite_error_code() {
        Some(DiskFull) => io::ErrorKind::StorageFull,
        Some(DatabaseBusy | DatabaseLocked) => io::ErrorKind::ResourceBusy,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, format!("league: {error}"))
}

/// A time as text, in UTC and whole seconds.
pub fn utc(at: SystemTime) -> String {
    humantime::format_rfc3339_seconds(at.max(SystemTime::UNIX_EPOCH)).to_string()
}

impl League {
    /// Opens the database in the directory of a league; creates it if it is missing.
    ///
    /// # Errors
    /// If it has an unknown version, or on I/O errors.
    pub fn open(folder: &Folder) -> io::Result<League> {
        if !folder.has_file(NAME)? {
            // It contains seeds: other users must not read it.
            drop(folder.create(NAME)?);
        }
        keep_private(folder.path());
        // New files of SQLite have the mode of the database; those that are there may be of a restored copy.
        folder.make_private(&database_files(NAME))?;
        League::at(&folder.path().join(NAME))
    }

    /// Opens a database.
    fn at(path: &Path) -> io::Result<League> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut db = Connection::open_with_flags(path, flags).map_err(failed)?;
        prepare(&db).map_err(failed)?;
        // Negative: in KiB.
        db.pragma_update(None, "cache_size", -CACHE).map_err(failed)?;
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let version: i64 =
            transaction.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
        match version {
            0 => {
                transaction.execute_batch(include_str!("league.sql")).map_err(failed)?;
                transaction.execute_batch(include_str!("../rulings.sql")).map_err(failed)?;
                transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
            }
            VERSION => {}
            other => {
                return Err(io::Error::other(format!(
                    "{}: version {other}, but this program supports {VERSION}",
                    path.display()
                )));
            }
        }
        transaction.commit().map_err(failed)?;
        Ok(League { db })
    }

    fn change<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> io::Result<T> {
        let transaction =
            self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let result = work(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(result)
    }

    /// Changes whenever another connection has written to the database.
    ///
    /// # Errors
    /// Those of the database.
    pub fn data_version(&self) -> io::Result<i64> {
        self.db.query_row("PRAGMA data_version", [], |row| row.get(0)).map_err(failed)
    }

    /// A value of the table `league`.
    ///
    /// # Errors
    /// Those of the database.
    pub fn value(&self, key: &str) -> io::Result<Option<String>> {
        let sql = "SELECT value FROM league WHERE key = ?1";
        self.db.query_row(sql, [key], |row| row.get(0)).optional().map_err(failed)
    }

    /// A number of the table `league`.
    ///
    /// # Errors
    /// Those of the database, or if the value is not a number.
    pub fn number(&self, key: &str) -> io::Result<Option<u32>> {
        let number = |text: String| {
            let wrong = |_| io::Error::other(format!("league: `{key}` is `{text}`, expected a number"));
            text.parse().map_err(wrong)
        };
        self.value(key)?.map(number).transpose()
    }

    /// Stores a value in the table `league`.
    ///
    /// # Errors
    /// Those of the database.
    pub fn set_value(&mut self, key: &str, value: &str) -> io::Result<()> {
        self.change(|db| db.execute("INSERT OR REPLACE INTO league VALUES (?1, ?2)", [key, value])).map(drop)
    }

    /// All bots, including those that do not take part any more, in the order in which they were added.
    ///
    /// # Errors
    /// Those of the database.
    pub fn bots(&self) -> io::Result<Vec<LeagueBot>> {
        read_bots(&self.db).map_err(failed)
    }

    /// Adds a bot, or replaces the one with this name.
    ///
    /// # Errors
    /// If another bot has a name that looks alike: `AlreadyExists` with its name; or I/O errors.
    pub fn put_bot(&mut self, bot: &LeagueBot) -> io::Result<()> {
        let other = self.change(|db| {
            let other = insert_bot(db, bot)?;
            if other.is_none() {
                submissions::follow_bot(db, bot)?;
            }
            Ok(other)
        })?;
        match other {
            None => Ok(()),
            Some(other) => Err(io::Error::new(io::ErrorKind::AlreadyExists, other)),
        }
    }

    /// Stores why the server does not start this command of a bot, or that it does.
    ///
    /// # Errors
    /// Those of the database.
    pub fn set_refused(&mut self, name: &str, command: &str, why: Option<&str>) -> io::Result<()> {
        let sql = "UPDATE bots SET refused = ?3 WHERE name = ?1 AND command = ?2";
        self.change(|db| db.execute(sql, params![name, command, why])).map(drop)
    }

    /// The players of a ladder, by their ids.
    ///
    /// # Errors
    /// Those of the database.
    pub fn players(&self, ladder: &str) -> io::Result<Vec<LeaguePlayer>> {
        let sql = "SELECT name, joined_at, last_seen FROM players WHERE ladder = ?1 ORDER BY id";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map([ladder], |row| {
            Ok(LeaguePlayer { name: row.get(0)?, joined_at: row.get(1)?, last_seen: row.get(2)? })
        });
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// Adds results of a ladder, with their players if they are new. All or nothing, and on the disk when it returns.
    ///
    /// # Errors
    /// If a match is stored already, or I/O errors.
    pub fn add_matches(&mut self, ladder: &str, matches: &[LeagueMatch]) -> io::Result<()> {
        self.change(|db| {
            for row in matches {
                insert_match(db, ladder, row)?;
            }
            Ok(())
        })
    }

    /// Takes back the matches that a worker has played. Returns their ladders and ids.
    ///
    /// # Errors
    /// Those of the database.
    pub fn void_matches_of(&mut self, worker: &str) -> io::Result<Vec<(String, String)>> {
        let sql = "UPDATE matches SET is_void = 1 WHERE worker = ?1 AND is_void = 0 RETURNING ladder, number, is_challenge";
        self.change(|db| {
            let mut query = db.prepare(sql)?;
            let rows = query
                .query_map([worker], |row| Ok((row.get(0)?, match_id(row.get(1)?, read_kind(row, 2)?))))?;
            rows.collect()
        })
    }

    /// The numbers of the matches of a ladder that were taken back.
    ///
    /// # Errors
    /// Those of the database.
    pub fn voided(&self, ladder: &str) -> io::Result<BTreeSet<u32>> {
        let sql = "SELECT number FROM matches WHERE ladder = ?1 AND is_void = 1";
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let numbers = query.query_map([ladder], |row| row.get(0)).map_err(failed)?;
        numbers.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Passes the matches of a ladder to `each`, in order.
    ///
    /// # Errors
    /// If a row is invalid, and those of `each`.
    pub fn for_each_match<E: From<io::Error>>(
        &self,
        ladder: &str,
        mut each: impl FnMut(LeagueMatch) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = format!("SELECT {COLUMNS} FROM matches WHERE ladder = ?1 ORDER BY number");
        let mut query = self.db.prepare(&sql).map_err(failed)?;
        let mut rows = query.query([ladder]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            each(read_match(row).map_err(failed)?)?;
        }
        Ok(())
    }

    /// The last matches of a ladder, the newest first; with a player, only its own: a name without a version stands for
    /// all versions.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn last_matches(
        &self,
        ladder: &str,
        player: Option<&str>,
        limit: usize,
    ) -> io::Result<Vec<LeagueMatch>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM matches WHERE ladder = ?1 AND (?2 IS NULL OR EXISTS (SELECT 1 FROM \
             json_each(players) WHERE value = ?2 OR substr(value, 1, length(?2) + 1) = ?2 || '@')) \
             ORDER BY number DESC LIMIT ?3"
        );
        let mut query = self.db.prepare(&sql).map_err(failed)?;
        let rows = query.query_map(params![ladder, player, limit as i64], read_match).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The last matches of these bots on a ladder with a number below `before`, the newest first; with `is_faulted` only those
    /// in which they made a fault. It looks at the last 100,000 matches at most.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn matches_of(
        &self,
        ladder: &str,
        bots: &[String],
        is_faulted: bool,
        before: u32,
        limit: u32,
    ) -> io::Result<Vec<LeagueMatch>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM matches WHERE ladder = ?1 AND number < ?3 \
             AND number > (SELECT min(?3, max(number)) FROM matches WHERE ladder = ?1) - 100000 \
             AND EXISTS (SELECT 1 FROM json_each(players) AS player JOIN json_each(?2) AS bot \
             ON player.value = bot.value OR substr(player.value, 1, length(bot.value) + 1) = bot.value || '@' \
             WHERE NOT ?4 OR json_extract(faults, '$[' || player.key || ']') <> '{{}}') ORDER BY number DESC LIMIT ?5"
        );
        let mut query = self.db.prepare_cached(&sql).map_err(failed)?;
        let rows = query
            .query_map(params![ladder, json(&bots), before, is_faulted, limit], read_match)
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// A match of a ladder.
    ///
    /// # Errors
    /// If the row is invalid.
    pub fn find_match(&self, ladder: &str, number: u32) -> io::Result<Option<LeagueMatch>> {
        let sql = format!("SELECT {COLUMNS} FROM matches WHERE ladder = ?1 AND number = ?2");
        self.db.query_row(&sql, params![ladder, number], read_match).optional().map_err(failed)
    }

    /// Whether a match is stored.
    ///
    /// # Errors
    /// Those of the database.
    pub fn has_match(&self, ladder: &str, number: u32) -> io::Result<bool> {
        let sql = "SELECT 1 FROM matches WHERE ladder = ?1 AND number = ?2";
        let found = self.db.query_row(sql, params![ladder, number], |_| Ok(())).optional();
        found.map(|row| row.is_some()).map_err(failed)
    }

    /// The number of the last match of a ladder; 0 without a match.
    ///
    /// # Errors
    /// Those of the database.
    pub fn last_number(&self, ladder: &str) -> io::Result<u32> {
        let sql = "SELECT coalesce(max(number), 0) FROM matches WHERE ladder = ?1";
        self.db.query_row(sql, [ladder], |row| row.get(0)).map_err(failed)
    }

    /// The names of all ladders on which matches have been played.
    ///
    /// # Errors
    /// Those of the database.
    pub fn ladders(&self) -> io::Result<Vec<String>> {
        let mut query = self.db.prepare("SELECT DISTINCT ladder FROM matches").map_err(failed)?;
        let rows = query.query_map([], |row| row.get(0));
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// The number of matches on all ladders.
    ///
    /// # Errors
    /// Those of the database.
    pub fn match_count(&self) -> io::Result<u64> {
        let count: i64 =
            self.db.query_row("SELECT count(*) FROM matches", [], |row| row.get(0)).map_err(failed)?;
        Ok(count.unsigned_abs())
    }

    /// All rulings, in the order in which they were made.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn rulings(&self) -> io::Result<Vec<RulingRow>> {
        read_rulings(&self.db).map_err(failed)
    }

    /// Adds a ruling.
    ///
    /// # Errors
    /// Those of the database.
    pub fn rule(&mut self, row: &RulingRow) -> io::Result<()> {
        self.change(|db| insert_ruling(db, row))
    }

    /// Undoes a ruling.
    ///
    /// # Errors
    /// Those of the database.
    pub fn undo_ruling(&mut self, undone: &UndoneRuling) -> io::Result<()> {
        self.change(|db| undo_ruling(db, undone))
    }

    /// Asks for a match.
    ///
    /// # Errors
    /// Those of the database.
    pub fn ask(&mut self, ladder: &str, players: &[String], at: SystemTime) -> io::Result<()> {
        let sql = "INSERT INTO challenges (ladder, players, asked_at) VALUES (?1, ?2, ?3)";
        self.change(|db| db.execute(sql, params![ladder, json(&players), utc(at)])).map(drop)
    }

    /// The matches that were asked for and have not ended, in order.
    ///
    /// # Errors
    /// Those of the database.
    pub fn challenges(&self, ladder: &str) -> io::Result<Vec<Challenge>> {
        let sql = "SELECT id, players FROM challenges WHERE ladder = ?1 ORDER BY id";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map([ladder], |row| {
            let players: String = row.get(1)?;
            Ok(Challenge { id: row.get(0)?, players: parsed(&players, 1)? })
        });
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// Removes a challenge.
    ///
    /// # Errors
    /// Those of the database.
    pub fn remove_challenge(&mut self, id: i64) -> io::Result<()> {
        self.change(|db| db.execute("DELETE FROM challenges WHERE id = ?1", [id])).map(drop)
    }

    /// Writes a copy without tokens and seeds to a new file, also while the league runs.
    ///
    /// # Errors
    /// I/O errors, also if the file exists.
    pub fn export(&self, path: &Path) -> io::Result<()> {
        // Only its owner can read it. SQLite writes to an empty file.
        fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        self.db.execute("VACUUM INTO ?1", [path.to_string_lossy()]).map_err(failed)?;
        let copy = Connection::open(path).map_err(failed)?;
        // VACUUM overwrites what was deleted.
        copy.execute_batch(
            "UPDATE bots SET token = NULL; \
             UPDATE owners SET token = NULL, token_at = NULL, former_token = NULL, former_until = NULL, network = NULL; \
             DELETE FROM invitations; \
             DELETE FROM league WHERE key LIKE 'seed:%' OR key LIKE 'seed-from:%'; VACUUM;",
        )
        .map_err(failed)
    }
}

/// All bots, in the order in which they were added.
fn read_bots(db: &Connection) -> rusqlite::Result<Vec<LeagueBot>> {
    let sql = "SELECT name, owner, token, command, directory, anchor, ladders, is_of_file, is_paused, added_at, \
               revoked_at, refused, display_name, version FROM bots ORDER BY id";
    let read = |row: &Row<'_>| -> rusqlite::Result<LeagueBot> {
        Ok(LeagueBot {
            name: row.get(0)?,
            owner: row.get(1)?,
            token: row.get(2)?,
            command: row.get(3)?,
            directory: row.get::<_, Option<String>>(4)?.map(PathBuf::from),
            anchor: row.get(5)?,
            ladders: row.get::<_, Option<String>>(6)?.map(|text| parsed(&text, 6)).transpose()?,
            is_of_file: row.get(7)?,
            is_paused: row.get(8)?,
            added_at: row.get(9)?,
            revoked_at: row.get(10)?,
            refused: row.get(11)?,
            display_name: row.get(12)?,
            version: row.get(13)?,
        })
    };
    db.prepare_cached(sql)?.query_map([], read)?.collect()
}

/// Adds a bot, or replaces the one with this name. Returns the name of another one that looks alike, and then does neither.
fn insert_bot(db: &Connection, bot: &LeagueBot) -> rusqlite::Result<Option<String>> {
    let skeleton = name::skeleton(&bot.name);
    // Not by the stored skeletons: other versions may have computed them.
    let mut query = db.prepare_cached("SELECT name FROM bots WHERE name <> ?1")?;
    for other in query.query_map([&bot.name], |row| row.get(0))? {
        let other: String = other?;
        if name::skeleton(&other) == skeleton {
            return Ok(Some(other));
        }
    }
    db.execute(
        "INSERT INTO bots (name, skeleton, owner, token, command, directory, anchor, ladders, is_of_file, \
         is_paused, added_at, revoked_at, refused, display_name, version) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) \
         ON CONFLICT (name) DO UPDATE SET owner = ?3, token = ?4, command = ?5, directory = ?6, anchor = ?7, \
         ladders = ?8, is_of_file = ?9, is_paused = ?10, revoked_at = ?12, refused = ?13, display_name = ?14, \
         version = ?15",
        params![
            bot.name,
            skeleton,
            bot.owner,
            bot.token,
            bot.command,
            bot.directory.as_ref().map(|path| path.to_string_lossy()),
            bot.anchor,
            bot.ladders.as_ref().map(json),
            bot.is_of_file,
            bot.is_paused,
            bot.added_at,
            bot.revoked_at,
            bot.refused,
            bot.display_name,
            bot.version,
        ],
    )?;
    Ok(None)
}

const COLUMNS: &str = "number, players, ranks, scores, faults, ended_by, reason, is_rated, decisions, duration_us, \
                       record, seal, ended_at, is_challenge, deal, worker, is_void";

fn parsed<T: DeserializeOwned>(text: &str, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}

fn read_kind(row: &Row<'_>, column: usize) -> rusqlite::Result<MatchKind> {
    let number = row.get(column)?;
    let kind = MatchKind::ALL.into_iter().find(|&kind| kind as i64 == number);
    kind.ok_or(rusqlite::Error::IntegralValueOutOfRange(column, number))
}

fn read_match(row: &Row<'_>) -> rusqlite::Result<LeagueMatch> {
    let text = |column: usize| row.get::<_, Option<String>>(column);
    Ok(LeagueMatch {
        number: row.get(0)?,
        players: parsed(&row.get::<_, String>(1)?, 1)?,
        ranks: text(2)?.map(|text| parsed(&text, 2)).transpose()?,
        scores: text(3)?.map(|text| parsed(&text, 3)).transpose()?,
        faults: parsed(&row.get::<_, String>(4)?, 4)?,
        ended_by: row.get(5)?,
        reason: row.get(6)?,
        is_rated: row.get(7)?,
        decisions: row.get(8)?,
        duration_us: row.get::<_, i64>(9)?.unsigned_abs(),
        record: row.get(10)?,
        seal: row.get(11)?,
        ended_at: row.get(12)?,
        kind: read_kind(row, 13)?,
        deal: row.get(14)?,
        worker: row.get(15)?,
        is_void: row.get(16)?,
    })
}

fn insert_match(db: &Connection, ladder: &str, row: &LeagueMatch) -> rusqlite::Result<()> {
    let sql = "INSERT INTO matches (ladder, number, players, ranks, scores, faults, ended_by, reason, is_rated, decisions, \
               duration_us, record, seal, ended_at, is_challenge, deal, worker, is_void) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";
    db.prepare_cached(sql)?.execute(params![
        ladder,
        row.number,
        json(&row.players),
        row.ranks.as_ref().map(json),
        row.scores.as_ref().map(json),
        json(&row.faults),
        row.ended_by,
        row.reason,
        row.is_rated,
        row.decisions,
        row.duration_us as i64,
        row.record,
        row.seal,
        row.ended_at,
        row.kind as i64,
        row.deal,
        row.worker,
        row.is_void,
    ])?;
    let sql = "INSERT INTO players (ladder, id, name, joined_at, last_seen) \
               SELECT ?1, (SELECT count(*) FROM players WHERE ladder = ?1), ?2, ?3, ?3 WHERE true \
               ON CONFLICT (ladder, name) DO UPDATE SET last_seen = ?3";
    for name in &row.players {
        db.prepare_cached(sql)?.execute(params![ladder, name, row.ended_at])?;
    }
    Ok(())
}
