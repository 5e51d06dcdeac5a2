//! `referee tournament`: tournaments between bots.

mod change;
mod check;
mod export;
mod play;
mod report;
mod ruling;
mod site;
mod standings;
mod status;
mod verify;
mod void;
#[cfg(feature = "http")]
mod watch;

pub(super) use play::{PlayOptions, begin};
pub(super) use void::void_matches_of;

use std::path::Path;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::known_games;
use crate::game::{Catalog, Chain};
#[cfg(feature = "fuzzing")]
use crate::runs::tournament::TournamentConfig;
use crate::store::StoreError;

/// Play tournaments, and resume them after interruptions
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament check cup.toml
  referee tournament run cup.toml
  referee tournament resume cup
  referee tournament status cup --json
  referee tournament standings cup
  referee tournament report cup --format html -o cup.html
  referee tournament watch cup
  referee tournament rule award cup m17 alice --reason 'power cut at the other site'
  referee tournament verify cup

examples/tournament.toml shows and explains everything that a file may say.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Run(play::RunArgs),
    Resume(play::ResumeArgs),
    Status(status::Args),
    Standings(standings::Args),
    Report(report::Args),
    Export(export::Args),
    Verify(verify::Args),
    #[cfg(feature = "http")]
    Watch(watch::Args),
    Add(change::AddArgs),
    Change(change::ChangeArgs),
    Withdraw(change::WithdrawArgs),
    Return(change::ReturnArgs),
    Rule(ruling::RuleArgs),
    Rulings(ruling::RulingsArgs),
}

/// Reads a tournament file. A file that can be read is written as a file with the same meaning.
#[cfg(feature = "fuzzing")]
pub(crate) fn read_file(text: &str, catalog: &Catalog) {
    let Ok(config) = TournamentConfig::parse(text) else { return };
    let written = |config: &TournamentConfig| config.to_toml().unwrap_or_else(|error| panic!("{error}"));
    let file = written(&config);
    let again = TournamentConfig::parse(&file).unwrap_or_else(|error| panic!("{error}\n{file}"));
    assert_eq!(file, written(&again));
    if let Ok(rules) = catalog.find(&config.game)
        && let Err(problem) = config.plan(rules, None)
    {
        assert!(!problem.to_string().is_empty());
    }
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let games = &known_games(catalog)?;
    match args.command {
        Command::Check(args) => check::run(&args, games),
        Command::Run(args) => play::run(&args, games),
        Command::Resume(args) => play::resume(&args, games),
        Command::Status(args) => status::run(&args, games),
        Command::Standings(args) => standings::run(&args, games),
        Command::Report(args) => report::run(&args, games),
        Command::Export(args) => export::run(&args, games),
        Command::Verify(args) => verify::run(&args, games),
        #[cfg(feature = "http")]
        Command::Watch(args) => watch::run(&args, games),
        Command::Add(args) => change::add(args, games),
        Command::Change(args) => change::set(args, games),
        Command::Withdraw(args) => change::withdraw(args, games),
        Command::Return(args) => change::return_(args, games),
        Command::Rule(args) => ruling::rule(args, games),
        Command::Rulings(args) => ruling::list(&args),
    }
}

/// The error for results that cannot be read.
fn unreadable(dir: &Path, error: &StoreError) -> Failure {
    Failure::cannot_run(format!("{}: {}", dir.display(), Chain(error)))
}
