//! What is wrong with an archive.

use std::io;
use std::path::{Path, PathBuf};

use referee_files::NotInFolder;

/// Why an archive cannot be written or is rejected.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("`{}`: {reason}", referee_game::printable::printable(.path))]
    Entry {
        /// Its path in the archive.
        path: String,
        /// What is wrong with it, and what is allowed.
        reason: String,
    },
    /// The archive as a whole is invalid.
    #[error("{0}")]
    Invalid(String),
    #[error("{} has more than {most} files and links", folder.display())]
    TooMany {
        /// The directory.
        folder: PathBuf,
        /// The limit.
        most: usize,
    },
    /// A file cannot be packed.
    #[error(transparent)]
    NotInFolder(#[from] NotInFolder),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Adds the path to an error.
pub(super) fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
