//! Reasons why a regression cannot be played or judged.

use referee_game::catalog::UnknownGame;
use referee_game::{Misconfigured, Wrong};
use referee_match::record::OtherRules;
use referee_stats::schedule::ScheduleError;
use referee_workers::packing::NotPacked;

use crate::regression::BadResults;

/// Reasons why a regression cannot be played or judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegressionError {
    #[error(transparent)]
    Game(#[from] UnknownGame),
    #[error(transparent)]
    Rules(#[from] OtherRules),
    #[error(transparent)]
    Setting(#[from] Misconfigured),
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    #[error("the results of set {0} do not fit the run")]
    Misfit(u32),
    #[error(transparent)]
    Results(#[from] BadResults),
    #[error(transparent)]
    NotPacked(#[from] NotPacked),
}

/// Reasons why a run does not go on from the sets of another one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupDiffers {
    #[error("this run has {0}")]
    Other(Wrong),
    #[error(transparent)]
    Rules(#[from] OtherRules),
    #[error("{0}")]
    Changed(String),
}
