//! `referee league init`: writes a league that can be played at once.

use std::io::Write;
use std::path::PathBuf;

use crate::cli::init::{Project, name_of, quoted};
use crate::cli::output::stdout;
use crate::cli::{Exit, Failure};
use crate::core::Catalog;

/// Write the directory of a league: a file with comments, and two bots in Python, to be replaced by yours
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee league init mine
  referee league init mine --game saxum")]
pub(super) struct Args {
    /// The directory to write, which does not exist or is empty; its name becomes the league's
    directory: PathBuf,
    /// The game: see `referee games`
    #[arg(long, default_value = "checkers")]
    game: String,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let game = catalog.find(&args.game).map_err(Failure::usage)?.meta().id;
    let mut project = Project::default();
    let file = include_str!("../init/templates/league.toml");
    project.add("league.toml", file.replace("@NAME@", &name_of(&args.directory)).replace("@GAME@", game));
    for bot in ["random", "mybot"] {
        let script = include_str!("../init/templates/python/mybot.py").replace("@NAME@", bot);
        project.add(&format!("bots/{bot}.py"), script);
    }
    project.write(&args.directory)?;
    let mut out = stdout();
    write!(
        out,
        "Next:\n\ncd {}\nreferee serve league.toml\n\nand in another terminal there:\n\nreferee league standings\nreferee \
         league add alice\n",
        quoted(&args.directory)
    )?;
    out.flush()?;
    Ok(Exit::Done)
}
