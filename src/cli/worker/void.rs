//! `referee worker void`: takes the matches of a worker back.

use std::io::Write;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::state::WorkerOfRun;
use crate::cli::exit::{Exit, Failure};
#[cfg(feature = "http")]
use crate::cli::user::user;
use crate::cli::{screen, tournament};
#[cfg(feature = "http")]
use crate::files::{Folder, Journal};
use crate::game::{Catalog, counted, json};
#[cfg(feature = "http")]
use crate::league::League;
#[cfg(feature = "http")]
use crate::runs::league::ladder_folder;
#[cfg(feature = "http")]
use crate::store::now;

/// Take back all matches that a worker has played
///
/// Matches of a tournament have no result any more: `referee tournament resume` plays them again, and with them what was paired by
/// their results. A mirrored set is played again on the same deal. Matches of a league stay in its list, and are not rated. The
/// process that plays must have ended.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee worker void cup box7
  referee worker void league box7 --json")]
pub(super) struct Args {
    #[command(flatten)]
    of: WorkerOfRun,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// The matches that were taken back, in the format of `--json`.
#[derive(Serialize)]
#[serde(tag = "type", rename = "voided")]
struct VoidedMatches {
    worker: String,
    /// The ids of the matches, in a league with their ladder: LADDER/m17.
    matches: Vec<String>,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let WorkerOfRun { dir, name } = &args.of;
    args.of.check()?;
    let is_tournament = dir.join("results.sqlite").exists();
    let matches = match is_tournament {
        true => tournament::void_matches_of(dir, name, catalog)?,
        #[cfg(feature = "http")]
        false => void_in_league(&args.of)?,
        #[cfg(not(feature = "http"))]
        false => return Err(Failure::usage(format!("{}: there is no tournament", dir.display()))),
    };
    let mut out = screen::stdout();
    if args.json {
        writeln!(out, "{}", json::text(&VoidedMatches { worker: name.clone(), matches }))?;
        return Ok(Exit::Done);
    }
    let many = counted(matches.len(), "match", "matches");
    let next = match (matches.is_empty(), is_tournament) {
        (true, _) => String::new(),
        (false, true) => format!("; `referee tournament resume {}` plays them again", dir.display()),
        (false, false) => "; they are not rated any more".to_owned(),
    };
    writeln!(out, "{many} of `{name}` taken back{next}")?;
    Ok(Exit::Done)
}

/// Takes the matches back in the league in this directory.
#[cfg(feature = "http")]
fn void_in_league(WorkerOfRun { dir, name }: &WorkerOfRun) -> Result<Vec<String>, Failure> {
    let folder = Folder::make(dir).map_err(Failure::cannot_run)?;
    let mut league = League::open(&folder).map_err(Failure::cannot_run)?;
    let mut locks = Vec::new();
    for ladder in league.ladders().map_err(Failure::cannot_run)? {
        let lock =
            Journal::open(&ladder_folder(&folder, &ladder).map_err(Failure::cannot_run)?).map_err(|error| {
                match error.kind() {
                    std::io::ErrorKind::WouldBlock => Failure::cannot_run(format!(
                        "{}: another process plays this league: end it first",
                        dir.display()
                    )),
                    _ => Failure::cannot_run(error),
                }
            });
        locks.push(lock?);
    }
    let voided = league.void_matches_of(name, &user(), now()).map_err(Failure::cannot_run)?;
    Ok(voided.into_iter().map(|(ladder, id)| format!("{ladder}/{id}")).collect())
}
