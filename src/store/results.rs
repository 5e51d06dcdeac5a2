//! The results of a tournament, in SQLite. `schema.sql` says what is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

use crate::core::{MAX_SEATS, Seat, SeatSet, Seating};
use crate::tournament::schedule::MatchId;
use crate::tournament::{Entrant, Lineup, MatchResult};

/// The version of the schema: `PRAGMA user_version`.
const VERSION: i64 = 1;

/// [`MatchRow::ended_by`] of a match that was played to its end but does not count: its pair was decided meanwhile.
pub const VOID: &str = "void";

/// The database of a tournament.
pub struct Results(Connection);

/// What a tournament is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// For people.
    pub name: String,
    /// The game's id.
    pub game: String,
    /// The version of its rules.
    pub rules: u32,
    /// How the seats play together.
    pub seating: Seating,
    /// The configuration, as TOML.
    pub config: String,
    /// SHA-256 of the file of openings, in hex, where there is one.
    pub openings: Option<String>,
    /// The run seed, in hex.
    pub seed: String,
}

/// An entrant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrantRow {
    /// Its label.
    pub name: String,
    /// Its command line, or tcp:NAME.
    pub source: String,
    /// Path -> SHA-256.
    pub files: BTreeMap<String, String>,
    /// The first round in which it is paired.
    pub joins: u32,
    /// The first round in which it is no longer paired.
    pub leaves: Option<u32>,
    /// Matches of its that were cut off.
    pub interruptions: u32,
}

/// An attempt at a match.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchRow {
    /// Which.
    pub id: MatchId,
    /// Its set, from 1.
    pub set: u32,
    /// The entrants by seat.
    pub lineup: Vec<u16>,
    /// By seat; none when it has no result.
    pub ranks: Option<Vec<u8>>,
    /// Seats that made a fault.
    pub faulted: SeatSet,
    /// Seats that lost by a fault, and their partners.
    pub forfeited: SeatSet,
    /// As in `end`, or `cut_off`, or [`VOID`].
    pub ended_by: String,
    /// As in `end`.
    pub reason: String,
    /// By seat.
    pub scores: Option<Vec<f64>>,
    /// By seat: code -> count.
    pub faults: Vec<BTreeMap<String, u32>>,
    /// Moves made.
    pub decisions: u32,
    /// From opening to end, in microseconds.
    pub duration_us: u64,
    /// The longest that the referee kept one answer waiting, in milliseconds.
    pub lag_ms: u64,
    /// By seat, in milliseconds.
    pub cpu_ms: Vec<Option<u64>>,
    /// Its file in `records`.
    pub record: Option<String>,
}

