//! The first step: an archive is unpacked.

use std::fs::File;
use std::io;
use std::path::Path;

use referee_bots::StartError;
use referee_workers::archive::{ArchiveError, ArchiveId, ArchiveLimits, unpack};

use super::{BotFile, BotFileError, BuildFailure};

/// Why a submission does not pass.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// Its archive is refused.
    #[error("the archive is refused: {0}")]
    Archive(ArchiveError),
    /// `bot.toml` is missing or invalid.
    #[error("bot.toml: {0}")]
    BotFile(#[from] BotFileError),
    /// It cannot be built.
    #[error("the build failed: {0}")]
    Build(#[from] BuildFailure),
    /// The machine cannot do what is needed; that is no defect of the submission.
    #[error(transparent)]
    Machine(#[from] io::Error),
    /// The machine cannot start the build; that is no defect of the submission.
    #[error(transparent)]
    NotStarted(#[from] StartError),
}

impl From<ArchiveError> for TrialError {
    fn from(error: ArchiveError) -> TrialError {
        match error {
            ArchiveError::Io(error) => TrialError::Machine(error),
            error => TrialError::Archive(error),
        }
    }
}

/// Unpacks the archive of a bot into an empty directory, and reads its `bot.toml`.
///
/// # Errors
/// If the archive or `bot.toml` is refused; I/O errors.
pub fn open_archive(
    archive: &File,
    id: &ArchiveId,
    directory: &Path,
    limits: ArchiveLimits,
) -> Result<BotFile, TrialError> {
    unpack(archive, id, directory, limits)?;
    BotFile::read(directory).map_err(|error| match error {
        BotFileError::Unreadable(error) => BotFileError::Unreadable(strip(&error)).into(),
        error => error.into(),
    })
}

/// The error without a path.
fn strip(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let reason = text.rsplit(": ").next().unwrap_or_default().to_owned();
    io::Error::new(error.kind(), reason)
}
