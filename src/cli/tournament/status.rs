//! `referee tournament status`: how far a tournament is.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::results;
use crate::cli::tournament::folder::{Reading, read};
use crate::cli::{Exit, Failure};

/// How far a tournament is
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament status cup
  referee tournament status cup --json")]
pub(super) struct Args {
    /// Its folder
    dir: PathBuf,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "status")]
struct Status {
    name: String,
    game: String,
    /// Matches with a result.
    played: usize,
    /// Matches that are known to be missing; a later round may bring more.
    missing: usize,
    is_over: bool,
    /// Attempts at matches that were cut off or aborted.
    cut_off: usize,
    /// Matches that were played to their end but do not count: their pair was decided meanwhile.
    void: usize,
    entrants: Vec<EntrantStatus>,
}

#[derive(Serialize)]
struct EntrantStatus {
    name: String,
    source: String,
    /// Matches of its that were cut off or aborted.
    interruptions: u32,
    has_left: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let results = results(&args.dir)?;
    let Reading { about, entrants, schedule, .. } = read(&results)?;
    let status = Status {
        name: about.name,
        game: about.game,
        played: schedule.results().count(),
        missing: schedule.due().count(),
        is_over: schedule.is_over(),
        cut_off: results.cut_offs().map_err(Failure::cannot_run)?.len(),
        void: results.voids().map_err(Failure::cannot_run)?.len(),
        entrants: entrants
            .into_iter()
            .map(|row| EntrantStatus {
                name: row.name,
                source: row.source,
                interruptions: row.interruptions,
                has_left: row.leaves.is_some(),
            })
            .collect(),
    };
    if args.json {
        println!("{}", serde_json::to_string(&status).map_err(Failure::cannot_run)?);
        return Ok(Exit::Done);
    }
    let how = if status.is_over { "over" } else { "not over" };
    println!(
        "{} ({}): {how}, {} matches played, {} missing, {} attempts cut off",
        status.name, status.game, status.played, status.missing, status.cut_off
    );
    if status.void > 0 {
        println!("  {} matches do not count: their pair was decided while they ran", status.void);
    }
    for entrant in status.entrants {
        let left = if entrant.has_left { ", has left" } else { "" };
        println!("  {}: {} interruptions{left}", entrant.name, entrant.interruptions);
    }
    Ok(Exit::Done)
}