fn failed(error: rusqlite::Error) -> io::Error {
    io::Error::other(format!("results: {error}"))
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn seats(bits: u8) -> SeatSet {
    (0..8).map(Seat).filter(|seat| bits & (1 << seat.0) != 0).collect()
}

fn bits(seats: SeatSet) -> u8 {
    seats.iter().map(|seat| 1 << seat.0).sum()
}

impl Results {
    /// Makes a database for a tournament. It is there whole or not at all.
    ///
    /// # Errors
    /// When there is one already, and those of the disk.
    pub fn create(path: &Path, about: &About, entrants: &[EntrantRow]) -> io::Result<Results> {
        if path.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let unfinished = path.with_extension("part");
        // It holds the seed: nobody else may read it.
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        let make = || {
            let mut db = Connection::open(&unfinished)?;
            // What is not finished is begun anew, not rolled back.
            db.pragma_update(None, "journal_mode", "memory")?;
            let db = db.transaction()?;
            db.execute_batch(include_str!("schema.sql"))?;
            db.pragma_update(None, "user_version", VERSION)?;
            let pairs = [
                ("name", about.name.clone()),
                ("game", about.game.clone()),
                ("rules", about.rules.to_string()),
                ("seats", about.seating.seats().to_string()),
                ("sides", about.seating.sides().to_string()),
                ("config", about.config.clone()),
                ("seed", about.seed.clone()),
                ("referee", crate::SERVER.to_owned()),
            ];
            let openings = about.openings.clone().map(|digest| ("openings", digest));
            for (key, value) in pairs.into_iter().chain(openings) {
                db.execute("INSERT INTO tournament VALUES (?1, ?2)", params![key, value])?;
            }
            entrants.iter().try_for_each(|entrant| insert_entrant(&db, entrant))?;
            db.commit()
        };
        make().map_err(failed)?;
        fs::rename(&unfinished, path)?;
        Results::open(path)
    }

    /// Opens a database to go on with it.
    ///
    /// # Errors
    /// When there is none of this version, and those of the disk.
    pub fn open(path: &Path) -> io::Result<Results> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(path, flags).map_err(failed)?;
        prepare(&db).map_err(failed)?;
        let version: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
        if version != VERSION {
            return Err(io::Error::other(format!(
                "results: version {version}, this program knows {VERSION}"
            )));
        }
        Ok(Results(db))
    }

    /// What the tournament is.
    ///
    /// # Errors
    /// When something of it is missing.
    pub fn about(&self) -> io::Result<About> {
        let find = |key: &str| {
            let sql = "SELECT value FROM tournament WHERE key = ?1";
            self.0.query_row(sql, [key], |row| row.get(0)).optional().map_err(failed)
        };
        let get = |key: &str| -> io::Result<String> {
            find(key)?.ok_or_else(|| io::Error::other(format!("results: there is no `{key}`")))
        };
        let number = |key: &str| -> io::Result<u8> {
            get(key)?.parse().map_err(|error| io::Error::other(format!("results: {key}: {error}")))
        };
        let (seats, sides) = (number("seats")?, number("sides")?);
        if sides == 0 || !seats.is_multiple_of(sides) || usize::from(seats) > crate::core::MAX_SEATS {
            return Err(io::Error::other(format!("results: {seats} seats in {sides} sides")));
        }
        Ok(About {
            name: get("name")?,
            game: get("game")?,
            rules: number("rules")?.into(),
            seating: Seating::new(seats, sides),
            config: get("config")?,
            openings: find("openings")?,
            seed: get("seed")?,
        })
    }

    /// Adds an entrant, after all others, and replaces the configuration by one that has it.
    ///
    /// # Errors
    /// When there is one of this name, and those of the disk.
    pub fn add_entrant(&mut self, entrant: &EntrantRow, config: &str) -> io::Result<()> {
        let add = |db: &mut Connection| {
            let transaction = db.transaction()?;
            insert_entrant(&transaction, entrant)?;
            transaction.execute("UPDATE tournament SET value = ?1 WHERE key = 'config'", [config])?;
            transaction.commit()
        };
        add(&mut self.0).map_err(failed)
    }

    /// An entrant leaves before this round.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn withdraw(&self, entrant: usize, leaves: u32) -> io::Result<()> {
        let sql = "UPDATE entrants SET leaves = ?2 WHERE id = ?1";
        self.0.execute(sql, params![entrant as i64, leaves]).map(drop).map_err(failed)
    }

    /// An entrant's program has changed, and that is all right.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn set_files(&self, entrant: usize, files: &BTreeMap<String, String>) -> io::Result<()> {
        let sql = "UPDATE entrants SET files = ?2 WHERE id = ?1";
        self.0.execute(sql, params![entrant as i64, json(files)]).map(drop).map_err(failed)
    }

    /// All entrants, in order.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn entrants(&self) -> io::Result<Vec<EntrantRow>> {
        let sql = "SELECT name, source, files, joins, leaves, interruptions FROM entrants ORDER BY id";
        let mut query = self.0.prepare(sql).map_err(failed)?;
        let rows = query.query_map([], |row| {
            Ok(EntrantRow {
                name: row.get(0)?,
                source: row.get(1)?,
                files: serde_json::from_str(&row.get::<_, String>(2)?).unwrap_or_default(),
                joins: row.get(3)?,
                leaves: row.get(4)?,
                interruptions: row.get(5)?,
            })
        });
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// Adds what became of a match, and counts that it was broken off if it was. It is there whole or not at all.
    ///
    /// # Errors
    /// When the match has a result already, and those of the disk.
    pub fn add_match(&mut self, row: &MatchRow) -> io::Result<()> {
        let add = |db: &mut Connection| {
            let transaction = db.transaction()?;
            let MatchId { number, attempt } = row.id;
            transaction
                .prepare_cached("INSERT INTO matches VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
                .execute(params![
                    number,
                    attempt,
                    row.set,
                    json(&row.lineup),
                    row.ranks.as_ref().map(json),
                    bits(row.faulted),
                    bits(row.forfeited),
                    row.ended_by,
                    row.reason,
                ])?;
            transaction
                .prepare_cached("INSERT INTO details VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
                .execute(params![
                    number,
                    attempt,
                    row.scores.as_ref().map(json),
                    json(&row.faults),
                    row.decisions,
                    row.duration_us as i64,
                    row.lag_ms as i64,
                    json(&row.cpu_ms),
                    row.record,
                ])?;
            if row.ranks.is_none() && row.ended_by != VOID {
                count_interruptions(&transaction, row.lineup.iter().map(|&entrant| entrant.into()))?;
            }
            transaction.commit()
        };
        add(&mut self.0).map_err(failed)
    }

    /// A match was cut off: nothing is known of it but that it began.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn cut_off(&mut self, id: MatchId, set: u32, lineup: &[usize]) -> io::Result<()> {
        let cut = |db: &mut Connection| {
            let transaction = db.transaction()?;
            transaction.execute(
                "INSERT INTO matches VALUES (?1, ?2, ?3, ?4, NULL, 0, 0, 'cut_off', '')",
                params![id.number, id.attempt, set, json(&lineup)],
            )?;
            count_interruptions(&transaction, lineup.iter().map(|&entrant| entrant as i64))?;
            transaction.commit()
        };
        cut(&mut self.0).map_err(failed)
    }

    /// Whether an attempt is in the results.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn has(&self, id: MatchId) -> io::Result<bool> {
        let sql = "SELECT 1 FROM matches WHERE number = ?1 AND attempt = ?2";
        let found = self.0.query_row(sql, params![id.number, id.attempt], |_| Ok(())).optional();
        found.map(|row| row.is_some()).map_err(failed)
    }

    /// All results by number: what schedules, standings and ratings are made from.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn results(&self, seating: Seating) -> io::Result<Vec<(u32, MatchResult)>> {
        let sql = "SELECT number, \"set\", lineup, ranks, faulted, forfeited FROM matches \
                   WHERE ranks IS NOT NULL ORDER BY number";
        let mut query = self.0.prepare(sql).map_err(failed)?;
        let mut rows = query.query([]).map_err(failed)?;
        let mut results = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let number: u32 = row.get(0).map_err(failed)?;
            let result = read_result(row, seating).map_err(failed)?;
            let what = || io::Error::other(format!("results: m{number} does not fit the seats"));
            results.push((number, result.ok_or_else(what)?));
        }
        Ok(results)
    }

    /// The matches that were cut off or aborted, each as often as that happened.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn cut_offs(&self) -> io::Result<Vec<u32>> {
        self.numbers("SELECT number FROM matches WHERE ranks IS NULL AND ended_by <> 'void' ORDER BY number")
    }

    /// The matches that were played to their end but do not count.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn voids(&self) -> io::Result<Vec<u32>> {
        self.numbers("SELECT number FROM matches WHERE ended_by = 'void' ORDER BY number")
    }

    fn numbers(&self, sql: &str) -> io::Result<Vec<u32>> {
        let mut query = self.0.prepare(sql).map_err(failed)?;
        let numbers = query.query_map([], |row| row.get(0));
        numbers.and_then(Iterator::collect).map_err(failed)
    }

    /// The result of a match does not count.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn make_void(&mut self, number: u32) -> io::Result<()> {
        let void = |db: &mut Connection| {
            let transaction = db.transaction()?;
            transaction.execute(
                "UPDATE details SET scores = NULL FROM matches m WHERE m.number = ?1 AND m.ranks IS NOT NULL \
                 AND details.number = m.number AND details.attempt = m.attempt",
                [number],
            )?;
            transaction.execute(
                "UPDATE matches SET ranks = NULL, ended_by = 'void' WHERE number = ?1 AND ranks IS NOT NULL",
                [number],
            )?;
            transaction.commit()
        };
        void(&mut self.0).map_err(failed)
    }

    /// Everything that is known of the matches, in the order of their numbers, one after the other.
    ///
    /// # Errors
    /// When one of them cannot be read, and those of `each`.
    pub fn for_each_match(&self, mut each: impl FnMut(MatchRow) -> io::Result<()>) -> io::Result<()> {
        let sql = "SELECT m.number, m.attempt, \"set\", lineup, ranks, faulted, forfeited, ended_by, reason, \
                   scores, coalesce(faults, '[]'), coalesce(decisions, 0), coalesce(duration_us, 0), \
                   coalesce(lag_ms, 0), coalesce(cpu_ms, '[]'), record \
                   FROM matches m LEFT JOIN details d ON d.number = m.number AND d.attempt = m.attempt \
                   ORDER BY m.number, m.attempt";
        let mut query = self.0.prepare(sql).map_err(failed)?;
        let mut rows = query.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            each(read_match(row).map_err(failed)?)?;
        }
        Ok(())
    }
}

fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(std::time::Duration::from_secs(10))?;
    // A write-ahead log: who reads does not wait, and what was written stays when the process is killed.
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", "normal")
}

fn insert_entrant(db: &Connection, entrant: &EntrantRow) -> rusqlite::Result<()> {
    let sql = "INSERT INTO entrants SELECT count(*), ?1, ?2, ?3, ?4, ?5, ?6 FROM entrants";
    let EntrantRow { name, source, files, joins, leaves, interruptions } = entrant;
    db.execute(sql, params![name, source, json(files), joins, leaves, interruptions]).map(drop)
}

fn count_interruptions(db: &Connection, lineup: impl Iterator<Item = i64>) -> rusqlite::Result<()> {
    let distinct: BTreeSet<i64> = lineup.collect();
    for entrant in distinct {
        db.execute("UPDATE entrants SET interruptions = interruptions + 1 WHERE id = ?1", [entrant])?;
    }
    Ok(())
}

fn read_list<T: serde::de::DeserializeOwned>(text: &str) -> Vec<T> {
    serde_json::from_str(text).unwrap_or_default()
}

/// A list by seat, `[0,1]`. There may be millions to read: no allocation.
fn by_seat<T: Copy + Default + FromStr>(text: &str, seating: Seating) -> Option<[T; MAX_SEATS]> {
    let mut numbers = text.strip_prefix('[')?.strip_suffix(']')?.split(',');
    let mut list = [T::default(); MAX_SEATS];
    for place in &mut list[..seating.seats()] {
        *place = numbers.next()?.trim_ascii().parse().ok()?;
    }
    numbers.next().is_none().then_some(list)
}

