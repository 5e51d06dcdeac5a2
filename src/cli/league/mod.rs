//! `referee league`: manages a league that `referee serve` plays.

mod bots;
mod challenge;
pub(super) mod config;
mod export;
mod matches;
pub(super) mod pages;
mod standings;
pub(super) mod verify;
mod workers;

use std::io::Write;
use std::path::PathBuf;
use std::time::SystemTime;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::league::config::LeagueConfig;
use crate::cli::workers::WorkersOptions;
use crate::cli::{Exit, Failure, init, screen};
use crate::core::{Catalog, counted};
use crate::store::{Folder, Journal, League};

/// Manage a league: a server that plays matches without an end between bots that come and go
///
/// All subcommands also work while `referee serve` runs, which takes up changes within a second.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league init mine
  cd mine
  referee serve league.toml
  referee league add alice --owner 'Alice Liddell'
  referee league standings
  referee league matches --player alice --json

`referee spec league` explains pairings, ratings and the files of a league.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a league, as `referee init league` does
    #[command(after_help = "Examples:
  referee league init mine
  referee league init mine --game saxum")]
    Init(init::CompetitionArgs),
    Check(CheckArgs),
    Add(bots::AddArgs),
    Revoke(bots::RevokeArgs),
    List(bots::ListArgs),
    Standings(standings::Args),
    Pause(bots::PauseArgs),
    Resume(bots::ResumeArgs),
    Challenge(challenge::Args),
    Matches(matches::Args),
    Export(export::Args),
    Verify(verify::Args),
    Workers(workers::Args),
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    match args.command {
        Command::Init(args) => init::league(&args, catalog),
        Command::Check(args) => check(&args, catalog),
        Command::Add(args) => bots::add(args),
        Command::Revoke(args) => bots::revoke(&args),
        Command::List(args) => bots::list(&args),
        Command::Standings(args) => standings::run(&args, catalog),
        Command::Pause(args) => bots::pause(&args),
        Command::Resume(args) => bots::resume(&args),
        Command::Challenge(args) => challenge::run(&args, catalog),
        Command::Matches(args) => matches::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Verify(args) => verify::run(&args, catalog),
        Command::Workers(args) => workers::run(&args),
    }
}

/// Which league.
#[derive(Debug, ClapArgs)]
struct Which {
    /// The file of the league
    #[arg(long, short, value_name = "FILE", default_value = "league.toml")]
    league: PathBuf,
}

impl Which {
    /// Reads the file, and opens the database beside it. Programs of the file are stored there, unless a server runs,
    /// which has read an earlier version of the file.
    fn open(&self) -> Result<(LeagueConfig, League), Failure> {
        let config = LeagueConfig::read(&self.league)?;
        let folder = Folder::open(&config.folder).map_err(Failure::cannot_run)?;
        let mut league = League::open(&folder).map_err(Failure::cannot_run)?;
        let mut is_played = false;
        for ladder in &config.ladders {
            let folder = verify::ladder_folder(&folder, &ladder.name)?;
            is_played |= Journal::is_open(&folder).map_err(Failure::cannot_run)?;
        }
        if !is_played {
            config.store_programs(&mut league, now())?;
        }
        Ok((config, league))
    }
}

/// The time of day.
#[expect(clippy::disallowed_methods, reason = "results are dated, but do not depend on it")]
pub(super) fn now() -> SystemTime {
    SystemTime::now()
}

/// Validate the file of a league without playing
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league check
  referee league check --league mine/league.toml")]
struct CheckArgs {
    #[command(flatten)]
    which: Which,
}

fn check(args: &CheckArgs, catalog: &Catalog) -> Result<Exit, Failure> {
    let config = LeagueConfig::read(&args.which.league)?;
    let mut out = screen::stdout();
    if let Some(name) = &config.name {
        writeln!(out, "{name}")?;
    }
    for ladder in &config.ladders {
        let prepared = ladder.prepare(catalog, &config.folder)?;
        let listens = match &prepared.listen {
            Some((address, None, _)) => format!("bots connect to {address}"),
            Some((address, Some(_), _)) => format!("bots connect to {address} with TLS"),
            None => "programs only".to_owned(),
        };
        writeln!(out, "{}: {}, {listens}", ladder.name, prepared.rules.meta().id)?;
    }
    config.files()?;
    config.workers(&WorkersOptions::default())?;
    writeln!(out, "{}", counted(config.programs.len(), "program", "programs"))?;
    Ok(Exit::Done)
}
