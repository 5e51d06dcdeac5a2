//! Why a tournament cannot be opened, played or verified.

use referee_store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

use referee_engine::runner::RunFailure;
use referee_game::Misconfigured;
use referee_match::record::OtherRules;
use referee_workers::carrier::CarrierError;
use referee_workers::packing::NotPacked;

use crate::config::WithSuggestion;
use crate::tournament::{ChangeError, ConfigError, NotOfTournament};
use crate::workers::WorkersError;

/// Why a tournament cannot be opened, played or verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TournamentError {
    /// Its configuration cannot be played.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A file cannot be read or written; the error names it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The database cannot be read or written; the error names it.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: {why}", path.display())]
    Path { path: PathBuf, why: StoreError },
    #[error("{} is not the directory of a tournament: it has no results.sqlite", .0.display())]
    NoTournament(PathBuf),
    #[error("{path} contains a tournament: `referee tournament resume {path}` continues it, --dir selects another folder",
        path = .0.display())]
    Exists(PathBuf),
    #[error("{}: another process is playing this tournament", .0.display())]
    Played(PathBuf),
    /// It has no valid schedule.
    #[error(transparent)]
    Schedule(Misconfigured),
    #[error("results: {0}")]
    Contradiction(#[from] Contradiction),
    /// Its game has other rules now.
    #[error(
        "the tournament was started with rules version {began} of {game}, but this program has version {here}"
    )]
    RulesVersion {
        /// The id of the game.
        game: String,
        /// The version with which it began.
        began: u32,
        /// The version of this program.
        here: u32,
    },
    /// The program of its game has changed.
    #[error(
        "{0}; the tournament began with those of the record, so restore them, or their copy in its directory `games`"
    )]
    Rules(#[from] OtherRules),
    #[error("the opening file {} has changed since the tournament began: restore it", .0.display())]
    OpeningsChanged(PathBuf),
    /// The program or a script of an entrant has changed.
    #[error(
        "the program or a script of `{0}` has changed since the tournament began: restore it, or use --accept-changed"
    )]
    EntrantChanged(String),
    #[error("{} is not a record of this tournament ({why}): move it away", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: NotOfTournament,
    },
    /// A change is not possible.
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error("a requested change: {0}")]
    Requested(#[from] serde_json::Error),
    /// Workers cannot play.
    #[error(transparent)]
    Workers(#[from] WorkersError),
    /// Workers cannot get files.
    #[error(transparent)]
    NotPacked(#[from] NotPacked),
    /// The id of a match is not one of a tournament.
    #[error(transparent)]
    Id(Misconfigured),
    /// The carrier of workers failed.
    #[error(transparent)]
    Carrier(#[from] CarrierError),
    /// Play ended early.
    #[error(transparent)]
    Ended(#[from] RunFailure),
}

/// What a database says that does not fit together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Contradiction {
    #[error("config: {0}")]
    Config(WithSuggestion),
    #[error("the seed cannot be read")]
    Seed,
    #[error("the game is {stored}, but {configured} in the configuration")]
    Game {
        /// As stored.
        stored: String,
        /// As configured.
        configured: &'static str,
    },
    #[error("the entrants are {}, but {} in the configuration", stored.join(", "), configured.join(", "))]
    Entrants {
        /// As stored.
        stored: Vec<String>,
        /// As configured.
        configured: Vec<String>,
    },
    #[error("the seats are not those of the configuration")]
    Seats,
}

impl TournamentError {
    pub(super) fn at(path: &Path, why: impl Into<StoreError>) -> TournamentError {
        TournamentError::Path { path: path.to_owned(), why: why.into() }
    }

    /// Whether what was asked for is wrong, not the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            TournamentError::Config(error) => error.is_usage(),
            TournamentError::Workers(error) => error.is_usage(),
            TournamentError::NoTournament(_)
            | TournamentError::Exists(_)
            | TournamentError::Schedule(_)
            | TournamentError::Rules(_)
            | TournamentError::OpeningsChanged(_)
            | TournamentError::EntrantChanged(_)
            | TournamentError::Change(_)
            | TournamentError::NotPacked(_) => true,
            TournamentError::Io(_)
            | TournamentError::Store(_)
            | TournamentError::Path { .. }
            | TournamentError::Played(_)
            | TournamentError::Contradiction(_)
            | TournamentError::RulesVersion { .. }
            | TournamentError::Record { .. }
            | TournamentError::Requested(_)
            | TournamentError::Id(_)
            | TournamentError::Carrier(_)
            | TournamentError::Ended(_) => false,
        }
    }
}
