//! Reasons why a workshop cannot be opened or played.

use std::io;
use std::path::{Path, PathBuf};

use referee_bots::StartError;
use referee_game::Wrong;
use referee_store::StoreError;

use crate::config::SandboxError;
use crate::regression::RegressionError;
use crate::submissions::{PackError, TrialError};
use crate::tournament::{ConfigError, TournamentError};

/// Reasons why a workshop cannot be opened or played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkshopError {
    #[error("{0}")]
    File(String),
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error(transparent)]
    Seed(Wrong),
    #[error("{}", path.display())]
    Path {
        path: PathBuf,
        #[source]
        why: io::Error,
    },
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{} contains a workshop: `referee workshop resume {}` continues it", .0.display(), .0.display())]
    Exists(PathBuf),
    #[error("{}: another process runs this workshop", .0.display())]
    Running(PathBuf),
    #[error("{} is not the directory of a workshop", path.display())]
    NoWorkshop {
        path: PathBuf,
        #[source]
        why: io::Error,
    },
    #[error("{}, line {line}", path.display())]
    Journal {
        path: PathBuf,
        line: usize,
        #[source]
        why: serde_json::Error,
    },
    #[error("the bot with which `{agent}` starts does not pass:\n{log}")]
    Start { agent: String, log: String },
    #[error(transparent)]
    NotStarted(#[from] StartError),
    #[error(transparent)]
    Trial(#[from] TrialError),
    #[error(transparent)]
    Tournament(#[from] TournamentError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Regression(#[from] RegressionError),
    #[error(transparent)]
    Pack(#[from] PackError),
}

impl WorkshopError {
    pub(super) fn at(path: &Path, why: io::Error) -> WorkshopError {
        WorkshopError::Path { path: path.to_owned(), why }
    }
}
