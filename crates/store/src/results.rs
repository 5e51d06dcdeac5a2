//! The results of a tournament, in SQLite. `schema.sql` documents the tables.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use referee_files::{Folder, keep_private};
use referee_game::{MAX_SEATS, Seating};
use referee_stats::sample::MatchMoves;
use referee_stats::schedule::MatchId;
use referee_stats::{Cause, Entrant, Lineup, MatchResult};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::database::{Schema, check_database, data_version, database_files};
use crate::error::{StoreError, damaged};
use crate::read_row;
use crate::requests::{REQUESTS, Requests};
use crate::rows::{
    BadRow, EntrantRow, MatchRow, by_seat, column, count_interruptions, from_json, insert_entrant,
    insert_match, json, read_match, read_result, result,
};
use crate::rulings::{
    RulingRow, UndoneRuling, insert_ruling, is_replayed, read_rulings, replayed, undo_ruling,
};

pub(super) const SCHEMA: Schema = Schema {
    name: "results",
    version: 11,
    tables: &[include_str!("schema.sql"), include_str!("rulings.sql"), REQUESTS],
};

/// The database of a tournament.
#[derive(Debug)]
pub struct Results {
    db: Connection,
    path: PathBuf,
    /// Device and inode of its file, which must not be replaced.
    file: (u64, u64),
}

/// The description of a tournament.
#[derive(Clone, Debug)]
pub struct About {
    /// The name for display.
    pub name: String,
    pub game: String,
    pub rules: u32,
    /// The program that the rules are, as records describe it; `None` if they are part of the referee.
    pub program: Option<Box<RawValue>>,
    pub seating: Seating,
    /// The configuration, as TOML.
    pub config: String,
    /// SHA-256 of the opening file, in hex, if there is one.
    pub openings: Option<String>,
    /// The run seed, in hex.
    pub seed: String,
}

#[derive(Clone, Debug, Default)]
pub struct TournamentChange {
    pub config: Option<String>,
    /// An entrant that joins after all others.
    pub joins: Option<EntrantRow>,
    /// An entrant that withdraws, and the first round without it.
    pub leaves: Option<(usize, u32)>,
    /// An entrant that returns after a withdrawal, and [`EntrantRow::missed`].
    pub returns: Option<(usize, Vec<(u32, u32)>)>,
    /// Entrants with new command lines, and their files.
    pub sources: Vec<(usize, String, BTreeMap<String, String>)>,
    /// An entrant with another display name.
    pub renamed: Option<(usize, Option<String>)>,
    pub ruling: Option<RulingRow>,
    pub undone: Option<UndoneRuling>,
}

fn failed(error: rusqlite::Error) -> StoreError {
    SCHEMA.failed(error)
}

impl Results {
    /// Creates the database of a tournament. It appears as a whole or not at all.
    ///
    /// # Errors
    /// If it exists already, or on I/O errors.
    pub fn create(path: &Path, about: &About, entrants: &[EntrantRow]) -> Result<Results, StoreError> {
        let (folder, name) = located(path)?;
        let path_of_it = path.with_extension("part");
        let (_, unfinished) = Folder::of_file(&path_of_it)?;
        if folder.has_file(&name)? {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
        }
        // An unfinished database of a killed process is discarded.
        for name in database_files(&unfinished) {
            if folder.has_file(&name)? {
                folder.remove(&name)?;
            }
        }
        // The database contains the seed: other users must not read it.
        drop(folder.create(&unfinished)?);
        let make = || {
            let mut db = Connection::open(&path_of_it)?;
            // If creation fails, the file is discarded, not rolled back.
            db.pragma_update(None, "journal_mode", "memory")?;
            let db = db.transaction()?;
            SCHEMA.create(&db)?;
            let pairs = [
                ("name", about.name.clone()),
                ("game", about.game.clone()),
                ("rules", about.rules.to_string()),
                ("seats", about.seating.seats().to_string()),
                ("sides", about.seating.sides().to_string()),
                ("config", about.config.clone()),
                ("seed", about.seed.clone()),
                ("referee", referee_match::SERVER.to_owned()),
            ];
            let openings = about.openings.clone().map(|digest| ("openings", digest));
            let program = about.program.as_ref().map(|program| ("program", program.get().to_owned()));
            for (key, value) in pairs.into_iter().chain(openings).chain(program) {
                db.execute("INSERT INTO tournament VALUES (?1, ?2)", params![key, value])?;
            }
            entrants.iter().try_for_each(|entrant| insert_entrant(&db, entrant))?;
            db.commit()
        };
        make().map_err(failed)?;
        folder.rename(&unfinished, &name)?;
        folder.sync()?;
        Results::open(path)
    }

