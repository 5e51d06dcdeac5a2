//! The effect of a change on a tournament.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use referee_bots::Command;
use referee_files::{Folder, Journal};
use referee_game::{SettingNames, Wrong, counted, keys};
use referee_stats::Entrant;
use referee_stats::schedule::{Format, Participation, Schedule};
use referee_stats::standings::Withdrawn;
use referee_store::{RequestedRuling, Results, RulingAct, TournamentChange};
use serde::{Deserialize, Serialize};

use crate::RunError;
use crate::config::{ClockLimits, KnownGames, ListenConfig, Setting};
use crate::tournament::config::{EntrantConfig, TournamentConfig};
use crate::tournament::entrant_row::{fingerprints, row, sources};
use crate::tournament::recover::LockedTournament;
use crate::tournament::ruling::decide_ruling;
use crate::tournament::stored::{StoredTournament, open_results};

/// A change, as requested from the process that plays the tournament. Paths are relative to the tournament's
/// directory.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum RequestedChange {
    /// A further entrant plays.
    Add {
        entrant: Box<EntrantConfig>,
        /// The address at which its bot connects, if the tournament does not listen yet.
        listen: Option<SocketAddr>,
        /// A file with the tokens of bots that connect, instead of the one before.
        token_file: Option<PathBuf>,
    },
    /// An entrant plays no more.
    Withdraw {
        name: String,
    },
    /// An entrant that has withdrawn plays again.
    Return {
        name: String,
    },
    Rule(Box<RequestedRuling>),
    /// Future matches have other settings.
    Set {
        /// The number of concurrent pairings.
        jobs: Option<u32>,
        /// The clock, as in the file.
        clock: Option<String>,
        /// The new command lines, by bot.
        commands: BTreeMap<String, String>,
        /// The working directory of bots with another command.
        directory: PathBuf,
        /// By entrant: the future rounds of a Swiss tournament in which it takes a bye.
        #[serde(default)]
        absent: BTreeMap<String, BTreeSet<u32>>,
    },
}

#[derive(Debug)]
pub struct ChangeEffect {
    pub(super) changes: TournamentChange,
    pub message: String,
}

/// A requested change, as it was taken up: what it does, or why it has become impossible.
pub type Applied = Result<String, Wrong>;

/// Applies a requested change, unless it has become impossible.
pub(super) fn apply(
    results: &mut Results,
    stored: &StoredTournament,
    change: &RequestedChange,
) -> Result<Applied, RunError> {
    match change.decide(stored, keys) {
        Ok(ChangeEffect { changes, message }) => {
            results.change(&changes)?;
            Ok(Ok(message))
        }
        Err(error) => Ok(Err(error)),
    }
}

/// The effect of a change.
#[derive(Debug)]
pub struct MadeChange {
    pub message: String,
    /// Whether the change waits until the matches in progress have ended.
    pub is_requested: bool,
}

/// Changes the tournament in this directory, or requests the change from the process that plays it.
///
/// # Errors
/// If the change is not possible, or the database cannot be read or written.
pub fn change(
    directory: &Path,
    games: &KnownGames,
    change: &RequestedChange,
    names: SettingNames,
) -> Result<MadeChange, RunError> {
    let opened = Folder::open(directory)?;
    let is_played = || Journal::is_open(&opened);
    // A process that begins to play it meanwhile takes up what is requested.
    let lock = || match LockedTournament::open(directory, games, true) {
        Err(_) if is_played()? => Ok(None),
        locked => locked.map(Some),
    };
    if !is_played()?
        && let Some(LockedTournament { mut folder, stored, .. }) = lock()?
    {
        let ChangeEffect { changes, message } = change.decide(&stored, names)?;
        folder.results.change(&changes)?;
        return Ok(MadeChange { message, is_requested: false });
    }
    let results = open_results(directory)?;
    let ChangeEffect { message, .. } =
        change.decide(&StoredTournament::read(directory, &results, games)?, names)?;
    results.requests().push(change)?;
    // The process that played it may have ended before that.
    if !is_played()?
        && let Some(mut locked) = lock()?
    {
        locked.applied.pop().transpose()?;
        return Ok(MadeChange { message, is_requested: false });
    }
    Ok(MadeChange { message, is_requested: true })
}

