//! What passes requests to the program of a game.

use std::fmt::Debug;

use referee_game::erased::{RulesFailed, RulesWait};

use crate::BadAnswer;

/// Passes requests to the program of a game, and its answers back.
pub trait Carrier: Debug + Send + Sync {
    /// What a thread cannot do while it asks.
    fn wait(&self) -> RulesWait;

    /// Sends a request, one line of JSON without its line break, and passes the answer to `accept`. If it accepts
    /// none, and another instance of the program could answer otherwise, asks one once more.
    ///
    /// # Errors
    /// If the last attempt failed: says what happened.
    fn ask(
        &self,
        request: &[u8],
        accept: &mut dyn FnMut(&[u8]) -> Result<(), BadAnswer>,
    ) -> Result<(), RulesFailed>;
}
