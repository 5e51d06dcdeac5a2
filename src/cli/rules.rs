//! `referee rules`: prints the rules page of a game.

use std::io::Write;

use clap::Args as ClapArgs;

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::find_game;
use crate::cli::output::stdout;
use crate::game::Catalog;
use crate::game::disguise::{DISGUISED, DISGUISED_RULES};

/// Print the rules page of a game, as Markdown
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee rules checkers
  referee rules checkers --short")]
pub(super) struct Args {
    /// The game: see `referee games`; or the directory of a game; or `disguised`, for the page that says how to play a game without
    /// its rules
    game: String,
    /// Only what players need, such as language models: no sections on files, options and rulings, and no blocks of code
    #[arg(long)]
    short: bool,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let mut out = stdout();
    let page = match args.game.as_str() {
        DISGUISED => DISGUISED_RULES.to_owned(),
        game => {
            let meta = find_game(game, catalog)?.0.meta();
            if args.short { meta.short_rules() } else { meta.rules.to_owned() }
        }
    };
    out.write_all(page.as_bytes())?;
    out.flush()?;
    Ok(Exit::Done)
}
