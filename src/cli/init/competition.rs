//! `referee init tournament`, `referee init league`: write a competition that can be played at once.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::bot::sandbox::{BotLimits, Layer, Mode, Sandbox};
use crate::cli::exit::{Exit, Failure};
use crate::cli::init::bot::quoted;
use crate::cli::init::project::{Project, name_of};
use crate::cli::output::stdout;
use crate::game::Catalog;

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Args {
    /// The directory to write, which does not exist or is empty; its name becomes that of the competition
    directory: PathBuf,
    /// The game: see `referee games`
    #[arg(long, default_value = "checkers")]
    game: String,
}

pub(super) fn tournament(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    write(
        args,
        catalog,
        "tournament.toml",
        include_str!("templates/tournament.toml"),
        &["mybot"],
        "referee tournament check tournament.toml\nreferee tournament run tournament.toml --dir results\nreferee \
         tournament standings results",
    )
}

pub(in crate::cli) fn league(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    write(
        args,
        catalog,
        "league.toml",
        include_str!("templates/league.toml"),
        &["random_bot", "mybot"],
        "referee serve league.toml\n\nand in another terminal there:\n\nreferee league standings\nreferee league add alice",
    )
}

/// The layers of the sandbox `strict` that this machine lacks, as in a file.
fn missing_layers() -> Result<String, Failure> {
    let sandbox = Sandbox::new(Mode::Strict, &Layer::ALL.into(), BotLimits::default());
    let missing = sandbox.map_err(Failure::cannot_run)?.left_out();
    Ok(format!("{:?}", missing.into_iter().map(Layer::as_str).collect::<Vec<_>>()))
}

/// Writes the file of a competition and its bots, and prints the next commands.
fn write(
    args: &Args,
    catalog: &Catalog,
    file: &str,
    template: &str,
    bots: &[&str],
    next: &str,
) -> Result<Exit, Failure> {
    let meta = catalog.find(&args.game).map_err(Failure::usage)?.meta();
    let game = meta.id;
    // The other games have no openings.
    let openings = match meta.openings {
        Some(plies) => format!("opening_plies = {plies}  "),
        None => "# opening_plies = 0".to_owned(),
    };
    let mut project = Project::default();
    let text = template
        .replace("@NAME@", &name_of(&args.directory))
        .replace("@GAME@", game)
        .replace("@OPENINGS@", &openings);
    project.add(file, text.replace("@MISSING@", &missing_layers()?));
    for bot in bots {
        let script = include_str!("templates/python/mybot.py").replace("@NAME@", bot);
        project.add(&format!("bots/{bot}.py"), script);
    }
    project.write(&args.directory)?;
    let mut out = stdout();
    writeln!(out, "Next:\n\ncd {}\n{next}", quoted(&args.directory))?;
    out.flush()?;
    Ok(Exit::Done)
}
