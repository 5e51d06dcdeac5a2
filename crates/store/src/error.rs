//! Errors of the databases.

use std::io;

use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, DiskFull};

/// The error of a database with this name. Its kind says whether waiting helps, see [`referee_files::StorageWait`].
pub(super) fn storage_error(name: &str, error: &rusqlite::Error) -> io::Error {
    let kind = match error.sqlite_error_code() {
        Some(DiskFull) => io::ErrorKind::StorageFull,
        Some(DatabaseBusy | DatabaseLocked) => io::ErrorKind::ResourceBusy,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, format!("{name}: {error}"))
}
