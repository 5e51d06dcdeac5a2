//! The files of an SQLite database.

use referee_files::Folder;
use rusqlite::Connection;

use crate::error::StoreError;

/// What SQLite appends to the name of a database for the files beside it.
const ENDINGS: [&str; 4] = ["", "-journal", "-shm", "-wal"];

/// The names of the files of a database, which need not all exist.
pub(super) fn database_files(name: &str) -> [String; 4] {
    ENDINGS.map(|ending| format!("{name}{ending}"))
}

/// Checks the files of a database before SQLite opens them: it would follow links, and wait for the writer of a FIFO.
///
/// # Errors
/// If one of their names belongs to something else than a file.
pub(super) fn check_database(folder: &Folder, name: &str) -> Result<(), StoreError> {
    Ok(database_files(name).iter().try_for_each(|name| folder.has_file(name).map(drop))?)
}

/// A number that changes when another connection has changed the database.
pub(super) fn data_version(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("PRAGMA data_version", [], |row| row.get(0))
}
