//! Notices for the organiser.

use referee_bots::sandbox::Unavailable;
use referee_game::Wrong;

/// A notice before a league is played.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeagueNotice {
    #[error(
        "programs that are handed in are built, checked and played on workers: this machine lacks {missing} of the sandbox `strict`"
    )]
    BuiltOnWorkers { missing: String },
    #[error("no programs are taken in until the machine has all layers")]
    NoneTaken(#[source] Unavailable),
    #[error(transparent)]
    ProgramName(#[from] Wrong),
}
