//! Reasons why a tournament cannot be opened, played or verified.

use referee_store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

use referee_engine::runner::RunFailure;
use referee_game::{Misconfigured, Wrong};
use referee_match::record::OtherRules;
use referee_report::site::SiteError;
use referee_workers::carrier::CarrierError;
use referee_workers::packing::NotPacked;

use crate::tournament::{ConfigError, NotOfTournament};
use crate::workers::WorkersError;

/// Reasons why a tournament cannot be opened, played or verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TournamentError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}", path.display())]
    Path {
        path: PathBuf,
        #[source]
        why: StoreError,
    },
    #[error("{} is not the directory of a tournament: it has no results.sqlite", .0.display())]
    NoTournament(PathBuf),
    #[error("{path} contains a tournament: `referee tournament resume {path}` continues it, --dir selects another folder",
        path = .0.display())]
    Exists(PathBuf),
    #[error("{}: another process is playing this tournament", .0.display())]
    Played(PathBuf),
    #[error(transparent)]
    Schedule(Misconfigured),
    #[error("results")]
    Contradiction(#[source] Wrong),
    #[error(
        "the tournament was started with rules version {began} of {game}, but this program has version {here}"
    )]
    RulesVersion { game: String, began: u32, here: u32 },
    #[error(
        "{0}; the tournament began with those of the record, so restore them, or their copy in its directory `games`"
    )]
    Rules(OtherRules),
    #[error("the opening file {} has changed since the tournament began: restore it", .0.display())]
    OpeningsChanged(PathBuf),
    #[error(
        "the program or a script of `{0}` has changed since the tournament began: restore it, or use --accept-changed"
    )]
    EntrantChanged(String),
    #[error("{} is not a record of this tournament ({why}): move it away", path.display())]
    Record { path: PathBuf, why: NotOfTournament },
    #[error(transparent)]
    Change(#[from] Wrong),
    #[error("a requested change")]
    Requested(#[from] serde_json::Error),
    #[error(transparent)]
    Workers(#[from] WorkersError),
    #[error(transparent)]
    Site(#[from] SiteError),
    #[error(transparent)]
    NotPacked(#[from] NotPacked),
    #[error(transparent)]
    Id(Misconfigured),
    #[error(transparent)]
    Carrier(#[from] CarrierError),
    #[error(transparent)]
    Ended(#[from] RunFailure),
}

impl TournamentError {
    pub(super) fn at(path: &Path, why: impl Into<StoreError>) -> TournamentError {
        TournamentError::Path { path: path.to_owned(), why: why.into() }
    }
}
