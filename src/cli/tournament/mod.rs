//! `referee tournament`: many matches between many bots.

mod change;
mod config;
mod folder;
mod play;
mod status;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::{Exit, Failure};

/// Play tournaments, and go on with them after any interruption
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament check cup.toml
  referee tournament run cup.toml
  referee tournament resume cup
  referee tournament status cup --json

examples/tournament.toml shows and explains everything that a file may say.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check a file without playing: every key, the game and its options, the openings, the bots' folders
    Check {
        /// The file
        config: PathBuf,
    },
    /// Play a tournament
    Run(play::RunArgs),
    /// Go on with a tournament that was interrupted: exactly what is missing is played
    Resume(play::ResumeArgs),
    /// How far a tournament is
    Status(status::Args),
    /// Take another entrant in
    Add(change::AddArgs),
    /// Take an entrant out: what it has played stands
    Withdraw(change::WithdrawArgs),
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    match args.command {
        Command::Check { config } => check(&config),
        Command::Run(args) => play::run(&args),
        Command::Resume(args) => play::resume(&args),
        Command::Status(args) => status::run(&args),
        Command::Add(args) => change::add(args),
        Command::Withdraw(args) => change::withdraw(&args),
    }
}

fn check(path: &std::path::Path) -> Result<Exit, Failure> {
    let config = config::Config::read(path)?;
    // What is checked does not depend on the seed.
    let seed = config.seed()?.unwrap_or(crate::core::chance::Seed([0; 32]));
    let prepared = config.prepare(seed, None)?;
    let schedule = crate::tournament::schedule::Schedule::new(prepared.plan).map_err(Failure::usage)?;
    let matches = schedule.sets().len() * schedule.legs() as usize;
    println!(
        "{}: {} entrants, {matches} matches{}",
        config.title(),
        prepared.entrants.len(),
        if schedule.due().next().is_some() && schedule.sets().len() < 2 { " to begin with" } else { "" }
    );
    Ok(Exit::Done)
}
