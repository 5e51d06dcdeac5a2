//! What passes requests to the program of a game.

use std::fmt::Debug;

use referee_game::erased::RulesFailed;

/// Passes requests to the program of a game, and its answers back.
pub trait Carrier: Debug + Send + Sync {
    /// Sends a request, one line of JSON without its line break, and passes the answer to `accept`, which says what is
    /// wrong with it. If there is no answer that `accept` takes, asks a fresh instance of the program once more.
    ///
    /// # Errors
    /// If the second attempt failed as well: says what happened.
    fn ask(
        &self,
        request: &[u8],
        accept: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(), RulesFailed>;
}
