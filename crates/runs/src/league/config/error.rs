//! Defects of a league's file.

use referee_bots::sandbox::Unavailable;
use referee_game::Wrong;

use crate::config::SandboxError;

/// A league that cannot be played as its file says. As text the keys have their names in the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeagueConfigError {
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error("program {program}")]
    Sandbox {
        program: String,
        #[source]
        why: SandboxError,
    },
    #[error(transparent)]
    Submitted(#[from] Unavailable),
}
