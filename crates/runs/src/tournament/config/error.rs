//! Defects of a tournament file.

use crate::config::{ListenError, OpeningsError, SandboxError};
use referee_game::Wrong;

/// A tournament file that cannot be played. As text the keys have their names in the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error(transparent)]
    NotWritten(#[from] toml::ser::Error),
    #[error(transparent)]
    Openings(#[from] OpeningsError),
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

impl From<ConfigError> for Wrong {
    fn from(error: ConfigError) -> Wrong {
        Wrong::of(&error)
    }
}
