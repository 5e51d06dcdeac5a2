//! `referee tournament`: tournaments between bots.

mod audit;
mod change;
mod check;
mod config;
#[cfg(test)]
mod corrupt;
mod database;
mod entrant_row;
mod export;
mod folder;
mod kept_site;
mod live_standings;
mod play;
mod reading;
mod report;
mod requested_change;
mod requested_ruling;
mod ruling;
mod site;
mod spectators;
mod standings;
mod status;
mod verify;
mod void;
mod watch;

pub(super) use void::void_matches_of;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::{Exit, Failure};
use crate::game::Catalog;

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
    Watch(watch::Args),
    Add(change::AddArgs),
    Change(change::ChangeArgs),
    Withdraw(change::WithdrawArgs),
    Return(change::ReturnArgs),
    Rule(ruling::RuleArgs),
    Rulings(ruling::RulingsArgs),
}

/// Reads a tournament file. What can be read is written as a file that means the same.
#[cfg(feature = "fuzzing")]
pub(crate) fn read_file(text: &str, catalog: &Catalog) {
    let Ok(config) = config::Config::parse(text) else { return };
    let written =
        |config: &config::Config| config.to_toml().unwrap_or_else(|failure| panic!("{}", failure.error));
    let file = written(&config);
    let again = config::Config::parse(&file).unwrap_or_else(|error| panic!("{error}\n{file}"));
    assert_eq!(file, written(&again));
    if let Ok(rules) = catalog.find(&config.game)
        && let Err(problem) = config.plan(rules, None)
    {
        assert!(!problem.error.to_string().is_empty());
    }
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    match args.command {
        Command::Check(args) => check::run(&args, catalog),
        Command::Run(args) => play::run(&args, catalog),
        Command::Resume(args) => play::resume(&args, catalog),
        Command::Status(args) => status::run(&args, catalog),
        Command::Standings(args) => standings::run(&args, catalog),
        Command::Report(args) => report::run(&args, catalog),
        Command::Export(args) => export::run(&args, catalog),
        Command::Verify(args) => verify::run(&args, catalog),
        Command::Watch(args) => watch::run(&args, catalog),
        Command::Add(args) => change::add(args, catalog),
        Command::Change(args) => change::set(args, catalog),
        Command::Withdraw(args) => change::withdraw(args, catalog),
        Command::Return(args) => change::return_(args, catalog),
        Command::Rule(args) => ruling::rule(args, catalog),
        Command::Rulings(args) => ruling::list(&args),
    }
}
