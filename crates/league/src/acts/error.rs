//! Why acts are refused.

use referee_game::name::NameError;

use crate::{ChallengeError, OwnerError, SeasonError, SubmissionError, failed};
use referee_store::{NotInForce, StoreError};

/// Why a request is not one of an owner who takes part.
#[derive(Debug, thiserror::Error)]
pub enum NotAdmitted {
    #[error("no owner has this token: is it complete, and was it replaced by a new one?")]
    UnknownToken,
    #[error("`{id}` has not signed up")]
    UnknownId { id: String },
    #[error("the organiser has not approved you yet")]
    Waiting,
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for NotAdmitted {
    fn from(error: rusqlite::Error) -> NotAdmitted {
        NotAdmitted::Store(failed(error))
    }
}

/// Why an act is refused.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// It is not the act of an owner who takes part.
    #[error(transparent)]
    NotAdmitted(NotAdmitted),
    #[error("no bot called `{name}` takes part; `referee league list` lists them")]
    NoBot { name: String },
    #[error("there is no bot of yours `{name}`")]
    NotOwn { name: String },
    #[error("`{name}` is a program in the file of the league: remove it there, and rule on its matches")]
    OfFile { name: String },
    #[error("`{name}` is a program of the organiser")]
    OfOrganiser { name: String },
    #[error("the organiser has paused `{name}`: ask the organiser to resume it")]
    PausedByOrganiser { name: String },
    #[error("`{name}` takes part already; `referee league revoke {name}`, then `add` gives it a new token")]
    TakesPart { name: String },
    /// The bot is one of an owner who has signed up.
    #[error(
        "`{name}` is a bot of the owner `{owner}`, who has signed up and reads what is private of it: choose another name, or \
         say --owner '{owner}'"
    )]
    OfOwner {
        name: String,
        /// The id of the owner.
        owner: String,
    },
    /// A bot without an owner would have one who has signed up.
    #[error(
        "`{name}` is an owner who has signed up, and would read what is private of the bot: say --owner '{name}', or name \
         another owner"
    )]
    IsOwner { name: String },
    #[error("`{name}` takes part or took part: choose another name")]
    TookPart { name: String },
    #[error("`{name}` looks like `{taken}`, which is taken; choose a name that cannot be confused with it")]
    LooksLike {
        name: String,
        /// That of the other one.
        taken: String,
    },
    #[error("`{name}`: {why}")]
    DisplayName {
        name: String,
        /// What is wrong with it.
        why: NameError,
    },
    #[error("you have {limit} bots, and no more are allowed: retire one")]
    TooManyBots { limit: u32 },
    #[error("{limit} new bots a day are allowed, and you have added so many today")]
    TooManyNewBots { limit: u32 },
    /// A match cannot be asked for.
    #[error(transparent)]
    Challenge(ChallengeError),
    #[error("there is no owner `{id}`; `referee league owners` lists them")]
    NoOwner { id: String },
    #[error("`{id}` is there already; `referee league owner token {id}` makes a new token")]
    OwnerExists { id: String },
    #[error("your proxy signs you in: you have no token")]
    NoToken,
    /// An owner is not stored.
    #[error(transparent)]
    Owner(OwnerError),
    #[error("there is no invitation {id}; `referee league invitations` lists them")]
    NoInvitation {
        /// The number.
        id: u32,
    },
    #[error("there is no match {id} on {ladder}")]
    NoMatch {
        /// The id of the match.
        id: String,
        ladder: String,
    },
    #[error("{id} belongs to season {season}, which has ended: its standings stay as they are")]
    SeasonEnded {
        /// The id of the match.
        id: String,
        /// The name of the season.
        season: String,
    },
    #[error("`{name}` does not play {id}: its players are {}", players.join(" and "))]
    NotOfMatch {
        name: String,
        /// The id of the match.
        id: String,
        players: Vec<String>,
    },
    #[error(transparent)]
    NotInForce(#[from] NotInForce),
    #[error("ruling {id}: the bot has been renamed again since")]
    RenamedAgain {
        /// The number of the ruling.
        id: u32,
    },
    /// A submission cannot be decided.
    #[error(transparent)]
    Submission(#[from] SubmissionError),
    /// The season does not end.
    #[error(transparent)]
    Season(#[from] SeasonError),
    /// The database cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ActError {
    /// Whether the state of the league does not allow the act; otherwise the database cannot be used.
    pub fn is_usage(&self) -> bool {
        !matches!(
            self,
            ActError::Store(_)
                | ActError::Submission(SubmissionError::Store(_))
                | ActError::Season(SeasonError::Storage(_))
        )
    }
}

impl From<ChallengeError> for ActError {
    fn from(error: ChallengeError) -> ActError {
        match error {
            ChallengeError::Store(error) => error.into(),
            error => ActError::Challenge(error),
        }
    }
}

impl From<NotAdmitted> for ActError {
    fn from(why: NotAdmitted) -> ActError {
        match why {
            NotAdmitted::Store(error) => error.into(),
            why => ActError::NotAdmitted(why),
        }
    }
}

impl From<OwnerError> for ActError {
    fn from(error: OwnerError) -> ActError {
        match error {
            OwnerError::Store(error) => error.into(),
            error => ActError::Owner(error),
        }
    }
}

impl From<rusqlite::Error> for ActError {
    fn from(error: rusqlite::Error) -> ActError {
        ActError::Store(failed(error))
    }
}
