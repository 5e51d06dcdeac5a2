//! Why a workshop cannot be opened or played.

use std::io;
use std::path::{Path, PathBuf};

use referee_bots::StartError;
use referee_store::StoreError;

use crate::config::{GameError, SandboxError, SeedError, WithSuggestion};
use crate::regression::RegressionError;
use crate::submissions::{PackError, TrialError};
use crate::tournament::{ConfigError, TournamentError};

/// Why a workshop cannot be opened or played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkshopError {
    /// Its file is not valid.
    #[error("{0}")]
    File(String),
    /// Its file is not valid.
    #[error(transparent)]
    Syntax(#[from] WithSuggestion),
    /// Its game cannot be found.
    #[error(transparent)]
    Game(#[from] GameError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error(transparent)]
    Seed(#[from] SeedError),
    #[error("{}: {why}", path.display())]
    Path { path: PathBuf, why: io::Error },
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{} contains a workshop: `referee workshop resume {}` continues it", .0.display(), .0.display())]
    Exists(PathBuf),
    #[error("{}: another process runs this workshop", .0.display())]
    Running(PathBuf),
    #[error("{} is not the directory of a workshop: {why}", path.display())]
    NoWorkshop { path: PathBuf, why: io::Error },
    #[error("{}, line {line}: {why}", path.display())]
    Journal { path: PathBuf, line: usize, why: serde_json::Error },
    #[error("the bot with which `{agent}` starts does not pass:\n{log}")]
    Start { agent: String, log: String },
    /// An agent cannot be started.
    #[error(transparent)]
    NotStarted(#[from] StartError),
    /// A version cannot be built by this machine.
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

    /// Whether what was asked for is wrong, not the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            WorkshopError::File(_)
            | WorkshopError::Syntax(_)
            | WorkshopError::Game(_)
            | WorkshopError::Exists(_)
            | WorkshopError::NoWorkshop { .. }
            | WorkshopError::Start { .. }
            | WorkshopError::Pack(_) => true,
            WorkshopError::Sandbox(error) => error.is_usage(),
            WorkshopError::Tournament(error) => error.is_usage(),
            WorkshopError::Config(error) => error.is_usage(),
            WorkshopError::Regression(error) => error.is_usage(),
            _ => false,
        }
    }
}
