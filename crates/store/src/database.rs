//! Functions that the databases share: their files, and how they are opened and created.

use std::path::Path;
use std::time::Duration;

use referee_files::Folder;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::error::StoreError;

/// The endings of the files of a database, some of which SQLite writes beside it.
const ENDINGS: [&str; 4] = ["", "-journal", "-shm", "-wal"];

/// The names of the files of a database, which need not all exist.
pub fn database_files(name: &str) -> [String; 4] {
    ENDINGS.map(|ending| format!("{name}{ending}"))
}

/// Checks the files of a database before SQLite opens them: it would follow links, and wait for the writer of a FIFO.
///
/// # Errors
/// If one of their names belongs to something else than a file.
pub(super) fn check_database(folder: &Folder, name: &str) -> Result<(), StoreError> {
    Ok(database_files(name).iter().try_for_each(|name| folder.has_file(name).map(drop))?)
}

/// The time for which a statement waits for writers of other processes.
pub const BUSY: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Schema {
    pub name: &'static str,
    /// The number in `PRAGMA user_version`.
    pub version: i64,
    /// The statements that create its tables.
    pub tables: &'static [&'static str],
}

impl Schema {
    pub fn failed(&self, error: rusqlite::Error) -> StoreError {
        StoreError::of_sqlite(self.name, &error)
    }

    /// Connects to a file that exists. Readers do not block, and writes survive the end of the process: it has a write-ahead log.
    /// With `is_durable` they survive a power failure, too.
    pub fn connect(&self, path: &Path, is_durable: bool) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let db = Connection::open_with_flags(path, flags)?;
            db.busy_timeout(BUSY)?;
            db.pragma_update(None, "journal_mode", "wal")?;
            db.pragma_update(None, "synchronous", if is_durable { "full" } else { "normal" })?;
            Ok(db)
        };
        open().map_err(|error| self.failed(error))
    }

    pub fn create(&self, db: &Connection) -> rusqlite::Result<()> {
        self.tables.iter().try_for_each(|tables| db.execute_batch(tables))?;
        db.pragma_update(None, "user_version", self.version)
    }

    /// Creates the tables and `rows` in a new database. One that is not new has to have this version.
    pub fn create_if_new(
        &self,
        db: &mut Connection,
        rows: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let create = |db: &mut Connection| {
            if version(db)? != 0 {
                return Ok(());
            }
            let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // The tables may have been created by another process meanwhile.
            if version(&transaction)? == 0 {
                self.create(&transaction)?;
                rows(&transaction)?;
            }
            transaction.commit()
        };
        create(db).map_err(|error| self.failed(error))?;
        self.check(db)
    }

    /// Checks the version of a database.
    pub fn check(&self, db: &Connection) -> Result<(), StoreError> {
        let (found, supported) = (version(db).map_err(|error| self.failed(error))?, self.version);
        if found == supported {
            return Ok(());
        }
        let database = db.path().filter(|path| !path.is_empty()).unwrap_or(self.name).to_owned();
        Err(StoreError::Version { database, version: found, supported })
    }
}

fn version(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// A number that changes when another connection has changed the database.
pub fn data_version(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("PRAGMA data_version", [], |row| row.get(0))
}
