//! `referee league workers`: prints the workers of a league.

use std::io::Write;

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::LadderWorkers;
use crate::cli::league::which::{LeagueSelector, find_ladder};
use crate::cli::{screen, workers};
use crate::files::Folder;
use crate::game::json;
use crate::runs::league::config::LeagueConfig;
use crate::runs::league::ladder_folder;

/// Print the workers that play matches between programs, and what they have
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee league workers
  referee league workers --ladder checkers --json

`referee worker drain`, `aside` and `activate` change the state of a worker.")]
pub(super) struct Args {
    /// Only this ladder
    #[arg(long, value_name = "NAME")]
    ladder: Option<String>,
    /// One JSON object per ladder
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let config = LeagueConfig::read(&args.which.league)?;
    let folder = Folder::open(&config.folder).map_err(Failure::cannot_run)?;
    let ladders = match &args.ladder {
        Some(name) => vec![find_ladder(&config, Some(name))?],
        None => config.ladders.iter().collect(),
    };
    let mut out = screen::stdout();
    for ladder in ladders {
        let status =
            workers::status(ladder_folder(&folder, &ladder.name).map_err(Failure::cannot_run)?.path())?;
        if args.json {
            writeln!(out, "{}", json::text(&LadderWorkers { ladder: &ladder.name, status }))?;
            continue;
        }
        match &status {
            Some(status) => write!(out, "{}:{}", ladder.name, workers::status_text(status))?,
            None => writeln!(out, "{}: it has never had workers", ladder.name)?,
        }
    }
    Ok(Exit::Done)
}