    /// Opens a database.
    ///
    /// # Errors
    /// If it does not exist or has another version, or on I/O errors.
    pub fn open(path: &Path) -> Result<Results, StoreError> {
        let (folder, name) = located(path)?;
        check_database(&folder, &name)?;
        let db = SCHEMA.connect(path, true)?;
        SCHEMA.check(&db)?;
        let found = fs::metadata(path)?;
        Ok(Results { db, path: path.to_owned(), file: (found.dev(), found.ino()) })
    }

    /// Sets whether writes wait for the disk. The default is that they do.
    pub fn set_durable(&self, is_durable: bool) -> Result<(), StoreError> {
        let synchronous = if is_durable { "full" } else { "off" };
        self.db.pragma_update(None, "synchronous", synchronous).map_err(failed)
    }

    /// Checks that the open file is still the one at its path.
    ///
    /// # Errors
    /// If it was removed or replaced.
    pub fn check_in_place(&self) -> Result<(), StoreError> {
        if fs::metadata(&self.path).is_ok_and(|found| (found.dev(), found.ino()) == self.file) {
            return Ok(());
        }
        Err(StoreError::Replaced(self.path.clone()))
    }

    /// A number that changes when another process, or another connection, has changed the database.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        data_version(&self.db).map_err(failed)
    }

    /// The description of the tournament.
    ///
    /// # Errors
    /// If a part of it is missing.
    pub fn about(&self) -> Result<About, StoreError> {
        let find = |key: &str| {
            let sql = "SELECT value FROM tournament WHERE key = ?1";
            self.db.query_row(sql, [key], |row| row.get(0)).optional().map_err(failed)
        };
        let get = |key: &str| -> Result<String, StoreError> {
            find(key)?.ok_or_else(|| damaged("results", format!("missing `{key}`")))
        };
        let number = |key: &str| -> Result<u8, StoreError> {
            let text = get(key)?;
            let key = key.to_owned();
            text.parse().map_err(|_| damaged("results", format!("`{key}` is `{text}`, expected a number")))
        };
        let (seats, sides) = (number("seats")?, number("sides")?);
        if seats == 0 || sides == 0 || !seats.is_multiple_of(sides) || usize::from(seats) > MAX_SEATS {
            return Err(damaged("results", format!("{seats} seats in {sides} sides")));
        }
        Ok(About {
            name: get("name")?,
            game: get("game")?,
            rules: number("rules")?.into(),
            program: find("program")?.map(|text| from_json("results: program", &text)).transpose()?,
            seating: Seating::new(seats, sides),
            config: get("config")?,
            openings: find("openings")?,
            seed: get("seed")?,
        })
    }

    /// Changes the description in one transaction.
    ///
    /// # Errors
    /// If the name of a new entrant is not unique, or on I/O errors.
    pub fn change(&mut self, changes: &TournamentChange) -> Result<(), StoreError> {
        let TournamentChange { config, joins, leaves, returns, sources, renamed, ruling, undone } = changes;
        let change = |db: &mut Connection| {
            let transaction = db.transaction()?;
            if let Some(config) = config {
                transaction.execute("UPDATE tournament SET value = ?1 WHERE key = 'config'", [config])?;
            }
            joins.iter().try_for_each(|entrant| insert_entrant(&transaction, entrant))?;
            if let Some((entrant, round)) = leaves {
                let sql = "UPDATE entrants SET leaves = ?2 WHERE id = ?1";
                transaction.execute(sql, params![*entrant as i64, round])?;
            }
            if let Some((entrant, missed)) = returns {
                let sql = "UPDATE entrants SET leaves = NULL, missed = ?2 WHERE id = ?1";
                transaction.execute(sql, params![*entrant as i64, json(missed)])?;
            }
            for (entrant, source, files) in sources {
                let sql = "UPDATE entrants SET source = ?2, files = ?3 WHERE id = ?1";
                transaction.execute(sql, params![*entrant as i64, source, json(files)])?;
            }
            if let Some((entrant, display_name)) = renamed {
                let sql = "UPDATE entrants SET display_name = ?2 WHERE id = ?1";
                transaction.execute(sql, params![*entrant as i64, display_name])?;
            }
            ruling.iter().try_for_each(|ruling| insert_ruling(&transaction, ruling))?;
            undone.iter().try_for_each(|undone| undo_ruling(&transaction, undone))?;
            transaction.commit()
        };
        change(&mut self.db).map_err(failed)
    }

    /// The changes that other processes request from the one that plays the tournament.
    pub fn requests<R: Serialize + DeserializeOwned>(&self) -> Requests<'_, R> {
        Requests::of(&self.db, &SCHEMA)
    }

    pub fn set_files(&self, entrant: usize, files: &BTreeMap<String, String>) -> Result<(), StoreError> {
        let sql = "UPDATE entrants SET files = ?2 WHERE id = ?1";
        self.db.execute(sql, params![entrant as i64, json(files)]).map(drop).map_err(failed)
    }

    /// Stores the names of bots that matches wait for.
    pub fn set_absent(&self, names: &BTreeSet<String>) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO tournament VALUES ('absent', ?1)";
        self.db.execute(sql, [json(names)]).map(drop).map_err(failed)
    }

    /// The names of bots that were not connected at the last change. Only meaningful while the tournament is being
    /// played.
    pub fn absent(&self) -> Result<BTreeSet<String>, StoreError> {
        json_value(&self.db, &self.path, "absent")
    }

    /// Reads all entrants, in order.
    ///
    /// # Errors
    /// I/O errors, or if a row is invalid.
    pub fn entrants(&self) -> Result<Vec<EntrantRow>, StoreError> {
        let mut query = self.db.prepare("SELECT * FROM entrants ORDER BY id").map_err(failed)?;
        let mut rows = query.query([]).map_err(failed)?;
        let mut entrants = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let number = entrants.len();
            let place = format!("{}: table `entrants`, row {number}", self.path.display());
            let read = |row: &Row<'_>| -> rusqlite::Result<(i64, EntrantRow)> {
                let id: i64 = row.get("id")?;
                let row = read_row!(row as EntrantRow {
                    name, display_name, source, joins, leaves, interruptions
                } with {
                    files: BTreeMap::new(),
                    missed: Vec::new(),
                });
                Ok((id, row))
            };
            let (id, mut entrant) = read(row).map_err(|error| damaged(&place, error))?;
            if id != number as i64 {
                return Err(damaged(place, format!("it is missing, but there is entrant {id}")));
            }
            let text = |column: &str| row.get::<_, String>(column).map_err(|error| damaged(&place, error));
            entrant.files = from_json(&format!("{place}: `files`"), &text("files")?)?;
            entrant.missed = from_json(&format!("{place}: `missed`"), &text("missed")?)?;
            entrants.push(entrant);
        }
        Ok(entrants)
    }

    /// Adds attempts at matches, and counts interruptions, in one transaction.
    ///
    /// # Errors
    /// If a match has a result already, on I/O errors, or if the database has been moved.
    pub fn add_matches(&mut self, rows: &[MatchRow]) -> Result<(), StoreError> {
        let add = |db: &mut Connection| {
            let transaction = db.transaction()?;
            for row in rows {
                insert_match(&transaction, row)?;
            }
            transaction.commit()
        };
        add(&mut self.db).map_err(failed)?;
        self.check_in_place()
    }

    /// Adds an attempt that was cut off, of which only its start is known.
    pub fn cut_off(&mut self, id: MatchId, set: u32, lineup: &[usize]) -> Result<(), StoreError> {
        let cut = |db: &mut Connection| {
            let transaction = db.transaction()?;
            transaction.execute(
                "INSERT INTO matches VALUES (?1, ?2, ?3, ?4, NULL, 0, 0, 'cut_off', '', NULL, NULL, NULL)",
                params![id.number, id.attempt, set, json(&lineup)],
            )?;
            count_interruptions(&transaction, lineup.iter().map(|&entrant| entrant as i64))?;
            transaction.commit()
        };
        cut(&mut self.db).map_err(failed)
    }

    /// Returns whether an attempt is in the results.
    pub fn has(&self, id: MatchId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM matches WHERE number = ?1 AND attempt = ?2";
        let found = self.db.query_row(sql, params![id.number, id.attempt], |_| Ok(())).optional();
        found.map(|row| row.is_some()).map_err(failed)
    }

    /// Reads all results by number: the input of schedules, standings and ratings. Results that a ruling replaced by a replay
    /// are left out.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn results(&self, seating: Seating) -> Result<Vec<(u32, MatchResult)>, StoreError> {
        let sql = format!("SELECT {} FROM matches WHERE ranks IS NOT NULL ORDER BY number", result::LIST);
        let replayed = replayed(&self.db).map_err(failed)?;
        let mut query = self.db.prepare(&sql).map_err(failed)?;
        let mut rows = query.query([]).map_err(failed)?;
        let mut results = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            if is_replayed(&replayed, row).map_err(failed)? {
                continue;
            }
            let number: u32 = row.get(result::number).map_err(failed)?;
            let result = read_result(row, seating).map_err(failed)?;
            let misfit = || damaged("results", format!("m{number} does not fit the seats"));
            results.push((number, result.ok_or_else(misfit)?));
        }
        Ok(results)
    }

    /// The attempts that have a result, by the number of the match.
    pub fn counted_attempts(&self) -> Result<BTreeMap<u32, MatchId>, StoreError> {
        let sql = "SELECT number, attempt FROM matches WHERE ranks IS NOT NULL";
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let id = |row: &Row<'_>| {
            let number = row.get(0)?;
            Ok((number, MatchId { number, attempt: row.get(1)? }))
        };
        query.query_map([], id).and_then(Iterator::collect).map_err(failed)
    }

    /// The moves of matches with a result, by number; without those of games with chance.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn moves(&self) -> Result<HashMap<u32, MatchMoves>, StoreError> {
        // Of two attempts with a result, the later one counts.
        let sql = "SELECT number, opening, moves FROM matches \
                   WHERE ranks IS NOT NULL AND opening IS NOT NULL AND moves IS NOT NULL ORDER BY number, attempt";
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let moves = query.query_map([], |row| {
            let [opening, all] = [row.get::<_, i64>(1)?, row.get(2)?].map(i64::cast_unsigned);
            Ok((row.get(0)?, MatchMoves { opening, all }))
        });
        moves.and_then(Iterator::collect).map_err(failed)
    }

    /// Reads all rulings, in the order in which they were made.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn rulings(&self) -> Result<Vec<RulingRow>, StoreError> {
        read_rulings(&self.db).map_err(failed)
    }

    /// By match: the number of its attempts.
    pub fn attempts(&self) -> Result<BTreeMap<u32, u32>, StoreError> {
        let sql = "SELECT number, max(attempt) FROM matches GROUP BY number";
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let attempts = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        attempts.and_then(Iterator::collect).map_err(failed)
    }

    /// By match: the number of attempts with a result that does not count, because a ruling had it replayed.
    pub fn replaced(&self) -> Result<BTreeMap<u32, u32>, StoreError> {
        let sql = "SELECT count(*) FROM matches WHERE number = ?1 AND attempt <= ?2 AND ranks IS NOT NULL";
        let replayed = self.replayed()?.into_iter();
        let counted = replayed.map(|(number, attempt)| {
            let count = self.db.query_row(sql, [number, attempt], |row| row.get(0));
            Ok((number, count.map_err(failed)?))
        });
        counted.collect()
    }

    /// By match: the last attempt that does not count, because a ruling had it replayed.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn replayed(&self) -> Result<BTreeMap<u32, u32>, StoreError> {
        replayed(&self.db).map_err(failed)
    }

    /// The numbers of matches that were cut off or aborted, once per attempt.
    pub fn cut_offs(&self) -> Result<Vec<u32>, StoreError> {
        self.numbers("SELECT number FROM matches WHERE ranks IS NULL AND ended_by <> 'void' ORDER BY number")
    }

    /// The void matches, with their lineups.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn void_matches(&self, seating: Seating) -> Result<Vec<(u32, Lineup)>, StoreError> {
        let sql = "SELECT number, lineup, reason FROM matches WHERE ended_by = 'void' ORDER BY number";
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let mut rows = query.query([]).map_err(failed)?;
        let mut voids = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let (number, reason): (u32, String) =
                row.get(0).and_then(|number| Ok((number, row.get(2)?))).map_err(failed)?;
            let entrants =
                row.get_ref(1).and_then(|text| Ok(by_seat(text.as_str()?, seating))).map_err(failed)?;
            let lineup = entrants
                .and_then(|entrants| Lineup::of_seats(seating, &entrants.map(Entrant)[..seating.seats()]));
            if let Some(lineup) = lineup.filter(|_| is_void_for(&reason)) {
                voids.push((number, lineup));
            }
        }
        Ok(voids)
    }

    /// The number of void matches by cause.
    pub fn void_for(&self) -> Result<BTreeMap<String, u32>, StoreError> {
        let sql = "SELECT reason, count(*) FROM matches WHERE ended_by = 'void' GROUP BY reason";
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let counts = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
        let counts: rusqlite::Result<Vec<(String, u32)>> = counts.collect();
        Ok(counts.map_err(failed)?.into_iter().filter(|(reason, _)| is_void_for(reason)).collect())
    }

    /// Attempts that do not count for reasons other than an interruption: those of void matches, and those whose
    /// preconditions were lost.
    pub fn voids(&self) -> Result<Vec<u32>, StoreError> {
        self.numbers("SELECT number FROM matches WHERE ended_by = 'void' ORDER BY number")
    }

    fn numbers(&self, sql: &str) -> Result<Vec<u32>, StoreError> {
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let numbers = query.query_map([], |row| row.get(0));
        numbers.and_then(Iterator::collect).map_err(failed)
    }

    /// Takes back the results of all matches that a worker has played. Returns their numbers.
    pub fn void_worker(&mut self, worker: &str) -> Result<Vec<u32>, StoreError> {
        let mut workers = self.voided_workers()?;
        workers.insert(worker.to_owned());
        let void = |db: &mut Connection| {
            let transaction = db.transaction()?;
            let sql = "SELECT m.number FROM matches m JOIN details d ON d.number = m.number AND d.attempt = m.attempt \
                       WHERE m.ranks IS NOT NULL AND d.worker = ?1 ORDER BY m.number";
            let numbers: Vec<u32> = transaction
                .prepare(sql)?
                .query_map([worker], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            numbers.iter().try_for_each(|&number| void_match(&transaction, number))?;
            let sql = "INSERT OR REPLACE INTO tournament VALUES ('voided_workers', ?1)";
            transaction.execute(sql, [json(&workers)])?;
            transaction.commit()?;
            Ok(numbers)
        };
        void(&mut self.db).map_err(failed)
    }

    /// The workers whose matches were taken back.
    pub fn voided_workers(&self) -> Result<BTreeSet<String>, StoreError> {
        json_value(&self.db, &self.path, "voided_workers")
    }

    /// Marks the result of a match as not counting.
    pub fn make_void(&mut self, number: u32) -> Result<(), StoreError> {
        let void = |db: &mut Connection| {
            let transaction = db.transaction()?;
            void_match(&transaction, number)?;
            transaction.commit()
        };
        void(&mut self.db).map_err(failed)
    }

    /// Passes all rows of matches to `each`, in the order of their numbers.
    ///
    /// # Errors
    /// If a row is invalid, and those of `each`.
    pub fn for_each_match(
        &self,
        mut each: impl FnMut(MatchRow) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.for_each_row(|row| each(row.map_err(StoreError::from)?))
    }

    /// Passes all rows to `each`, also invalid ones.
    ///
    /// # Errors
    /// If the database cannot be read, and those of `each`.
    pub fn for_each_row(
        &self,
        mut each: impl FnMut(Result<MatchRow, BadRow>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let about = self.about()?;
        let sql = format!(
            "SELECT {} FROM matches LEFT JOIN details USING (number, attempt) ORDER BY number, attempt",
            column::LIST
        );
        let mut query = self.db.prepare(&sql).map_err(failed)?;
        let mut rows = query.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            each(read_match(row, about.seating))?;
        }
        Ok(())
    }
}

