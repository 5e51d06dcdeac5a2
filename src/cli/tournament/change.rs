//! Entrants that come and go.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::tournament::config::EntrantConfig;
use crate::cli::tournament::folder::{Folder, Reading, journal, read, row};
use crate::cli::tournament::results;
use crate::cli::{Exit, Failure};
use crate::server::Source;
use crate::tournament::Entrant;
use crate::tournament::schedule::{Entry, Format, Schedule};

/// Take another entrant in
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament add cup ./newbot --name new
  referee tournament add cup tcp:alice")]
pub(super) struct AddArgs {
    /// The tournament's folder
    dir: PathBuf,
    /// The bot: a command line, or tcp:NAME
    bot: Source,
    /// Its label [default: the name of its script or program]
    #[arg(long)]
    name: Option<String>,
    /// The folder that it runs in [default: this one]
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Take an entrant out: what it has played stands
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament withdraw cup old")]
pub(super) struct WithdrawArgs {
    /// The tournament's folder
    dir: PathBuf,
    /// Its label
    name: String,
}

pub(super) fn add(args: AddArgs) -> Result<Exit, Failure> {
    let mut folder = Folder::open(&args.dir)?;
    let directory = std::path::absolute(args.directory.unwrap_or_else(|| PathBuf::from(".")))
        .map_err(Failure::cannot_run)?;
    let mut config = folder.config;
    config.entrants.push(EntrantConfig::new(args.name, args.bot, Some(directory)));
    let joins = folder.schedule.next_round();
    if let Format::Swiss { rounds, .. } = folder.schedule.plan().format
        && joins > rounds
    {
        return Err(Failure::usage(format!(
            "nobody can join any more: round {rounds}, the last one, is paired"
        )));
    }
    let mut entries = folder.schedule.plan().entrants.clone();
    entries.push(Entry { joins, leaves: None });
    let plan = config.plan(Some(entries))?;
    let prepared = config.prepare(folder.prepared.run.seed, &plan)?;
    config.keep_names(&prepared.entrants);
    let Some(entrant) = prepared.entrants.last() else { return Ok(Exit::Done) };
    let row = row(entrant, joins);
    folder.results.add_entrant(&row, &config.to_toml()?).map_err(Failure::cannot_run)?;
    if plan.format.is_known() {
        let schedule = Schedule::new(plan).map_err(Failure::usage)?;
        let own = Entrant(folder.prepared.entrants.len() as u16);
        let matches = schedule.due().filter(|due| due.lineup.has(own)).count();
        println!("{} joins: {matches} matches more, after all others", row.name);
    } else {
        println!("{} joins in round {joins}", row.name);
    }
    Ok(Exit::Done)
}

pub(super) fn withdraw(args: &WithdrawArgs) -> Result<Exit, Failure> {
    let results = results(&args.dir)?;
    let _alone = journal(&args.dir)?;
    let Reading { entrants, schedule, .. } = read(&results)?;
    let Some(index) = entrants.iter().position(|row| row.name == args.name) else {
        let names: Vec<&str> = entrants.iter().map(|row| row.name.as_str()).collect();
        return Err(Failure::usage(format!("there is no `{}`: there is {}", args.name, names.join(", "))));
    };
    if entrants[index].leaves.is_some() {
        return Err(Failure::usage(format!("`{}` has left already", args.name)));
    }
    results.withdraw(index, schedule.next_round()).map_err(Failure::cannot_run)?;
    println!("{} has left", args.name);
    Ok(Exit::Done)
}
