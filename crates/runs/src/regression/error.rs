//! Why a regression cannot be played or judged.

use referee_game::Misconfigured;
use referee_game::catalog::UnknownGame;
use referee_match::record::OtherRules;
use referee_stats::schedule::ScheduleError;
use referee_workers::packing::NotPacked;
use serde_json::Value;

use crate::regression::BadResults;

/// Why a regression cannot be played or judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegressionError {
    /// There is no such game.
    #[error(transparent)]
    Game(#[from] UnknownGame),
    /// The game has other rules.
    #[error(transparent)]
    Rules(#[from] OtherRules),
    /// The settings are not valid.
    #[error(transparent)]
    Setting(#[from] Misconfigured),
    /// A result does not fit the schedule.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    #[error("the results of set {0} do not fit the run")]
    Misfit(u32),
    /// The results file cannot be used.
    #[error(transparent)]
    Results(#[from] BadResults),
    /// Workers cannot get files.
    #[error(transparent)]
    NotPacked(#[from] NotPacked),
}

impl RegressionError {
    /// Whether what was asked for is wrong, not the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            RegressionError::Results(error) => error.is_usage(),
            _ => true,
        }
    }
}

/// How the setup of a run differs from another one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OtherSetup {
    #[error("another seed")]
    Seed,
    #[error("{name} {is}, not {should}")]
    Option {
        /// Its name in the results file.
        name: String,
        is: Value,
        /// That of the other run.
        should: Value,
    },
}

/// Why a run does not go on from the sets of another one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupDiffers {
    #[error("this run has {0}")]
    Other(#[from] OtherSetup),
    /// The game has other rules.
    #[error(transparent)]
    Rules(#[from] OtherRules),
    #[error("{0}; --accept-changed continues with the programs as they are now")]
    Changed(String),
}
