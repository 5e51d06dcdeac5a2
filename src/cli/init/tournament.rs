//! `referee init tournament`: writes a tournament that can be played at once.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::init::bot::quoted;
use crate::cli::init::project::{Project, name_of};
use crate::cli::output::stdout;
use crate::cli::{Exit, Failure};
use crate::core::Catalog;

/// Write a tournament between three bots in Python, to be replaced by yours
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee init tournament cup
  referee init tournament cup --game saxum")]
pub(super) struct Args {
    /// The directory to write, which does not exist or is empty; its name becomes the tournament's
    directory: PathBuf,
    /// The game: see `referee games`
    #[arg(long, default_value = "checkers")]
    game: String,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let game = catalog.find(&args.game).map_err(Failure::usage)?.meta().id;
    let mut project = Project::default();
    let file = include_str!("templates/tournament.toml");
    project.add("tournament.toml", file.replace("@NAME@", &name_of(&args.directory)).replace("@GAME@", game));
    project.add("bots/mybot.py", include_str!("templates/python/mybot.py").replace("@NAME@", "mybot"));
    project.write(&args.directory)?;
    let mut out = stdout();
    write!(
        out,
        "Next:\n\ncd {}\nreferee tournament check tournament.toml\nreferee tournament run tournament.toml --dir results\n\
         referee tournament standings results\n",
        quoted(&args.directory)
    )?;
    out.flush()?;
    Ok(Exit::Done)
}