/// Marks the result of a match as not counting.
fn void_match(db: &Connection, number: u32) -> rusqlite::Result<()> {
    db.execute(
        "UPDATE details SET scores = NULL FROM matches m WHERE m.number = ?1 AND m.ranks IS NOT NULL \
         AND details.number = m.number AND details.attempt = m.attempt",
        [number],
    )?;
    let sql = "UPDATE matches SET ranks = NULL, amounts = NULL, ended_by = 'void' WHERE number = ?1 AND ranks IS NOT NULL";
    db.execute(sql, [number]).map(drop)
}

/// The directory of a database, which no bot may see, and the name of the database.
fn located(path: &Path) -> Result<(Folder, String), StoreError> {
    let (folder, name) = Folder::of_file(path)?;
    keep_private(folder.path());
    Ok((folder, name))
}

/// Returns whether a row that ended as [`VOID`](super::VOID) for this reason belongs to a void match. For
/// other reasons, results that it depended on were lost.
pub fn is_void_for(reason: &str) -> bool {
    Cause::OF_VOID.iter().any(|cause| cause.as_str() == reason)
}

/// Reads a row of the table `tournament` that contains JSON; without the row, the default.
fn json_value<T: DeserializeOwned + Default>(
    db: &Connection,
    path: &Path,
    key: &str,
) -> Result<T, StoreError> {
    let sql = "SELECT value FROM tournament WHERE key = ?1";
    let text: Option<String> = db.query_row(sql, [key], |row| row.get(0)).optional().map_err(failed)?;
    let Some(text) = text else { return Ok(T::default()) };
    from_json(&format!("{}: table `tournament`, row `{key}`", path.display()), &text)
}
