//! Why submissions are not taken.

use referee_game::name::Likeness;

use super::SubmissionState;
use crate::{NotAdmitted, failed};

use referee_store::StoreError;

/// Why a submission is not taken.
#[derive(Debug, thiserror::Error)]
pub enum SubmissionError {
    /// It does not come from an owner who takes part.
    #[error(transparent)]
    NotAdmitted(NotAdmitted),
    #[error("undecided submissions of an owner: {most} at most; wait until one of yours is decided")]
    Waiting {
        /// The limit.
        most: u32,
    },
    #[error("submissions of an owner a day (UTC): {most} at most; try again tomorrow")]
    PerDay {
        /// The limit.
        most: u32,
    },
    #[error("uploads of an owner that fail a day (UTC): {most} at most; try again tomorrow")]
    FailedUploads {
        /// The limit.
        most: u32,
    },
    /// The submissions of the owner need as much space as they may.
    #[error(
        "with it your programs need more than {} MiB: retire a bot, or wait until versions that were replaced are deleted, a day \
         later",
        .most >> 20
    )]
    OwnerSpace {
        /// The limit, in bytes.
        most: u64,
    },
    #[error("with it the programs of this league need more than {} MiB: ask the organiser", .most >> 20)]
    Space {
        /// The limit, in bytes.
        most: u64,
    },
    #[error("bot.toml: the name {}: choose another one", Likeness::of(.name, .taken))]
    NameTaken {
        /// The name in `bot.toml`.
        name: String,
        /// What it looks like.
        taken: String,
    },
    #[error("bot.toml: `{name}` would be another bot of yours, and {most} are allowed: retire one")]
    Bots {
        /// The name in `bot.toml`.
        name: String,
        /// The limit.
        most: u32,
    },
    #[error("the owner has left")]
    OwnerLeft,
    #[error("bot.toml: `{name}` takes part no longer: ask the organiser, or choose another name")]
    Revoked {
        /// The name in `bot.toml`.
        name: String,
    },
    #[error("submission {id} is {state}; only one that waits for approval can be decided")]
    NotWaiting {
        /// Its number.
        id: u32,
        state: SubmissionState,
    },
    #[error("there is no submission {id}; `referee league submissions` lists them")]
    Unknown {
        /// The number.
        id: u32,
    },
    /// The database or a file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<NotAdmitted> for SubmissionError {
    fn from(why: NotAdmitted) -> SubmissionError {
        match why {
            NotAdmitted::Store(error) => error.into(),
            why => SubmissionError::NotAdmitted(why),
        }
    }
}

impl From<rusqlite::Error> for SubmissionError {
    fn from(error: rusqlite::Error) -> SubmissionError {
        SubmissionError::Store(failed(error))
    }
}

/// Why an archive is not taken in.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    #[error("the archive has more than {most_bytes} bytes, the limit")]
    TooLarge {
        /// The limit.
        most_bytes: u64,
    },
    #[error("the request has no body: an archive is expected, as `referee submit` sends it")]
    Empty,
    /// The machine of the league cannot confine programs.
    #[error("{0}")]
    Unavailable(String),
    /// The league does not take it.
    #[error(transparent)]
    Refused(#[from] SubmissionError),
    /// It cannot be stored.
    #[error(transparent)]
    Storage(#[from] StoreError),
}

impl From<std::io::Error> for IntakeError {
    fn from(error: std::io::Error) -> IntakeError {
        IntakeError::Storage(error.into())
    }
}
