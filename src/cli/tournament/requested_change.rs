//! What a change does to a tournament.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::bot::Command;
use crate::cli::Failure;
use crate::cli::options::clock;
use crate::cli::screen::stderr_line;
use crate::cli::tournament::config::{Config, EntrantConfig, ListenConfig};
use crate::cli::tournament::entrant_row::{fingerprints, row, sources};
use crate::cli::tournament::reading::{Reading, read};
use crate::cli::tournament::requested_ruling::{RequestedRuling, decide_ruling};
use crate::game::counted;
use crate::stats::Entrant;
use crate::stats::schedule::{Format, Participation, Schedule};
use crate::stats::standings::Withdrawn;
use crate::store::{Results, RulingAct, TournamentChange};

/// A change, as requested from the process that plays the tournament. Paths are relative to the tournament's
/// directory.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(super) enum RequestedChange {
    Add {
        entrant: Box<EntrantConfig>,
        listen: Option<SocketAddr>,
        token_file: Option<PathBuf>,
    },
    Withdraw {
        name: String,
    },
    Return {
        name: String,
    },
    Rule(Box<RequestedRuling>),
    Set {
        jobs: Option<u32>,
        clock: Option<String>,
        /// By bot.
        commands: BTreeMap<String, String>,
        directory: PathBuf,
        /// By entrant: the future rounds of a Swiss tournament in which it takes a bye.
        #[serde(default)]
        absent: BTreeMap<String, BTreeSet<u32>>,
    },
}

/// The effect of a change.
pub(super) struct Decided {
    pub(super) changes: TournamentChange,
    /// A description.
    pub(super) message: String,
}

/// Applies a requested change. A change that has become impossible is reported and skipped.
pub(super) fn apply_asked(results: &mut Results, reading: Reading, asked: &str) -> Result<Reading, Failure> {
    let change: RequestedChange = serde_json::from_str(asked).map_err(Failure::cannot_run)?;
    match decide(&reading, &change) {
        Ok(Decided { changes, message }) => {
            results.change(&changes).map_err(Failure::cannot_run)?;
            stderr_line(format_args!("changed: {message}"));
        }
        Err(failure) => stderr_line(format_args!("not changed: {:#}", failure.error)),
    }
    // Interrupted matches are only known to the caller's `reading` if it is of this process.
    let folder = reading.config.folder().to_owned();
    read(&folder, results, &reading.catalog)
}

pub(super) fn decide(reading: &Reading, change: &RequestedChange) -> Result<Decided, Failure> {
    match change {
        RequestedChange::Add { entrant, listen, token_file } => {
            decide_to_add(reading, entrant, *listen, token_file)
        }
        RequestedChange::Withdraw { name } => decide_to_withdraw(reading, name),
        RequestedChange::Return { name } => decide_to_return(reading, name),
        RequestedChange::Rule(requested) => decide_ruling(reading, requested),
        RequestedChange::Set { jobs, clock, commands, directory, absent } => {
            decide_to_set(reading, (*jobs, clock.as_deref()), (commands, directory), absent)
        }
    }
}

