//! `referee workshop`: agents that write bots.

mod ask;
mod run;

#[cfg(feature = "mcp")]
pub(super) use ask::socket;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::known_games;
use crate::cli::output::TolerantStdout;
use crate::cli::screen::Screen;
use crate::game::{Catalog, counted, json};
use crate::report::{interval, table};
use crate::runs::config::KnownGames;
use crate::runs::workshop::{EditReport, RoundReport, Workshop, WorkshopLine, verify};
use crate::stats::rating::Estimate;

/// Let agents write bots, round by round, with equal budgets of time, matches and money
///
/// An agent is any command that edits a directory. In each round every agent edits its bot, lets it practise, and hands it in;
/// then the bots play a tournament. guide/workshop.md explains the file, and what agents can do.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee workshop run shop.toml
  referee workshop resume shop
  referee workshop status shop
  referee workshop verify shop")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::RunArgs),
    Resume(run::ResumeArgs),
    Status(StatusArgs),
    Verify(VerifyArgs),
    Ask(ask::Args),
}

/// Print the ratings of all rounds, even while it is in progress
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee workshop status shop
  referee workshop status shop --json")]
struct StatusArgs {
    /// Its directory
    dir: PathBuf,
    /// One JSON object per line: all that happened
    #[arg(long)]
    json: bool,
}

/// Verify the versions by their hashes, and the tournaments of all rounds by their records
///
/// `referee tournament verify DIR/rounds/N` shows the standings that follow from the records of a round. The exit code is 1 if
/// anything differs.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee workshop verify shop
  referee workshop verify shop --json")]
struct VerifyArgs {
    /// Its directory
    dir: PathBuf,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    match args.command {
        Command::Run(args) => run::run(&args, &known_games(catalog)?),
        Command::Resume(args) => run::resume(&args, &known_games(catalog)?),
        Command::Status(args) => status(&args, &known_games(catalog)?),
        Command::Verify(args) => audit(&args, &known_games(catalog)?),
        Command::Ask(args) => ask::run(&args),
    }
}

fn status(args: &StatusArgs, games: &KnownGames) -> Result<Exit, Failure> {
    let workshop = Workshop::open(&args.dir, games)?;
    let mut out = Screen(TolerantStdout::new());
    if args.json {
        for line in &workshop.lines {
            writeln!(out, "{}", json::text(line))?;
        }
    } else {
        write!(out, "{}", ratings(&workshop.lines))?;
    }
    out.0.end(Exit::Done)
}

fn audit(args: &VerifyArgs, games: &KnownGames) -> Result<Exit, Failure> {
    let audit = verify(&Workshop::open(&args.dir, games)?)?;
    let mut out = Screen(TolerantStdout::new());
    if args.json {
        writeln!(out, "{}", json::text(&audit))?;
    } else {
        for what in &audit.differences {
            writeln!(out, "{what}")?;
        }
        let (versions, rounds) =
            (counted(audit.versions, "version", "versions"), counted(audit.rounds, "round", "rounds"));
        let records = counted(audit.records, "record", "records");
        writeln!(out, "{versions}, {rounds}, {records}, {} differ", audit.differences.len())?;
    }
    out.0.end(if audit.differences.is_empty() { Exit::Done } else { Exit::No })
}

/// The entrants in the order of the last round, with their Elo in each round.
fn ratings(lines: &[WorkshopLine]) -> String {
    let rounds: Vec<&RoundReport> = lines
        .iter()
        .filter_map(|line| match line {
            WorkshopLine::Round(report) => Some(report),
            _ => None,
        })
        .collect();
    let Some(last) = rounds.last() else { return "no round is over\n".to_owned() };
    let entrants =
        |report: &RoundReport| report.standings["entrants"].as_array().cloned().unwrap_or_default();
    let elo = |report: &RoundReport, name: &str| {
        let row = entrants(report).into_iter().find(|row| row["name"] == name)?;
        let elo: Estimate = serde_json::from_value(row["elo"].clone()).ok()?;
        Some(interval(elo, 0))
    };
    let row = |row: serde_json::Value| {
        let name = row["name"].as_str().unwrap_or_default().to_owned();
        let of_rounds = rounds.iter().map(|report| elo(report, &name).unwrap_or_default());
        let (points, matches) = (row["points"].to_string(), row["matches"].to_string());
        let version = version(lines, &name).map_or_else(String::new, |version| short(version).to_owned());
        [name.clone()].into_iter().chain(of_rounds).chain([points, matches, version]).collect()
    };
    let rows: Vec<Vec<String>> = entrants(last).into_iter().map(row).collect();
    let headings: Vec<String> = rounds.iter().map(|report| format!("Elo {}", report.round)).collect();
    let headings = ["entrant"]
        .into_iter()
        .chain(headings.iter().map(String::as_str))
        .chain(["points", "matches", "version"]);
    let headings: Vec<&str> = headings.collect();
    let numbers = 1..headings.len() - 1;
    format!("{}\n", table(&headings, rows, numbers).trim_fmt())
}

/// The version with which an agent played last.
fn version<'a>(lines: &'a [WorkshopLine], name: &str) -> Option<&'a str> {
    lines.iter().rev().find_map(|line| match line {
        WorkshopLine::Edit(EditReport { agent, version, .. }) if agent == name => Some(version.as_str()),
        _ => None,
    })
}

/// The first digits of a hash.
fn short(version: &str) -> &str {
    version.get(..12).unwrap_or(version)
}

/// The directory of a workshop, by default named after its file.
fn directory(file: &Path, given: Option<&PathBuf>) -> PathBuf {
    given.cloned().unwrap_or_else(|| file.file_stem().map(PathBuf::from).unwrap_or_default())
}
