//! Errors of the databases.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use referee_files::WriteError;
use referee_game::Wrong;
use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, DiskFull};

use crate::rows::BadRow;

/// Reasons why a database cannot be read or written. [`StoreError::kind`] says whether waiting helps, see
/// [`referee_files::StorageWait`], and [`io::ErrorKind::InvalidData`] that a row is damaged.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{database}")]
    Sqlite {
        database: &'static str,
        kind: io::ErrorKind,
        /// The sentence of SQLite. The source of its error says the same once more in other words.
        #[source]
        why: Wrong,
    },
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{database}: version {version}, but this program supports {supported}")]
    Version { database: String, version: i64, supported: i64 },
    #[error("{} was removed or replaced during the run", .0.display())]
    Replaced(PathBuf),
    #[error("{0}")]
    Exists(String),
    #[error(transparent)]
    NotJson(#[from] serde_json::Error),
    #[error("{place}")]
    Row {
        /// The database, or its path, the table and the row.
        place: String,
        #[source]
        defect: Box<dyn Error + Send + Sync>,
    },
}

impl From<BadRow> for StoreError {
    fn from(row: BadRow) -> StoreError {
        let place = match row.id {
            Some(id) => format!("results: {id}"),
            None => "results".to_owned(),
        };
        StoreError::Row { place, defect: row.defect }
    }
}

impl From<StoreError> for Wrong {
    fn from(error: StoreError) -> Wrong {
        Wrong::of(&error)
    }
}

impl StoreError {
    /// Converts an error of SQLite with this database.
    pub(crate) fn of_sqlite(database: &'static str, error: &rusqlite::Error) -> StoreError {
        let kind = match error.sqlite_error_code() {
            Some(DiskFull) => io::ErrorKind::StorageFull,
            Some(DatabaseBusy | DatabaseLocked) => io::ErrorKind::ResourceBusy,
            _ => io::ErrorKind::Other,
        };
        StoreError::Sqlite { database, kind, why: error.to_string().into() }
    }

    /// The kind of error: that of a full disk, of a lock, of damage, ...
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            StoreError::Io(error) => error.kind(),
            StoreError::Sqlite { kind, .. } => *kind,
            StoreError::Version { .. } => io::ErrorKind::Unsupported,
            StoreError::Replaced(_) => io::ErrorKind::NotFound,
            StoreError::Exists(_) => io::ErrorKind::AlreadyExists,
            StoreError::Row { .. } | StoreError::NotJson(_) => io::ErrorKind::InvalidData,
        }
    }
}

impl WriteError for StoreError {
    fn kind(&self) -> io::ErrorKind {
        self.kind()
    }
}

/// A damaged row that is not a match.
pub fn damaged(place: impl Into<String>, defect: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
    StoreError::Row { place: place.into(), defect: defect.into() }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use referee_game::Chain;

    use super::*;

    #[test]
    fn full_disk_and_lock_are_waited_for_unlike_damage() {
        let of_sqlite = |code: i32| {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            StoreError::of_sqlite("league", &error).kind()
        };
        assert_eq!(of_sqlite(ffi::SQLITE_FULL), io::ErrorKind::StorageFull);
        assert_eq!(of_sqlite(ffi::SQLITE_BUSY), io::ErrorKind::ResourceBusy);
        assert_eq!(of_sqlite(ffi::SQLITE_LOCKED), io::ErrorKind::ResourceBusy);
        assert_eq!(of_sqlite(ffi::SQLITE_IOERR), io::ErrorKind::Other);
        let damaged = damaged("results", "m3 does not fit the seats");
        assert_eq!(damaged.kind(), io::ErrorKind::InvalidData);
        assert_eq!(Chain(&damaged).to_string(), "results: m3 does not fit the seats");
    }
}
