//! `referee rules`: prints the rules page of a game.

use std::io::Write;

use clap::Args as ClapArgs;

use crate::cli::options::game;
use crate::cli::output::stdout;
use crate::cli::{Exit, Failure};

/// Print the rules page of a game, as Markdown
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:
  referee rules checkers")]
pub(super) struct Args {
    /// The game: see `referee games`
    game: String,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut out = stdout();
    out.write_all(game(&args.game)?.meta().rules.as_bytes())?;
    out.flush()?;
    Ok(Exit::Done)
}
