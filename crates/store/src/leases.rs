//! The sets of a run that workers have, in SQLite. `leases.sql` documents the tables.

use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use referee_files::{Folder, StorageWait, keep_private};
use referee_game::hex;
use rusqlite::{Connection, Row, ToSql, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::checkpoints::Checkpoints;
use crate::database::{Schema, check_database};
use crate::error::StoreError;
use crate::read_row;
use crate::requests::{REQUESTS, Requests};

const SCHEMA: Schema = Schema { name: NAME, version: 2, tables: &[include_str!("leases.sql"), REQUESTS] };
/// The maximum size of the log in pages; a writer that exceeds it waits for a checkpoint.
const LOG_PAGES: i64 = 50_000;
/// The file name in the directory of a run.
const NAME: &str = "workers.sqlite";

/// The sets that workers have, and the workers. A power failure may lose the last changes, which costs repeated work and no
/// result.
#[derive(Debug)]
pub struct Leases {
    db: Connection,
    wait: StorageWait,
    is_durable: bool,
    /// The checkpoints, unless the leases are in memory, or another process writes.
    _checkpoints: Option<Checkpoints>,
}

/// An attempt at a set that has no outcome yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The number of the set, from 1.
    pub set: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The worker that has it; `None` while it is queued.
    pub worker: Option<String>,
    /// The number of times that a worker received it.
    pub deliveries: u32,
    /// The time at which the set was queued, received or last made progress: seconds since 1970.
    pub moved_at: u64,
    /// The unit as JSON.
    pub unit: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkerRow {
    pub name: String,
    /// The description of its machine, as JSON.
    #[serde(skip)]
    pub machine: String,
    /// `active`, `drained` or `aside`.
    pub state: String,
    pub reason: Option<String>,
    pub is_connected: bool,
    /// The first connection: seconds since 1970; 0: now.
    #[serde(skip)]
    pub joined_at: u64,
    /// The last change of the row: seconds since 1970.
    #[serde(skip)]
    pub seen_at: u64,
    pub sets: u32,
    pub matches: u32,
    /// Matches of these in which a bot made a fault.
    pub faults: u32,
    /// Sets that it received and did not play.
    pub lost: u32,
    /// Outcomes of sets that had one already.
    pub duplicates: u32,
    /// Outcomes that do not match their unit.
    pub refused: u32,
}

fn failed(error: rusqlite::Error) -> StoreError {
    SCHEMA.failed(error)
}

/// Returns the seconds since 1970.
fn now() -> u64 {
    crate::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Leases {
    /// Opens those of a run, or creates them. `run` is the id of a new run.
    ///
    /// # Errors
    /// I/O errors, or if the file has an unknown version.
    pub fn open(folder: &Folder, run: &[u8; 16]) -> Result<Leases, StoreError> {
        let is_new = !folder.has_file(NAME)?;
        if is_new {
            // The database contains seeds: other users must not read it.
            drop(folder.create(NAME)?);
        }
        keep_private(folder.path());
        check_database(folder, NAME)?;
        let path = folder.path().join(NAME);
        let db = SCHEMA.connect(&path, false)?;
        db.pragma_update(None, "wal_autocheckpoint", LOG_PAGES).map_err(failed)?;
        let leases = Leases::prepare(db, run)?;
        Ok(Leases {
            _checkpoints: Some(Checkpoints::start(Connection::open(&path).map_err(failed)?)?),
            ..leases
        })
    }

    /// Creates those of a run that is not resumed, in memory.
    pub fn in_memory(run: &[u8; 16]) -> Result<Leases, StoreError> {
        Leases::prepare(Connection::open_in_memory().map_err(failed)?, run)
    }

    /// Opens those of a run for reading and for requests; `None` if no worker has ever been used.
    ///
    /// # Errors
    /// I/O errors, or if the file has an unknown version.
    pub fn of_run(path: &Path) -> Result<Option<Leases>, StoreError> {
        let folder = match Folder::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        if !folder.has_file(NAME)? {
            return Ok(None);
        }
        check_database(&folder, NAME)?;
        let db = SCHEMA.connect(&path.join(NAME), false)?;
        SCHEMA.check(&db)?;
        Ok(Some(Leases::of(db)))
    }

    fn of(db: Connection) -> Leases {
        Leases { db, wait: StorageWait::default(), is_durable: false, _checkpoints: None }
    }

    /// Waits from now on while the disk is full.
    #[must_use]
    pub fn waiting(self, wait: StorageWait) -> Leases {
        Leases { wait, ..self }
    }

    /// Lets a queued set survive a power failure too: for runs that do not derive their sets from a schedule.
    #[must_use]
    pub fn durable(self) -> Leases {
        Leases { is_durable: true, ..self }
    }

    fn prepare(mut db: Connection, run: &[u8; 16]) -> Result<Leases, StoreError> {
        SCHEMA.create_if_new(&mut db, |db| {
            db.execute("INSERT INTO run VALUES ('id', ?1)", [hex::encode(run)]).map(drop)
        })?;
        Ok(Leases::of(db))
    }

    pub fn run(&self) -> Result<String, StoreError> {
        self.db.query_row("SELECT value FROM run WHERE key = 'id'", [], |row| row.get(0)).map_err(failed)
    }

    /// The last attempts at sets without an outcome, except those that were given up.
    pub fn open_sets(&self) -> Result<Vec<Lease>, StoreError> {
        let lease = |row: &Row<'_>| {
            let state: String = row.get("state")?;
            Ok(read_row!(row as Lease {
                set, attempt, deliveries, unit
            } with {
                worker: row.get::<_, Option<String>>("worker")?.filter(|_| state == "out"),
                moved_at: row.get::<_, i64>("moved_at")?.cast_unsigned(),
            }))
        };
        let sql = "SELECT \"set\", attempt, state, worker, deliveries, moved_at, unit FROM sets \
                   WHERE state IN ('queued', 'out') ORDER BY \"set\"";
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let leases = query.query_map([], lease);
        leases.and_then(Iterator::collect).map_err(failed)
    }

    /// The number of the next attempt at a set.
    pub fn next_attempt(&self, set: u32) -> Result<u32, StoreError> {
        let sql = "SELECT coalesce(max(attempt), 0) + 1 FROM sets WHERE \"set\" = ?1";
        let query =
            self.db.prepare_cached(sql).and_then(|mut query| query.query_row([set], |row| row.get(0)));
        query.map_err(failed)
    }

    /// Queues an attempt at a set; earlier ones are replaced.
    ///
    /// # Errors
    /// If the attempt exists; errors of the disk.
    pub fn queue(&self, set: u32, attempt: u32, deliveries: u32, unit: &str) -> Result<(), StoreError> {
        self.retire(set)?;
        if self.is_durable {
            self.db.pragma_update(None, "synchronous", "full").map_err(failed)?;
        }
        self.run_sql(
            "INSERT INTO sets VALUES (?1, ?2, 'queued', ?3, NULL, ?4, ?5)",
            params![set, attempt, deliveries, now().cast_signed(), unit],
        )?;
        if self.is_durable {
            self.db.pragma_update(None, "synchronous", "normal").map_err(failed)
        } else {
            Ok(())
        }
    }

    /// The highest number of a set; 0 if there is none.
    pub fn last_set(&self) -> Result<u32, StoreError> {
        let sql = "SELECT coalesce(max(\"set\"), 0) FROM sets";
        self.db.query_row(sql, [], |row| row.get(0)).map_err(failed)
    }

    /// Notes that a worker has received an attempt. `deliveries`: the number of times that a worker did.
    pub fn take(&self, set: u32, attempt: u32, worker: &str, deliveries: u32) -> Result<(), StoreError> {
        self.run_sql(
            "UPDATE sets SET state = 'out', worker = ?3, deliveries = ?4, moved_at = ?5 \
             WHERE \"set\" = ?1 AND attempt = ?2",
            params![set, attempt, worker, deliveries, now().cast_signed()],
        )
    }

    /// Notes that an attempt has made progress.
    pub fn touch(&self, set: u32, attempt: u32) -> Result<(), StoreError> {
        self.run_sql(
            "UPDATE sets SET moved_at = ?3 WHERE \"set\" = ?1 AND attempt = ?2",
            params![set, attempt, now().cast_signed()],
        )
    }

    /// Queues an attempt again: no worker has it any more.
    pub fn put_back(&self, set: u32, attempt: u32, deliveries: u32) -> Result<(), StoreError> {
        self.run_sql(
            "UPDATE sets SET state = 'queued', deliveries = ?3 WHERE \"set\" = ?1 AND attempt = ?2",
            params![set, attempt, deliveries],
        )
    }

    /// Gives up a set: it is not tried again in this process.
    pub fn give_up(&self, set: u32) -> Result<(), StoreError> {
        self.run_sql("UPDATE sets SET state = 'given_up', unit = '' WHERE \"set\" = ?1", params![set])
    }

    /// Retires a set, whose number is not used again: its outcome counts although matches are still to be played, or it was
    /// taken back.
    pub fn retire(&self, set: u32) -> Result<(), StoreError> {
        self.run_sql("UPDATE sets SET state = 'replaced', unit = '' WHERE \"set\" = ?1", params![set])
    }

    /// Closes a set that has an outcome that counts, or is not needed any more.
    pub fn close(&self, set: u32) -> Result<(), StoreError> {
        self.run_sql("DELETE FROM sets WHERE \"set\" = ?1", params![set])
    }

    /// The time by which the other times are stated: seconds since 1970.
    pub fn now() -> u64 {
        now()
    }

    pub fn set_worker(&self, worker: &WorkerRow) -> Result<(), StoreError> {
        let WorkerRow { name, machine, state, reason, is_connected, joined_at, sets, matches, .. } = worker;
        let joined_at = if *joined_at == 0 { now() } else { *joined_at };
        let WorkerRow { faults, lost, duplicates, refused, .. } = worker;
        self.run_sql(
            "INSERT OR REPLACE INTO workers VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                name,
                machine,
                state,
                reason,
                is_connected,
                joined_at.cast_signed(),
                now().cast_signed(),
                sets,
                matches,
                faults,
                lost,
                duplicates,
                refused
            ],
        )
    }

    /// Reads the workers, in the order of their names.
    pub fn workers(&self) -> Result<Vec<WorkerRow>, StoreError> {
        let worker = |row: &Row<'_>| {
            Ok(read_row!(row as WorkerRow {
                name, machine, state, reason, is_connected, sets, matches, faults, lost, duplicates,
                refused
            } with {
                joined_at: row.get::<_, i64>("joined_at")?.cast_unsigned(),
                seen_at: row.get::<_, i64>("seen_at")?.cast_unsigned(),
            }))
        };
        let mut query = self.db.prepare("SELECT * FROM workers ORDER BY name").map_err(failed)?;
        let workers = query.query_map([], worker);
        workers.and_then(Iterator::collect).map_err(failed)
    }

    /// Marks all workers as not connected: the process that plays the run has just started.
    pub fn disconnect_all(&self) -> Result<(), StoreError> {
        self.run_sql("UPDATE workers SET is_connected = 0", params![])
    }

    /// The requests of other processes to the one that plays the run.
    pub fn requests<R: Serialize + DeserializeOwned>(&self) -> Requests<'_, R> {
        Requests::of(&self.db, &SCHEMA)
    }

    fn run_sql(&self, sql: &str, params: &[&dyn ToSql]) -> Result<(), StoreError> {
        self.wait.retry("the database of workers", || {
            let run = self.db.prepare_cached(sql).and_then(|mut query| query.execute(params));
            run.map(drop).map_err(failed)
        })
    }
}