impl RequestedChange {
    /// Decides the effect that the change would have.
    ///
    /// # Errors
    /// If it is not possible.
    pub fn decide(&self, stored: &StoredTournament, names: SettingNames) -> Result<ChangeEffect, Wrong> {
        match self {
            RequestedChange::Add { entrant, listen, token_file } => {
                decide_to_add(stored, entrant, *listen, token_file, names)
            }
            RequestedChange::Withdraw { name } => decide_to_withdraw(stored, name),
            RequestedChange::Return { name } => decide_to_return(stored, name),
            RequestedChange::Rule(requested) => decide_ruling(stored, requested),
            RequestedChange::Set { jobs, clock, commands, directory, absent } => {
                let settings =
                    ChangedSettings { jobs: *jobs, clock: clock.as_deref(), commands, directory, absent };
                decide_to_set(stored, &settings, names)
            }
        }
    }
}

/// The settings of future matches.
struct ChangedSettings<'a> {
    jobs: Option<u32>,
    clock: Option<&'a str>,
    commands: &'a BTreeMap<String, String>,
    directory: &'a Path,
    absent: &'a BTreeMap<String, BTreeSet<u32>>,
}

fn decide_to_add(
    stored: &StoredTournament,
    entrant: &EntrantConfig,
    listen: Option<SocketAddr>,
    token_file: &Option<PathBuf>,
    names: SettingNames,
) -> Result<ChangeEffect, Wrong> {
    let (mut config, schedule) = (stored.config.clone(), &stored.schedule);
    check_new(stored, entrant, names)?;
    match (&mut config.listen, listen) {
        (Some(has), Some(address)) if has.address != address => {
            let listen = names("listen.address", None);
            return Err(format!("{listen}: the tournament already listens at {}", has.address).into());
        }
        (none @ None, Some(address)) => *none = Some(ListenConfig::new(address)),
        (None, None) if entrant.bots().iter().any(|bot| bot.tcp.is_some()) => {
            let address = names("listen.address", Some("\"127.0.0.1:4700\""));
            return Err(format!("the bot connects by itself: add an address, e.g. {address}").into());
        }
        _ => {}
    }
    match (&mut config.listen, token_file) {
        (Some(listen), Some(file)) => listen.token_file = Some(file.clone()),
        (None, Some(_)) => {
            let file = names("listen.token_file", None);
            return Err(format!("{file}: the tournament does not listen").into());
        }
        _ => {}
    }
    config.entrants.push(entrant.clone());
    let joins = schedule.next_round();
    if let Format::Swiss { rounds, .. } = schedule.plan().format
        && joins > rounds
    {
        return Err(format!("no entrant can join any more: round {rounds}, the last one, is paired").into());
    }
    let mut entries = schedule.plan().entrants.clone();
    entries.push(Participation { joins, ..Participation::default() });
    let own = Entrant(stored.entrants.len() as u16);
    let plan = config.plan(stored.rules, Some(entries))?;
    let prepared = config.prepare(stored.rules, stored.seed().map_err(|error| Wrong::of(&error))?, &plan)?;
    config.keep_names(&prepared.entrants);
    let bots = prepared.bots_of(own.index());
    let row = row(&config.entrants[own.index()], bots, joins);
    let message = if plan.format.is_known() {
        let schedule = Schedule::new(plan)?;
        let matches = schedule.due().filter(|due| due.lineup.has(own)).count();
        format!("{} joins: {matches} more matches, after all others", row.name)
    } else {
        format!("{} joins in round {joins}", row.name)
    };
    let changes =
        TournamentChange { config: Some(config.to_toml()?), joins: Some(row), ..TournamentChange::default() };
    Ok(ChangeEffect { changes, message })
}

