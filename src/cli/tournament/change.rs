//! Changes to a tournament in progress: entrants that join or withdraw, and settings.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args as ClapArgs;

use crate::cli::exit::{Exit, Failure};
use crate::cli::options::option_names;
use crate::cli::screen;
use crate::runs::config::KnownGames;
use crate::runs::tournament::{
    self, ChangeEffect, EntrantConfig, MadeChange, RequestedChange, StoredTournament, open_results,
    relative_path,
};
use crate::sources::{self, Source};

/// Add an entrant, even while the tournament is in progress
///
/// Several bots form a fixed team, one per seat of a side in this order, in a game with partners. A team needs a name.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament add cup ./newbot --name new
  referee tournament add cup ./north ./south --name compass
  referee tournament add cup tcp:alice --listen 127.0.0.1:4700 --token-file tokens")]
pub(super) struct AddArgs {
    /// The tournament's directory
    dir: PathBuf,
    /// The bot, or those of a team: command lines, or tcp:NAME
    #[arg(required = true, value_name = "BOT", value_parser = sources::parse)]
    bots: Vec<Arc<dyn Source>>,
    /// Its label [default: the name of its script or program; a team has none]
    #[arg(long)]
    name: Option<String>,
    /// The working directory of its bots [default: the current one]
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Where to listen for bots that connect, if the tournament does not listen yet
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// A file with a line NAME=TOKEN for each bot that connects; replaces the previous one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// Withdraw an entrant, even while the tournament is in progress
///
/// In a Swiss tournament and in a knockout its results stand. In the other formats they stand if it has played at
/// least half of its matches, and its opponents win the rest; otherwise all its results are annulled. On a terminal it
/// asks first. `referee tournament return` brings the entrant back.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament withdraw cup old
  referee tournament withdraw cup old --yes")]
pub(super) struct WithdrawArgs {
    /// The tournament's directory
    dir: PathBuf,
    /// Its label
    name: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// Bring back an entrant that has withdrawn, even while the tournament is in progress
///
/// In a Swiss tournament it is paired from the next round on; the rounds that it missed give no points. In a round robin and
/// the other formats without rounds, all its missing matches are played, and annulled results count again. Nothing
/// returns to a knockout.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament return cup old")]
pub(super) struct ReturnArgs {
    /// The tournament's directory
    dir: PathBuf,
    /// Its label
    name: String,
}

/// Change the settings of future matches, even while the tournament is in progress
///
/// Results stand. The record of each match contains the clock that it was played with.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament change cup --jobs 4
  referee tournament change cup --clock delay=1s,bank=30s
  referee tournament change cup --command 'alice=python3 alice2.py'
  referee tournament change cup --absent alice=3,4")]
pub(super) struct ChangeArgs {
    /// The tournament's directory
    dir: PathBuf,
    #[command(flatten)]
    settings: NewSettings,
}

/// The settings; at least one is required.
#[derive(Debug, ClapArgs)]
#[group(required = true, multiple = true)]
struct NewSettings {
    /// The number of pairings that play concurrently
    #[arg(long, value_name = "N")]
    jobs: Option<u32>,
    /// The clock of each bot, as for `referee play`
    #[arg(long, value_name = "CLOCK")]
    clock: Option<String>,
    /// The command line of a bot, run in the current directory; may be repeated. NAME is its entrant, or the bot of a team
    #[arg(long, value_name = "NAME=COMMAND")]
    command: Vec<String>,
    /// The rounds of a Swiss tournament, of those that are not paired yet, in which an entrant takes a bye; may be
    /// repeated. `NAME=` for none
    #[arg(long, value_name = "NAME=ROUNDS")]
    absent: Vec<String>,
}

pub(super) fn add(args: AddArgs, games: &KnownGames) -> Result<Exit, Failure> {
    // Relative to the tournament's directory, so that both can be moved together, unless the path is absolute.
    let here = here(&args.dir)?;
    let directory = here.join(args.directory.unwrap_or_default());
    if args.bots.len() > 1 && args.name.is_none() {
        return Err(Failure::usage("--name: a team of several bots needs a name"));
    }
    let entrant = EntrantConfig::new(args.name, args.bots, &directory);
    let token_file = args.token_file.map(|path| here.join(path));
    change(
        &args.dir,
        games,
        &RequestedChange::Add { entrant: Box::new(entrant), listen: args.listen, token_file },
    )
}

pub(super) fn withdraw(args: WithdrawArgs, games: &KnownGames) -> Result<Exit, Failure> {
    let withdraw = RequestedChange::Withdraw { name: args.name };
    if !args.yes && io::stdin().is_terminal() {
        let results = open_results(&args.dir)?;
        let stored = StoredTournament::read(&args.dir, &results, games)?;
        let ChangeEffect { message, .. } = withdraw.decide(&stored, option_names).map_err(Failure::usage)?;
        if !screen::confirmed(&format!(
            "{message}. `referee tournament return` would bring it back. Withdraw it?"
        ))? {
            return Err(Failure::usage("nothing was changed"));
        }
    }
    change(&args.dir, games, &withdraw)
}

pub(super) fn return_(args: ReturnArgs, games: &KnownGames) -> Result<Exit, Failure> {
    change(&args.dir, games, &RequestedChange::Return { name: args.name })
}

/// Parses NAME=3,4.
fn absent_rounds(text: &str) -> Result<(String, BTreeSet<u32>), Failure> {
    let wrong = || Failure::usage(format!("--absent: `{text}` is not NAME=ROUNDS, e.g. alice=3,4"));
    let (name, rounds) = text.split_once('=').ok_or_else(wrong)?;
    let rounds = rounds.split(',').filter(|round| !round.is_empty()).map(str::parse);
    Ok((name.to_owned(), rounds.collect::<Result<_, _>>().map_err(|_| wrong())?))
}

pub(super) fn set(args: ChangeArgs, games: &KnownGames) -> Result<Exit, Failure> {
    let NewSettings { jobs, clock, command, absent } = args.settings;
    let named = command.iter().map(|text| {
        let (name, command) = text
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("--command: `{text}` is not NAME=COMMAND")))?;
        Ok((name.to_owned(), command.to_owned()))
    });
    let commands = named.collect::<Result<_, Failure>>()?;
    let absent = absent.iter().map(|text| absent_rounds(text)).collect::<Result<_, Failure>>()?;
    let directory = here(&args.dir)?;
    change(&args.dir, games, &RequestedChange::Set { jobs, clock, commands, directory, absent })
}

/// The current directory, relative to that of the tournament.
fn here(dir: &Path) -> Result<PathBuf, Failure> {
    open_results(dir)?;
    relative_path(dir, Path::new(".")).map_err(Failure::cannot_run)
}

/// Makes a change, or requests it from the process that plays the tournament.
pub(super) fn change(dir: &Path, games: &KnownGames, change: &RequestedChange) -> Result<Exit, Failure> {
    let MadeChange { message, is_requested } = tournament::change(dir, games, change, option_names)?;
    let mut out = screen::stdout();
    writeln!(out, "{message}")?;
    if is_requested {
        writeln!(out, "it takes effect when the matches in progress have ended")?;
    }
    Ok(Exit::Done)
}
