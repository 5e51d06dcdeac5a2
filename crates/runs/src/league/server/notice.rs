//! What an organiser should know.

use referee_bots::sandbox::Unavailable;
use referee_game::Wrong;

use super::submissions::missing_layers;

/// What the organiser of a league should know before it is played.
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
    ProgramName(#[from] Wrong),
}
