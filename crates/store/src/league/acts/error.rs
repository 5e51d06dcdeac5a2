//! Why acts are refused.

use referee_game::name::NameError;

use crate::error::StoreError;
use crate::league::{ChallengeError, OwnerError, SeasonError, SubmissionError, failed};

/// Why a request is not one of an owner who takes part.
#[derive(Debug, thiserror::Error)]
pub enum NotAdmitted {
    /// No owner has this token.
    #[error("no owner has this token: is it complete, and was it replaced by a new one?")]
    UnknownToken,
    /// No owner has the id that a proxy names.
    #[error("`{id}` has not signed up")]
    UnknownId {
        /// The id.
        id: String,
    },
    /// The organiser has to approve it.
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
    /// No bot with this name takes part.
    #[error("no bot called `{name}` takes part; `referee league list` lists them")]
    NoBot {
        /// The name.
        name: String,
    },
    /// The owner has no bot with this name that takes part.
    #[error("there is no bot of yours `{name}`")]
    NotOwn {
        /// The name.
        name: String,
    },
    /// The bot is listed in the file of the league.
    #[error("`{name}` is a program in the file of the league: remove it there, and rule on its matches")]
    OfFile {
        /// The name.
        name: String,
    },
    /// The same, to an owner.
    #[error("`{name}` is a program of the organiser")]
    OfOrganiser {
        /// The name.
        name: String,
    },
    /// The organiser has paused the bot of an owner.
    #[error("the organiser has paused `{name}`: ask the organiser to resume it")]
    PausedByOrganiser {
        /// The name.
        name: String,
    },
    /// The bot takes part already.
    #[error("`{name}` takes part already; `referee league revoke {name}`, then `add` gives it a new token")]
    TakesPart {
        /// The name.
        name: String,
    },
    /// The bot is one of an owner who has signed up.
    #[error(
        "`{name}` is a bot of the owner `{owner}`, who has signed up and reads what is private of it: choose another name, or \
         say --owner '{owner}'"
    )]
    OfOwner {
        /// The name.
        name: String,
        /// The id of the owner.
        owner: String,
    },
    /// A bot without an owner would have one who has signed up.
    #[error(
        "`{name}` is an owner who has signed up, and would read what is private of the bot: say --owner '{name}', or name \
         another owner"
    )]
    IsOwner {
        /// The name.
        name: String,
    },
    /// An owner gives a bot the name of another one.
    #[error("`{name}` takes part or took part: choose another name")]
    TookPart {
        /// The name.
        name: String,
    },
    /// Another bot has a name that looks alike.
    #[error("`{name}` looks like `{taken}`, which is taken; choose a name that cannot be confused with it")]
    LooksLike {
        /// The name.
        name: String,
        /// That of the other one.
        taken: String,
    },
    /// A display name is invalid, or looks like another one.
    #[error("`{name}`: {why}")]
    DisplayName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: NameError,
    },
    /// An owner has as many bots as may be.
    #[error("you have {limit} bots, and no more are allowed: retire one")]
    TooManyBots {
        /// The limit.
        limit: u32,
    },
    /// An owner has added as many bots as may be on one day.
    #[error("{limit} new bots a day are allowed, and you have added so many today")]
    TooManyNewBots {
        /// The limit.
        limit: u32,
    },
    /// A match cannot be asked for.
    #[error(transparent)]
    Challenge(ChallengeError),
    /// There is no owner with this id, or it has left.
    #[error("there is no owner `{id}`; `referee league owners` lists them")]
    NoOwner {
        /// The id.
        id: String,
    },
    /// The owner takes part already.
    #[error("`{id}` is there already; `referee league owner token {id}` makes a new token")]
    OwnerExists {
        /// The id.
        id: String,
    },
    /// A proxy vouches for the owner.
    #[error("your proxy signs you in: you have no token")]
    NoToken,
    /// An owner is not stored.
    #[error(transparent)]
    Owner(OwnerError),
    /// There is no invitation with this number.
    #[error("there is no invitation {id}; `referee league invitations` lists them")]
    NoInvitation {
        /// The number.
        id: u32,
    },
    /// There is no such match.
    #[error("there is no match {id} on {ladder}")]
    NoMatch {
        /// The id of the match.
        id: String,
        /// The ladder.
        ladder: String,
    },
    /// The match belongs to a season that has ended.
    #[error("{id} belongs to season {season}, which has ended: its standings stay as they are")]
    SeasonEnded {
        /// The id of the match.
        id: String,
        /// The name of the season.
        season: String,
    },
    /// There is no ruling with this number.
    #[error("there is no ruling {id}: `referee league rulings` lists them")]
    NoRuling {
        /// The number.
        id: u32,
    },
    /// The ruling was undone before.
    #[error("ruling {id} was undone by {user} at {at}")]
    Undone {
        /// Its number.
        id: u32,
        /// The user of the operating system.
        user: String,
        /// In UTC.
        at: String,
    },
    /// A bot has another display name than the ruling has given it.
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
