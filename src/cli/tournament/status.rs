//! `referee tournament status`: prints the progress of a tournament.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::{EntrantStatus, TournamentStatus};
use crate::cli::{screen, workers};
use crate::files::{Folder, Journal};
use crate::game::counted;
use crate::game::json;
use crate::runs::config::KnownGames;
use crate::runs::tournament::{StoredTournament, open_results};

/// Print the progress of a tournament
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament status cup
  referee tournament status cup --json")]
pub(super) struct Args {
    /// Its directory
    pub(super) dir: PathBuf,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(args: &Args, games: &KnownGames) -> Result<Exit, Failure> {
    let results = open_results(&args.dir)?;
    let StoredTournament { about, entrants, config, schedule, .. } =
        StoredTournament::read(&args.dir, &results, games)?;
    let folder = Folder::open(&args.dir).map_err(Failure::cannot_run)?;
    let is_played = Journal::is_open(&folder).map_err(Failure::cannot_run)?;
    let absent = if is_played { results.absent().map_err(Failure::cannot_run)? } else { BTreeSet::new() };
    let missing = schedule.missing();
    let status = TournamentStatus {
        name: about.name,
        game: about.game,
        played: schedule.results().count(),
        missing: missing.least,
        missing_at_most: missing.most,
        is_over: schedule.is_over(),
        is_played,
        cut_off: results.cut_offs().map_err(Failure::cannot_run)?.len(),
        void_for: results.void_for().map_err(Failure::cannot_run)?,
        void: results.voids().map_err(Failure::cannot_run)?.len(),
        entrants: entrants
            .into_iter()
            .zip(&config.entrants)
            .map(|(row, entrant)| EntrantStatus {
                is_absent: entrant
                    .bots()
                    .iter()
                    .filter_map(|bot| bot.tcp.as_ref())
                    .any(|name| absent.contains(name)),
                name: row.name,
                display_name: row.display_name,
                source: row.source,
                interruptions: row.interruptions,
                has_left: row.leaves.is_some(),
            })
            .collect(),
        workers: workers::status(&args.dir)?,
    };
    let mut out = screen::stdout();
    if args.json {
        writeln!(out, "{}", json::text(&status))?;
        return Ok(Exit::Done);
    }
    let how = match (status.is_over, status.is_played) {
        (true, _) => "over",
        (false, true) => "played now",
        (false, false) => "not over",
    };
    let at_least = if missing.is_certain() { "" } else { "at least " };
    writeln!(
        out,
        "{} ({}): {how}, {} played, {at_least}{} missing, {} cut off",
        status.name,
        status.game,
        counted(status.played, "match", "matches"),
        status.missing,
        counted(status.cut_off, "attempt", "attempts")
    )?;
    for (cause, count) in &status.void_for {
        writeln!(out, "  {} void: {cause}", counted(*count, "match is", "matches are"))?;
    }
    let lost = status.void - status.void_for.values().sum::<u32>() as usize;
    if lost > 0 {
        let matches = counted(lost, "match does", "matches do");
        writeln!(out, "  {matches} not count: results that the schedule depends on were lost")?;
    }
    for entrant in status.entrants {
        let left = if entrant.has_left { ", withdrawn" } else { "" };
        let absent = if entrant.is_absent { ", not connected" } else { "" };
        let interruptions = counted(entrant.interruptions, "interruption", "interruptions");
        let name = match entrant.display_name {
            Some(display) => format!("{display} ({})", entrant.name),
            None => entrant.name,
        };
        writeln!(out, "  {name}: {interruptions}{left}{absent}")?;
    }
    if let Some(status) = &status.workers {
        out.write_all(workers::status_text(status).as_bytes())?;
    }
    Ok(Exit::Done)
}
