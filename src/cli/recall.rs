//! `referee recall`: what names are worth, by two tournaments.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde::Serialize;

use crate::cli::find_game::known_games;
use crate::cli::output::TolerantStdout;
use crate::cli::screen::Screen;
use crate::cli::{Exit, Failure};
use crate::game::{Catalog, json};
use crate::report::tournament::StandingsReport;
use crate::report::{interval, table};
use crate::runs::config::KnownGames;
use crate::runs::tournament::{StoredTournament, open_results};
use crate::stats::rating::Estimate;

/// Print how much of each entrant's strength is lost when the game is disguised
///
/// Both tournaments have the same entrants and settings, but for the key `disguise` of the second. The gap is the Elo of an entrant in
/// the first, less that in the second, with its 95% interval, as the tournaments are independent. Elo counts from the mean of the
/// entrants, so that a gap is one against the others. A program that finds its moves by search has none; a model that
/// remembers matches of the game has a large one.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee recall plain disguised
  referee recall plain disguised --json")]
pub(super) struct Args {
    /// The directory of the tournament of the game as it is
    plain: PathBuf,
    /// That of the tournament of the same game in disguise
    disguised: PathBuf,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// The gaps, in the format of `--json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "recall")]
pub(super) struct RecallReport {
    /// The id of the game.
    game: &'static str,
    /// By the gap, the largest first.
    entrants: Vec<RecallGap>,
}

/// In Elo, with 95% intervals; infinite values are `null`.
#[derive(Debug, Serialize)]
struct RecallGap {
    name: String,
    plain: Estimate,
    disguised: Estimate,
    /// The first less the second.
    gap: Estimate,
}

/// The difference of two independent estimates.
fn difference(one: Estimate, other: Estimate) -> Estimate {
    let value = one.value - other.value;
    let down = (one.value - one.low).hypot(other.high - other.value);
    let up = (one.high - one.value).hypot(other.value - other.low);
    Estimate { value, low: value - down, high: value + up }
}

/// The standings of a tournament, and its game under its own names.
fn read(dir: &Path, games: &KnownGames) -> Result<(StandingsReport, &'static str, bool), Failure> {
    let results = open_results(dir)?;
    let stored = StoredTournament::read(dir, &results, games)?;
    let report = StandingsReport::of(&results, &stored.schedule);
    let report = report.map_err(|why| Failure::cannot_run(format!("{}: {why}", dir.display())))?;
    let plain = stored.rules.disguised();
    Ok((report, plain.unwrap_or(stored.rules).meta().id, plain.is_some()))
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let games = known_games(catalog)?;
    let (plain, game, is_disguised) = read(&args.plain, &games)?;
    let (other, other_game, is_other_disguised) = read(&args.disguised, &games)?;
    let named = |dir: &Path, what: &str| Failure::usage(format!("{}: {what}", dir.display()));
    if is_disguised {
        return Err(named(&args.plain, "its game is disguised; this tournament comes second"));
    }
    if !is_other_disguised {
        return Err(named(
            &args.disguised,
            "its game is not disguised: `disguise = \"TEXT\"` in its file does that",
        ));
    }
    if game != other_game {
        return Err(named(&args.disguised, &format!("its game is {other_game}, and not {game}")));
    }
    let mut entrants = Vec::new();
    for row in &plain.entrants {
        let found = other.entrants.iter().find(|of| of.name == row.name);
        let found = found.ok_or_else(|| named(&args.disguised, &format!("`{}` did not play", row.name)))?;
        let (plain, disguised) = (row.elo, found.elo);
        let gap = difference(plain, disguised);
        entrants.push(RecallGap { name: row.name.clone(), plain, disguised, gap });
    }
    if let Some(row) = other.entrants.iter().find(|of| plain.entrants.iter().all(|row| row.name != of.name)) {
        return Err(named(&args.plain, &format!("`{}` did not play", row.name)));
    }
    entrants.sort_by(|one, other| other.gap.value.total_cmp(&one.gap.value));
    let mut out = Screen(TolerantStdout::new());
    let report = RecallReport { game, entrants };
    if args.json {
        writeln!(out, "{}", json::text(&report))?;
    } else {
        let row = |of: &RecallGap| {
            vec![of.name.clone(), interval(of.plain, 0), interval(of.disguised, 0), interval(of.gap, 0)]
        };
        let rows = report.entrants.iter().map(row).collect();
        writeln!(
            out,
            "{}",
            table(&["entrant", "Elo plain", "Elo disguised", "recall gap"], rows, 1..4).trim_fmt()
        )?;
    }
    out.0.end(Exit::Done)
}