/// Checks that the name of a new entrant is unique.
fn check_new(stored: &StoredTournament, entrant: &EntrantConfig, names: SettingNames) -> Result<(), Wrong> {
    let label = match (&entrant.command, &entrant.tcp) {
        (Some(command), _) => {
            let command: Command = command.parse()?;
            let directory = entrant.directory.as_deref().map(|path| stored.config.resolve(path));
            Command { directory, ..command }.label()
        }
        (None, tcp) => tcp.clone().unwrap_or_default(),
    };
    let name = entrant.name.as_ref().unwrap_or(&label);
    match stored.entrants.iter().find(|row| row.name == *name) {
        None => Ok(()),
        Some(row) => Err(format!(
            "`{name}` {}: `{bot}`; {another} adds another entrant",
            if row.leaves.is_some() { "has withdrawn and can `return`" } else { "is an entrant already" },
            bot = row.source,
            another = names("name", None)
        )
        .into()),
    }
}

/// Finds an entrant by name.
pub(super) fn find(stored: &StoredTournament, name: &str) -> Result<usize, Wrong> {
    let found = stored.entrants.iter().position(|row| row.name == name);
    found.ok_or_else(|| {
        let all: Vec<&str> = stored.entrants.iter().map(|row| &*row.name).collect();
        format!("unknown entrant `{name}`; entrants: {}", all.join(", ")).into()
    })
}

/// The bot of this name, and its entrant.
fn find_bot<'a>(
    config: &'a mut TournamentConfig,
    name: &str,
    names: SettingNames,
) -> Result<(usize, &'a mut EntrantConfig), Wrong> {
    let all = config.bot_names();
    let of_team =
        config.names().iter().position(|entrant| entrant == name).filter(|&index| all[index].len() > 1);
    if let Some(index) = of_team {
        return Err(format!(
            "{}: `{name}` is a team: name one of its bots, {}",
            names("command", None),
            all[index].join(", ")
        )
        .into());
    }
    let mut bots = (config.entrants.iter_mut().enumerate())
        .flat_map(|(index, entrant)| entrant.bots_mut().iter_mut().map(move |bot| (index, bot)));
    let found = bots.find(|(_, bot)| bot.name.as_deref() == Some(name));
    found.ok_or_else(|| Wrong::from(format!("unknown bot `{name}`; bots: {}", all.concat().join(", "))))
}

fn decide_to_withdraw(stored: &StoredTournament, name: &str) -> Result<ChangeEffect, Wrong> {
    let index = find(stored, name)?;
    if stored.entrants[index].leaves.is_some() {
        return Err(format!("`{name}` has withdrawn already").into());
    }
    let leaves = stored.schedule.next_round();
    let schedule = stored.schedule.without(Entrant(index as u16))?;
    let what = match schedule.withdrawn()[index] {
        Some(Withdrawn::Annulled) => {
            "it has played fewer than half of its matches, so its results are annulled"
        }
        _ => "its results count",
    };
    let changes = TournamentChange { leaves: Some((index, leaves)), ..TournamentChange::default() };
    Ok(ChangeEffect { changes, message: format!("{name} has withdrawn: {what}") })
}

fn decide_to_return(stored: &StoredTournament, name: &str) -> Result<ChangeEffect, Wrong> {
    let index = find(stored, name)?;
    if stored.entrants[index].leaves.is_none() {
        return Err(format!("`{name}` has not withdrawn").into());
    }
    let disqualified = stored.rulings.iter().find(|row| {
        row.act == RulingAct::Disqualify
            && row.is_in_force()
            && (row.matches.is_empty() || row.is_from_start)
            && row.name.as_deref() == Some(name)
    });
    if let Some(row) = disqualified {
        return Err(format!("`{name}` is disqualified: undo ruling {}", row.id).into());
    }
    rejoin(stored, index)
}

