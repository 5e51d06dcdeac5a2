//! `referee tournament`: many matches between many bots.

mod change;
mod config;
mod export;
mod folder;
mod play;
mod report;
mod standings;
mod status;

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::{Exit, Failure};
use crate::store::Results;
use crate::tournament::schedule::{Format, Schedule};

/// Play tournaments, and go on with them after any interruption
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament check cup.toml
  referee tournament run cup.toml
  referee tournament resume cup
  referee tournament status cup --json
  referee tournament standings cup
  referee tournament report cup --format html -o cup.html

examples/tournament.toml shows and explains everything that a file may say.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(CheckArgs),
    Run(play::RunArgs),
    Resume(play::ResumeArgs),
    Status(status::Args),
    Standings(standings::Args),
    Report(report::Args),
    Export(export::Args),
    Add(change::AddArgs),
    Withdraw(change::WithdrawArgs),
}

/// Check a file without playing: every key, the game and its options, the openings, the bots'
/// programs and folders
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament check cup.toml")]
struct CheckArgs {
    /// The file
    config: PathBuf,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    match args.command {
        Command::Check(args) => check(&args.config),
        Command::Run(args) => play::run(&args),
        Command::Resume(args) => play::resume(&args),
        Command::Status(args) => status::run(&args),
        Command::Standings(args) => standings::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Add(args) => change::add(args),
        Command::Withdraw(args) => change::withdraw(&args),
    }
}

/// The results in the folder of a tournament.
fn results(folder: &Path) -> Result<Results, Failure> {
    let path = folder.join("results.sqlite");
    if !path.exists() {
        let what = "is not the folder of a tournament: it has no results.sqlite";
        return Err(Failure::usage(format!("{} {what}", folder.display())));
    }
    Results::open(&path).map_err(|error| unreadable(folder, &error))
}

fn unreadable(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::cannot_run(format!("{}: {error}", folder.display()))
}

fn check(path: &Path) -> Result<Exit, Failure> {
    let config = config::Config::read(path)?;
    // What is checked does not depend on the seed.
    let seed = config.seed()?.unwrap_or(crate::core::chance::Seed([0; 32]));
    let plan = config.plan(None)?;
    let prepared = config.prepare(seed, &plan)?;
    let schedule = Schedule::new(plan).map_err(Failure::usage)?;
    let most = if matches!(schedule.plan().format, Format::Knockout { .. }) { "at most " } else { "" };
    let (title, entrants, matches) = (config.title(), prepared.entrants.len(), schedule.most_matches());
    println!("{title}: {entrants} entrants, {most}{matches} matches");
    Ok(Exit::Done)
}
