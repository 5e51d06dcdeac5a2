//! `referee league log`: who has changed the league.

use std::io::Write;

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::LeagueLogLine;
use crate::cli::league::which::LeagueSelector;
use crate::cli::screen;
use crate::cli::user::user;
use crate::game::json;
use crate::league::{League, OrganiserAct};
use crate::report::table;
use crate::store::now;

/// Print who has added, revoked, paused, resumed and challenged bots, the latest last
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee league log
  referee league log --limit 1000 --json")]
pub(super) struct Args {
    /// The maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let (_, league) = args.which.open()?;
    let entries = league.log_entries(args.limit).map_err(Failure::cannot_run)?;
    let mut out = screen::stdout();
    if args.json {
        for entry in &entries {
            writeln!(out, "{}", json::text(&LeagueLogLine { change: entry }))?;
        }
    } else {
        let rows = entries.into_iter().map(|entry| vec![entry.at, entry.user, entry.action]).collect();
        writeln!(out, "{}", table(&["when (UTC)", "user", "action"], rows, 0..0))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Applies an act of the user of this process.
pub(in crate::cli) fn act(league: &mut League, act: OrganiserAct<'_>) -> Result<(), Failure> {
    Ok(league.act(&user(), act, now())?)
}
