//! Reasons why runs end before their matches.

use std::error::Error;

use referee_game::Wrong;

use crate::runner::run_event::NoShow;

/// Reasons why a run ends before its matches.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct RunFailure(Wrong);

impl RunFailure {
    pub fn panicked() -> RunFailure {
        Wrong::new("a thread panicked").into()
    }

    /// An error of what receives the events, or plays the matches elsewhere.
    pub fn other(error: impl Error) -> RunFailure {
        Wrong::of(&error).into()
    }
}

impl<E: Into<Wrong>> From<E> for RunFailure {
    fn from(why: E) -> RunFailure {
        RunFailure(why.into())
    }
}

impl From<NoShow> for Wrong {
    fn from(no_show: NoShow) -> Wrong {
        no_show.why.into()
    }
}

/// Reports that no thread can be started, for this reason.
pub(super) fn no_thread(error: std::io::Error) -> RunFailure {
    Wrong::at("a thread cannot be started", error).into()
}
