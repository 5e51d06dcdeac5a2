//! The bot to check, and the terms of the check.

use std::time::Duration;

use referee_bots::{Command, Launch};
use referee_game::Catalog;
use referee_game::erased::Rules;

/// The configuration of a check.
#[derive(Debug)]
pub struct Check {
    pub command: Command,
    pub launch: Launch,
    pub catalog: Catalog,
    /// The only game to check; `None`: all games that the bot plays.
    pub game: Option<&'static dyn Rules>,
    /// The time limit for a decision.
    pub move_limit: Duration,
    /// Timeout from its start to `hello`.
    pub hello_limit: Duration,
    /// Timeout for its first `ready`.
    pub ready_limit: Duration,
    /// Timeout for `ready` in later matches.
    pub later_ready_limit: Duration,
    /// Whether the bot gets no list of legal moves.
    pub hide_legal: bool,
    /// Whether to check that the bot continues a match after its connection is lost.
    pub reconnects: bool,
}