fn decide_to_add(
    reading: &Reading,
    entrant: &EntrantConfig,
    listen: Option<SocketAddr>,
    token_file: &Option<PathBuf>,
) -> Result<Decided, Failure> {
    let (mut config, schedule) = (reading.config.clone(), &reading.schedule);
    check_new(reading, entrant)?;
    match (&mut config.listen, listen) {
        (Some(has), Some(address)) if has.address != address => {
            return Err(Failure::usage(format!(
                "--listen: the tournament already listens at {}",
                has.address
            )));
        }
        (none @ None, Some(address)) => *none = Some(ListenConfig::new(address)),
        (None, None) if entrant.bots().iter().any(|bot| bot.tcp.is_some()) => {
            let what = "the bot connects by itself: add an address, e.g. --listen 127.0.0.1:4700";
            return Err(Failure::usage(what));
        }
        _ => {}
    }
    match (&mut config.listen, token_file) {
        (Some(listen), Some(file)) => listen.token_file = Some(file.clone()),
        (None, Some(_)) => return Err(Failure::usage("--token-file: the tournament does not listen")),
        _ => {}
    }
    config.entrants.push(entrant.clone());
    let joins = schedule.next_round();
    if let Format::Swiss { rounds, .. } = schedule.plan().format
        && joins > rounds
    {
        return Err(Failure::usage(format!(
            "no entrant can join any more: round {rounds}, the last one, is paired"
        )));
    }
    let mut entries = schedule.plan().entrants.clone();
    entries.push(Participation { joins, ..Participation::default() });
    let own = Entrant(reading.entrants.len() as u16);
    let plan = config.plan(reading.rules, Some(entries))?;
    let prepared = config.prepare(reading.rules, reading.seed()?, &plan)?;
    config.keep_names(&prepared.entrants);
    let bots = prepared.bots_of(own.index());
    let row = row(&config.entrants[own.index()], bots, joins);
    let message = if plan.format.is_known() {
        let schedule = Schedule::new(plan).map_err(Failure::usage)?;
        let matches = schedule.due().filter(|due| due.lineup.has(own)).count();
        format!("{} joins: {matches} more matches, after all others", row.name)
    } else {
        format!("{} joins in round {joins}", row.name)
    };
    let changes =
        TournamentChange { config: Some(config.to_toml()?), joins: Some(row), ..TournamentChange::default() };
    Ok(Decided { changes, message })
}

/// Checks that the name of a new entrant is unique.
fn check_new(reading: &Reading, entrant: &EntrantConfig) -> Result<(), Failure> {
    let label = match (&entrant.command, &entrant.tcp) {
        (Some(command), _) => {
            let command: Command = command.parse().map_err(Failure::usage)?;
            let directory = entrant.directory.as_deref().map(|path| reading.config.resolve(path));
            Command { directory, ..command }.label()
        }
        (None, tcp) => tcp.clone().unwrap_or_default(),
    };
    let name = entrant.name.as_ref().unwrap_or(&label);
    let Some(row) = reading.entrants.iter().find(|row| row.name == *name) else { return Ok(()) };
    let left = match row.leaves {
        Some(_) => "has withdrawn and can `return`",
        None => "is an entrant already",
    };
    Err(Failure::usage(format!("`{name}` {left}: `{}`; --name adds another entrant", row.source)))
}

/// Finds an entrant by name.
pub(super) fn find(reading: &Reading, name: &str) -> Result<usize, Failure> {
    let found = reading.entrants.iter().position(|row| row.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = reading.entrants.iter().map(|row| row.name.as_str()).collect();
        Failure::usage(format!("unknown entrant `{name}`; entrants: {}", names.join(", ")))
    })
}

/// The bot of this name, and its entrant.
fn find_bot<'a>(config: &'a mut Config, name: &str) -> Result<(usize, &'a mut EntrantConfig), Failure> {
    let all = config.bot_names();
    let of_team =
        config.names().iter().position(|entrant| entrant == name).filter(|&index| all[index].len() > 1);
    if let Some(index) = of_team {
        let bots = all[index].join(", ");
        return Err(Failure::usage(format!("--command: `{name}` is a team: name one of its bots, {bots}")));
    }
    let mut bots = (config.entrants.iter_mut().enumerate())
        .flat_map(|(index, entrant)| entrant.bots_mut().iter_mut().map(move |bot| (index, bot)));
    let found = bots.find(|(_, bot)| bot.name.as_deref() == Some(name));
    found.ok_or_else(|| Failure::usage(format!("unknown bot `{name}`; bots: {}", all.concat().join(", "))))
}

