//! `referee league`: manages a league that `referee serve` plays.

mod backup;
mod bots;
mod challenge;
mod finals;
mod log;
mod matches;
mod organiser;
mod owners;
mod ruling;
mod seasons;
mod standings;
mod submissions;
mod tokens;
mod verify;
mod which;
mod workers;

use std::io::Write;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::known_games;
use crate::cli::league::which::LeagueSelector;
use crate::cli::screen;
use crate::game::{Catalog, Chain, counted};
use crate::league::PlannedEvent;
use crate::runs::RunError;
use crate::runs::league::config::LeagueConfig;
use crate::runs::submissions::submitted_sandbox;
use crate::sources::Listen;
use crate::store::{now, utc};

/// Manage a league: a server that plays matches without an end between bots that come and go
///
/// All subcommands also work while `referee serve` runs, which takes up changes within a second.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee init league mine
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
    Check(CheckArgs),
    Add(bots::AddArgs),
    Revoke(bots::RevokeArgs),
    List(bots::ListArgs),
    Standings(standings::Args),
    Pause(bots::PauseArgs),
    Resume(bots::ResumeArgs),
    Challenge(challenge::Args),
    Rule(ruling::RuleArgs),
    Rulings(ruling::RulingsArgs),
    Season(seasons::SeasonArgs),
    Seasons(seasons::ListArgs),
    Finals(Box<finals::Args>),
    Invite(owners::InviteArgs),
    Invitations(owners::InvitationsArgs),
    Owners(owners::OwnersArgs),
    Owner(owners::OwnerArgs),
    Organiser(organiser::Args),
    Announce(organiser::AnnounceArgs),
    Submissions(submissions::ListArgs),
    Submission(submissions::SubmissionArgs),
    Matches(matches::Args),
    Backup(backup::Args),
    Tokens(tokens::Args),
    Log(log::Args),
    Verify(verify::Args),
    Workers(workers::Args),
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    match args.command {
        Command::Check(args) => check(&args, catalog),
        Command::Add(args) => bots::add(args),
        Command::Revoke(args) => bots::revoke(&args),
        Command::List(args) => bots::list(&args),
        Command::Standings(args) => standings::run(&args, catalog),
        Command::Pause(args) => bots::pause(&args),
        Command::Resume(args) => bots::resume(&args),
        Command::Challenge(args) => challenge::run(&args, catalog),
        Command::Rule(args) => ruling::rule(args),
        Command::Rulings(args) => ruling::list(&args),
        Command::Season(args) => seasons::season(args, catalog),
        Command::Seasons(args) => seasons::list(&args, catalog),
        Command::Finals(args) => finals::run(&args, catalog),
        Command::Invite(args) => owners::invite(&args),
        Command::Invitations(args) => owners::invitations(&args),
        Command::Owners(args) => owners::list(&args),
        Command::Owner(args) => owners::owner(args),
        Command::Organiser(args) => organiser::run(args),
        Command::Announce(args) => organiser::announce(args),
        Command::Submissions(args) => submissions::list(&args),
        Command::Submission(args) => submissions::submission(args),
        Command::Matches(args) => matches::run(&args, catalog),
        Command::Backup(args) => backup::run(&args),
        Command::Tokens(args) => tokens::run(&args),
        Command::Log(args) => log::run(&args),
        Command::Verify(args) => verify::run(&args, catalog),
        Command::Workers(args) => workers::run(&args),
    }
}

/// Validate the file of a league without playing
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league check
  referee league check --league mine/league.toml")]
struct CheckArgs {
    #[command(flatten)]
    which: LeagueSelector,
}

fn check(args: &CheckArgs, catalog: &Catalog) -> Result<Exit, Failure> {
    let config = LeagueConfig::read(&args.which.league)?;
    let mut out = screen::stdout();
    if let Some(name) = &config.name {
        writeln!(out, "{name}")?;
    }
    for ladder in &config.ladders {
        let prepared = ladder.prepare(&known_games(catalog)?, &config.folder)?;
        let listens = match &prepared.listen {
            Some(Listen { address, certificate: None, .. }) => format!("bots connect to {address}"),
            Some(Listen { address, .. }) => format!("bots connect to {address} with TLS"),
            None => "programs only".to_owned(),
        };
        writeln!(out, "{}: {}, {listens}", ladder.name, prepared.game.rules.meta().id)?;
    }
    config.notices().check().map_err(RunError::from)?;
    config.retention()?;
    config.files()?;
    for program in &config.programs {
        config.sandbox(program.name())?;
    }
    config.owners()?;
    if config.submissions()?.is_some()
        && let Err(why) = submitted_sandbox(config.limits_of_programs())
    {
        writeln!(out, "programs cannot be handed in without workers: {}", Chain(&why))?;
    }
    config.keep(config.workers()?.is_some_and(|workers| workers.is_given()))?;
    for PlannedEvent { at, what, ladder, season, .. } in &config.events {
        let of = ladder.as_ref().or(season.as_ref()).map(|of| format!(" {of}")).unwrap_or_default();
        let passed = if *at <= utc(now()) { " (has passed)" } else { "" };
        writeln!(out, "{at}: {what}{of}{passed}")?;
    }
    writeln!(out, "{}", counted(config.programs.len(), "program", "programs"))?;
    Ok(Exit::Done)
}
