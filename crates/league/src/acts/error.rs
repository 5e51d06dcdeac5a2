//! Reasons why acts are refused.

use std::fmt;

use referee_game::Wrong;
use referee_store::StoreError;

use crate::failed;

/// Reasons why the league does not do something.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    #[error("{why}")]
    Refused { kind: Refusal, why: String },
    #[error("`{bot}` is a bot of the owner `{owner}`, who has signed up and reads what is private of it")]
    BotOfOwner { bot: String, owner: String },
    #[error("`{0}` is an owner who has signed up, and would read what is private of the bot")]
    NamedAsOwner(String),
    #[error("no bot called `{0}` takes part")]
    NoOpponent(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request is not that of an owner.
    NotOwner,
    NotAllowed,
    NotFound,
    Invalid,
    /// The state of the league does not allow it.
    Conflict,
    /// A limit per day, or per owner at a time.
    TooMany,
    TooLarge,
    NoSpace,
    /// The machine of the league cannot do it.
    Unavailable,
}

impl Refusal {
    /// A refusal of this kind with this reason.
    pub fn because(self, why: impl fmt::Display) -> ActError {
        ActError::Refused { kind: self, why: why.to_string() }
    }
}

impl ActError {
    pub fn unknown_token() -> ActError {
        Refusal::NotOwner
            .because("no owner has this token: is it complete, and was it replaced by a new one?")
    }

    pub fn no_submission(id: u32) -> ActError {
        Refusal::Conflict
            .because(format_args!("there is no submission {id}; `referee league submissions` lists them"))
    }

    pub(crate) fn no_bot(name: &str) -> ActError {
        Refusal::Conflict
            .because(format_args!("no bot called `{name}` takes part; `referee league list` lists them"))
    }
}

impl From<Wrong> for ActError {
    fn from(why: Wrong) -> ActError {
        Refusal::Conflict.because(why)
    }
}

impl From<std::io::Error> for ActError {
    fn from(error: std::io::Error) -> ActError {
        ActError::Store(error.into())
    }
}

impl From<rusqlite::Error> for ActError {
    fn from(error: rusqlite::Error) -> ActError {
        ActError::Store(failed(error))
    }
}
