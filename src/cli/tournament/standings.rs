//! `referee tournament standings`: prints the standings.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::StandingsLine;
use crate::cli::output::stdout;
use crate::cli::screen::Screen;
use crate::cli::tournament::unreadable;
use crate::game::json;
use crate::report::tournament::{StandingsReport, standings_table};
use crate::runs::config::KnownGames;
use crate::runs::tournament::{StoredTournament, open_results};
use crate::stats::schedule::Schedule;
use crate::store::Results;

/// Print the standings of a tournament, even while it is in progress
///
/// Points; wins, draws and losses, with those decided by a fault listed separately; tie-breaks; Elo with its 95%
/// interval from a Bradley-Terry fit over all results; and seat advantages. In a knockout the winner comes first,
/// then the entrants in reverse order of elimination.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee tournament standings cup
  referee tournament standings cup --json")]
pub(super) struct Args {
    /// The directory of the tournament
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, games: &KnownGames) -> Result<Exit, Failure> {
    let db = open_results(&args.folder)?;
    let mut out = Screen(stdout());
    show(
        &mut out,
        &args.folder,
        &db,
        &StoredTournament::read(&args.folder, &db, games)?.schedule,
        args.json,
    )?;
    Ok(Exit::Done)
}

pub(super) fn show(
    out: &mut impl Write,
    folder: &Path,
    db: &Results,
    schedule: &Schedule,
    is_json: bool,
) -> Result<(), Failure> {
    let report = StandingsReport::of(db, schedule).map_err(|error| unreadable(folder, &error))?;
    if is_json {
        writeln!(out, "{}", json::text(&StandingsLine { report: &report }))?;
    } else {
        out.write_all(standings_table(&report).as_bytes())?;
    }
    Ok(out.flush()?)
}
