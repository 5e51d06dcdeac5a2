//! `referee rules`: prints the rules page of a game.

use std::io::Write;

use clap::Args as ClapArgs;

use crate::cli::find_game::find_game;
use crate::cli::output::stdout;
use crate::cli::{Exit, Failure};
use crate::game::Catalog;

/// Print the rules page of a game, as Markdown
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:
  referee rules checkers")]
pub(super) struct Args {
    /// The game: see `referee games`; or the directory of a game
    game: String,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let mut out = stdout();
    out.write_all(find_game(&args.game, catalog)?.0.meta().rules.as_bytes())?;
    out.flush()?;
    Ok(Exit::Done)
}
