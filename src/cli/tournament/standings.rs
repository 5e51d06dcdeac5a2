//! `referee tournament standings`: prints the standings.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::database::{self, unreadable};
use crate::cli::json::StandingsLine;
use crate::cli::output::stdout;
use crate::cli::screen::Screen;
use crate::cli::tournament::reading::read;
use crate::cli::{Exit, Failure};
use crate::game::Catalog;
use crate::game::json;
use crate::report::tournament::{StandingsReport, standings_table};
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

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let db = database::open(&args.folder)?;
    let mut out = Screen(stdout());
    show(&mut out, &args.folder, &db, &read(&args.folder, &db, catalog)?.schedule, args.json)?;
    Ok(Exit::Done)
}

/// Prints the standings.
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
