//! `referee mcp`: what an agent can do, through the Model Context Protocol: play a seat, and write a bot.

#[cfg(feature = "mcp")]
mod play;
#[cfg(feature = "mcp")]
mod server;

use std::path::PathBuf;

use clap::Args as ClapArgs;

#[cfg(feature = "mcp")]
use crate::cli::bots::with_bots;
use crate::cli::exit::{Exit, Failure};
#[cfg(feature = "mcp")]
use crate::cli::mcp::server::ToolServer;
use crate::cli::seat::SeatOptions;
#[cfg(feature = "mcp")]
use crate::cli::workshop::socket;
use crate::game::Catalog;

/// Let an agent play a seat or write a bot, as a server of the Model Context Protocol (MCP)
///
/// The agent's program starts this command and speaks MCP on its standard input and output. The tools of a seat are `rules`,
/// `wait_for_turn`, `move` and `resign`. One process plays one match. An agent that leaves before its end has the fault
/// `exited`.
///
/// With --bot the tools are `check`, `play`, `regress` and `lost_match`, with which the agent tests the bot in a directory that it
/// edits, and `sit`, with which it takes a seat against one of the bots as often as it likes. With --workshop these are the
/// tools of the workshop that has started the agent, with its budget.
#[derive(Debug, ClapArgs)]
#[command(mut_arg("seat", |seat| seat.help("The agent's seat; seat 0 is that of the first bot in `referee play`")))]
#[command(after_help = "Examples:
  referee mcp checkers 'python3 bots/python/greedy_bot.py'
  referee mcp jeex ./bot --seat 1 --record records
  referee mcp checkers 'python3 bots/python/greedy_bot.py' --bot ./mybot
  referee mcp --workshop

In the configuration of the agent's program:
  {\"mcpServers\": {\"checkers\": {\"command\": \"referee\", \"args\": [\"mcp\", \"checkers\", \"./bot\"]}}}")]
pub(super) struct Args {
    #[command(flatten)]
    seat: SeatOptions,
    /// The directory of the bot that the agent writes, with a `bot.toml`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["seat", "record"])]
    bot: Option<PathBuf>,
    /// Pass on the tools of the workshop that has started the agent: it listens on this socket [default: REFEREE_WORKSHOP, which some
    /// clients do not pass on]
    #[arg(long, value_name = "SOCKET", num_args = 0..=1, exclusive = true)]
    workshop: Option<Option<PathBuf>>,
}

#[cfg(feature = "mcp")]
pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let Args { seat, bot, workshop } = args;
    // Versions and practice are gone with the process.
    let place;
    let server = match (workshop, bot) {
        (Some(given), _) => ToolServer::of_workshop(given.map_or_else(socket, Ok)?),
        (None, Some(bot)) => {
            place = tempfile::Builder::new().prefix("referee-mcp-").tempdir().map_err(Failure::cannot_run)?;
            ToolServer::of_bench(seat.bench(bot, place.path(), catalog)?)
        }
        (None, None) => return play::run(seat, catalog),
    };
    with_bots(|| server.serve()).map_err(Failure::cannot_run)?;
    Ok(Exit::Done)
}

/// The error of a program without MCP.
#[cfg(not(feature = "mcp"))]
pub(super) fn run(_args: Args, _catalog: &Catalog) -> Result<Exit, Failure> {
    Err(Failure::usage("this program was built without MCP: `cargo install --features mcp`"))
}
