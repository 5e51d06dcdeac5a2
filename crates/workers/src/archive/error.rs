//! Defects of an archive.

use std::io;
use std::path::{Path, PathBuf};

use referee_files::NotInFolder;
use referee_game::Wrong;
use referee_game::printable::printable;

/// Reasons why an archive cannot be written or is rejected.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error("{} has more than {most} files and links", folder.display())]
    TooMany { folder: PathBuf, most: usize },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<NotInFolder> for ArchiveError {
    fn from(error: NotInFolder) -> ArchiveError {
        ArchiveError::Wrong(error.into())
    }
}

impl ArchiveError {
    pub fn wrong(what: impl Into<Wrong>) -> ArchiveError {
        ArchiveError::Wrong(what.into())
    }

    /// Reports an entry that is not allowed.
    pub(super) fn entry(path: &str, reason: &str) -> ArchiveError {
        ArchiveError::wrong(format!("`{}`: {reason}", printable(path)))
    }
}

/// Adds the path to an error.
pub(super) fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), Wrong::at(path.display().to_string(), error))
}
