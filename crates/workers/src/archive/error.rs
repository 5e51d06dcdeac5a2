//! What is wrong with an archive.

/// Why an archive cannot be written or is rejected.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// An entry is not allowed.
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
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