fn decide_to_withdraw(reading: &Reading, name: &str) -> Result<Decided, Failure> {
    let index = find(reading, name)?;
    if reading.entrants[index].leaves.is_some() {
        return Err(Failure::usage(format!("`{name}` has withdrawn already")));
    }
    let leaves = reading.schedule.next_round();
    let schedule = reading.schedule.without(Entrant(index as u16)).map_err(Failure::usage)?;
    let what = match schedule.withdrawn()[index] {
        Some(Withdrawn::Annulled) => {
            "it has played fewer than half of its matches, so its results are annulled"
        }
        _ => "its results count",
    };
    let changes = TournamentChange { leaves: Some((index, leaves)), ..TournamentChange::default() };
    Ok(Decided { changes, message: format!("{name} has withdrawn: {what}") })
}

fn decide_to_return(reading: &Reading, name: &str) -> Result<Decided, Failure> {
    let index = find(reading, name)?;
    if reading.entrants[index].leaves.is_none() {
        return Err(Failure::usage(format!("`{name}` has not withdrawn")));
    }
    let disqualified = reading.rulings.iter().find(|row| {
        row.act == RulingAct::Disqualify
            && row.is_in_force()
            && (row.matches.is_empty() || row.is_from_start)
            && row.name.as_deref() == Some(name)
    });
    if let Some(row) = disqualified {
        return Err(Failure::usage(format!("`{name}` is disqualified: undo ruling {}", row.id)));
    }
    rejoin(reading, index)
}

/// Brings an entrant back.
pub(super) fn rejoin(reading: &Reading, index: usize) -> Result<Decided, Failure> {
    let name = &reading.entrants[index].name;
    let own = Entrant(index as u16);
    let schedule = reading.schedule.with_returned(own).map_err(Failure::usage)?;
    let plan = schedule.plan();
    let prepared = reading.config.prepare(reading.rules, reading.seed()?, plan)?;
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
    Ok(Decided { changes, message })
}

/// Sets the rounds that are not paired yet in which an entrant takes a bye.
fn set_absent(
    reading: &Reading,
    config: &mut Config,
    name: &str,
    rounds: &BTreeSet<u32>,
) -> Result<String, Failure> {
    let index = find(reading, name)?;
    let next = reading.schedule.next_round();
    if let Some(paired) = rounds.first().filter(|&&round| round < next) {
        return Err(Failure::usage(format!(
            "--absent: round {paired} is paired already; the next one is {next}"
        )));
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
    reading: &Reading,
    (jobs, new_clock): (Option<u32>, Option<&str>),
    (commands, directory): (&BTreeMap<String, String>, &Path),
    absent: &BTreeMap<String, BTreeSet<u32>>,
) -> Result<Decided, Failure> {
    let mut config: Config = reading.config.clone();
    let mut message = Vec::new();
    if let Some(jobs) = jobs {
        message.push(format!("jobs: {jobs}, before {}", config.jobs));
        config.jobs = jobs;
    }
    if let Some(text) = new_clock {
        clock(text).map_err(|what| Failure::usage(format!("--clock: {what}")))?;
        message.push(format!("clock of future matches: {text}, before {}", config.clock));
        config.clock = text.to_owned();
    }
    let mut changed = Vec::new();
    for (name, command) in commands {
        let (index, bot) = find_bot(&mut config, name)?;
        let Some(before) = bot.command.replace(command.clone()) else {
            return Err(Failure::usage(format!("--command: `{name}` has no command line of its own")));
        };
        bot.directory = Some(directory.to_owned());
        bot.files = None;
        message.push(format!("{name}: `{command}`, before `{before}`"));
        changed.push(index);
    }
    for (name, rounds) in absent {
        message.push(set_absent(reading, &mut config, name, rounds)?);
    }
    let plan = config.plan(reading.rules, Some(reading.schedule.plan().entrants.clone()))?;
    let prepared = config.prepare(reading.rules, reading.seed()?, &plan)?;
    let source = |index: usize| {
        let bots = prepared.bots_of(index);
        (index, sources(bots), fingerprints(bots))
    };
    let sources = changed.into_iter().map(source).collect();
    let changes =
        TournamentChange { config: Some(config.to_toml()?), sources, ..TournamentChange::default() };
    Ok(Decided { changes, message: message.join("\n") })
}