fn read_result(row: &Row<'_>, seating: Seating) -> rusqlite::Result<Option<MatchResult>> {
    let entrants = by_seat(row.get_ref(2)?.as_str()?, seating);
    let ranks = by_seat(row.get_ref(3)?.as_str()?, seating);
    let (Some(entrants), Some(ranks)) = (entrants, ranks) else { return Ok(None) };
    let lineup = Lineup::of_seats(seating, &entrants.map(Entrant)[..seating.seats()]);
    let (set, faulted, forfeited) = (row.get(1)?, seats(row.get(4)?), seats(row.get(5)?));
    Ok(lineup.map(|lineup| MatchResult { faulted, forfeited, ..MatchResult::played(set, lineup, &ranks) }))
}

fn read_match(row: &Row<'_>) -> rusqlite::Result<MatchRow> {
    Ok(MatchRow {
        id: MatchId { number: row.get(0)?, attempt: row.get(1)? },
        set: row.get(2)?,
        lineup: read_list(row.get_ref(3)?.as_str()?),
        ranks: row.get::<_, Option<String>>(4)?.as_deref().map(read_list),
        faulted: seats(row.get(5)?),
        forfeited: seats(row.get(6)?),
        ended_by: row.get(7)?,
        reason: row.get(8)?,
        scores: row.get::<_, Option<String>>(9)?.as_deref().map(read_list),
        faults: read_list(row.get_ref(10)?.as_str()?),
        decisions: row.get(11)?,
        duration_us: row.get::<_, i64>(12)? as u64,
        lag_ms: row.get::<_, i64>(13)? as u64,
        cpu_ms: read_list(row.get_ref(14)?.as_str()?),
        record: row.get(15)?,
    })
}