pub(super) fn rejoin(stored: &StoredTournament, index: usize) -> Result<ChangeEffect, Wrong> {
    let name = &stored.entrants[index].name;
    let own = Entrant(index as u16);
    let schedule = stored.schedule.with_returned(own)?;
    let plan = schedule.plan();
    let prepared =
        stored.config.prepare(stored.rules, stored.seed().map_err(|error| Wrong::of(&error))?, plan)?;
    let bots = prepared.bots_of(index);
    let missed = plan.entrants[index].missed.iter().map(|missed| (missed.start, missed.end)).collect();
    let message = if plan.format.is_known() {
        let matches = schedule.due().filter(|due| due.lineup.has(own)).count();
        format!(
            "{name} returns: {}, and its results count",
            counted(matches, "match to play", "matches to play")
        )
    } else {
        match plan.entrants[index].missed.last().filter(|missed| missed.end == schedule.next_round()) {
            Some(missed) => format!("{name} returns in round {}", missed.end),
            None => format!("{name} returns before it has missed a round"),
        }
    };
    let changes = TournamentChange {
        returns: Some((index, missed)),
        sources: vec![(index, sources(bots), fingerprints(bots))],
        ..TournamentChange::default()
    };
    Ok(ChangeEffect { changes, message })
}

/// Sets the rounds that are not paired yet in which an entrant takes a bye.
fn set_absent(
    stored: &StoredTournament,
    config: &mut TournamentConfig,
    name: &str,
    rounds: &BTreeSet<u32>,
    names: SettingNames,
) -> Result<String, Wrong> {
    let index = find(stored, name)?;
    let next = stored.schedule.next_round();
    if let Some(&round) = rounds.first().filter(|&&round| round < next) {
        let absent = names("absent", None);
        return Err(format!("{absent}: round {round} is paired already; the next one is {next}").into());
    }
    let absent = &mut config.entrants[index].absent;
    absent.retain(|&round| round < next);
    absent.extend(rounds);
    let listed: Vec<String> = rounds.iter().map(u32::to_string).collect();
    Ok(match listed.len() {
        0 => format!("{name}: no byes on request from round {next} on"),
        _ => format!("{name}: byes on request in the rounds {}", listed.join(", ")),
    })
}

fn decide_to_set(
    stored: &StoredTournament,
    settings: &ChangedSettings<'_>,
    names: SettingNames,
) -> Result<ChangeEffect, Wrong> {
    let mut config = stored.config.clone();
    let mut message = Vec::new();
    if let Some(jobs) = settings.jobs {
        message.push(format!("jobs: {jobs}, before {}", config.jobs));
        config.jobs = jobs;
    }
    if let Some(text) = settings.clock {
        let clock: Setting<ClockLimits> =
            text.parse().map_err(|why: Wrong| Wrong::at(names("clock", None), why))?;
        message.push(format!("clock of future matches: {clock}, before {}", config.terms.clock));
        config.terms.clock = clock;
    }
    let mut changed = Vec::new();
    for (name, command) in settings.commands {
        let (index, bot) = find_bot(&mut config, name, names)?;
        let Some(before) = bot.command.replace(command.clone()) else {
            let command = names("command", None);
            return Err(format!("{command}: `{name}` has no command line of its own").into());
        };
        bot.directory = Some(settings.directory.to_owned());
        bot.files = None;
        message.push(format!("{name}: `{command}`, before `{before}`"));
        changed.push(index);
    }
    for (name, rounds) in settings.absent {
        message.push(set_absent(stored, &mut config, name, rounds, names)?);
    }
    let plan = config.plan(stored.rules, Some(stored.schedule.plan().entrants.clone()))?;
    let prepared = config.prepare(stored.rules, stored.seed().map_err(|error| Wrong::of(&error))?, &plan)?;
    let source = |index: usize| {
        let bots = prepared.bots_of(index);
        (index, sources(bots), fingerprints(bots))
    };
    let sources = changed.into_iter().map(source).collect();
    let changes =
        TournamentChange { config: Some(config.to_toml()?), sources, ..TournamentChange::default() };
    Ok(ChangeEffect { changes, message: message.join("\n") })
}
