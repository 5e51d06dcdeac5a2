//! `referee mcp`: offers a seat to an agent through the Model Context Protocol.

#[cfg(feature = "mcp")]
mod play;
#[cfg(feature = "mcp")]
mod server;

use clap::Args as ClapArgs;

use crate::cli::seat::SeatOptions;
use crate::cli::{Exit, Failure};
use crate::game::Catalog;

/// Offer a seat in a match to an agent, as a server of the Model Context Protocol (MCP)
///
/// The agent's program starts this command and speaks MCP on its standard input and output. The tools are `rules`,
/// `wait_for_turn`, `move` and `resign`. One process plays one match. An agent that leaves before its end has the fault
/// `exited`.
#[derive(Debug, ClapArgs)]
#[command(mut_arg("seat", |seat| seat.help("The agent's seat; seat 0 is that of the first bot in `referee play`")))]
#[command(after_help = "Examples:
  referee mcp checkers 'python3 bots/python/greedy_bot.py'
  referee mcp jeex ./bot --seat 1 --record records

In the configuration of the agent's program:
  {\"mcpServers\": {\"checkers\": {\"command\": \"referee\", \"args\": [\"mcp\", \"checkers\", \"./bot\"]}}}")]
pub(super) struct Args {
    #[command(flatten)]
    seat: SeatOptions,
}

/// Plays the match.
#[cfg(feature = "mcp")]
pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    play::run(args.seat, catalog)
}

/// The error of a program without MCP.
#[cfg(not(feature = "mcp"))]
pub(super) fn run(_args: Args, _catalog: &Catalog) -> Result<Exit, Failure> {
    Err(Failure::usage("this program was built without MCP: `cargo install --features mcp`"))
}
