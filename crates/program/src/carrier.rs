//! Carries requests to the program of a game.

use std::fmt::Debug;

use referee_game::Wrong;
use referee_game::erased::{RulesFailed, RulesWait};

/// The attempts at an answer that failed before another instance of the program gave it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restarts {
    pub count: u32,
    /// The last failure other than a late answer, which a busy machine may have caused.
    pub failure: Option<Box<str>>,
}

/// Passes requests to the program of a game, and its answers back.
pub trait Carrier: Debug + Send + Sync {
    /// The reason for which a thread cannot ask.
    fn wait(&self) -> RulesWait;

    /// Sends a request, one line of JSON without its line break, and passes the answer to `accept`. If it accepts
    /// none, and another instance of the program could answer otherwise, asks one once more, and returns how often it did.
    ///
    /// # Errors
    /// If the last attempt failed: says what happened.
    fn ask(
        &self,
        request: &[u8],
        accept: &mut dyn FnMut(&[u8]) -> Result<(), Wrong>,
    ) -> Result<Restarts, RulesFailed>;
}
