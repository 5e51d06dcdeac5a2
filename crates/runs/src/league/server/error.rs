//! Reasons why a league is not played.

use referee_game::Wrong;
use referee_league::{ActError, NotCounted};
use referee_store::StoreError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use referee_bots::sandbox::{InvalidSandbox, Unavailable};
use referee_engine::runner::RunFailure;
use referee_workers::carrier::CarrierError;
use referee_workers::packing::NotPacked;

use super::submissions::missing_layers;
use crate::league::config::{LeagueConfigError, ProgramName};
use crate::workers::WorkersError;

/// Reasons why a league cannot be opened, played or verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeagueError {
    #[error(transparent)]
    Config(#[from] LeagueConfigError),
    #[error(transparent)]
    Programs(#[from] ActError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: another process plays this league", .0.display())]
    Played(PathBuf),
    #[error("ladder {ladder}")]
    Ladder {
        ladder: String,
        #[source]
        why: Box<LadderFailure>,
    },
    #[error(transparent)]
    Workers(#[from] WorkersError),
    #[error(transparent)]
    NotPacked(#[from] NotPacked),
    #[error(
        "[submissions] on = \"workers\" needs workers: --workers-listen or --workers, or [workers] in the file"
    )]
    NoWorkers,
    #[error("[sandbox] limits")]
    Limits(#[source] InvalidSandbox),
    #[error("owners: listen {address}")]
    Owners {
        address: SocketAddr,
        #[source]
        why: io::Error,
    },
    #[error("a thread panicked")]
    Panicked,
}

impl LeagueError {
    pub(in crate::league) fn of_ladder(ladder: &str, why: impl Into<LadderFailure>) -> LeagueError {
        LeagueError::Ladder { ladder: ladder.to_owned(), why: Box::new(why.into()) }
    }
}

/// Reasons why a ladder cannot be opened or played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LadderFailure {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("another process plays it")]
    Locked,
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error(transparent)]
    NotCounted(#[from] NotCounted),
    #[error("watch {address}")]
    Watch {
        address: SocketAddr,
        #[source]
        why: io::Error,
    },
    #[error(transparent)]
    NotPacked(#[from] NotPacked),
    #[error(transparent)]
    Carrier(#[from] CarrierError),
    #[error(transparent)]
    Ended(#[from] RunFailure),
}

/// A remark for the organiser of a league before it is played.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeagueNotice {
    #[error(
        "programs that are handed in are built, checked and played on workers: this machine lacks {} of the sandbox `strict`",
        missing_layers(.0)
    )]
    BuiltOnWorkers(Unavailable),
    #[error("no programs are taken in until the machine has all layers: {0}")]
    NoneTaken(Unavailable),
    #[error(transparent)]
    ProgramName(#[from] ProgramName),
}
