//! Defects of an archive.

use std::io;
use std::path::{Path, PathBuf};

use referee_files::NotInFolder;

/// Reasons why an archive cannot be written or is rejected.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("`{}`: {reason}", referee_game::printable::printable(.path))]
    Entry { path: String, reason: String },
    #[error("{0}")]
    Invalid(String),
    #[error("{} has more than {most} files and links", folder.display())]
    TooMany { folder: PathBuf, most: usize },
    #[error(transparent)]
    NotInFolder(#[from] NotInFolder),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Adds the path to an error.
pub(super) fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
