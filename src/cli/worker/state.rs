//! `referee worker drain`, `aside` and `activate`: whether a worker gets sets.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use crate::cli::exit::{Exit, Failure};
use crate::cli::screen;
use crate::store::{Leases, StoreError};
use crate::workers::machine::{MachineState, RequestedState};

/// Let a worker finish its sets, and end it then
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee worker drain cup box7")]
pub(super) struct DrainArgs {
    #[command(flatten)]
    pub(super) of: WorkerOfRun,
}

/// Give a worker no further sets
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee worker aside cup box7")]
pub(super) struct AsideArgs {
    #[command(flatten)]
    pub(super) of: WorkerOfRun,
}

/// Give a worker sets again that was put aside or drained
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee worker activate cup box7")]
pub(super) struct ActivateArgs {
    #[command(flatten)]
    pub(super) of: WorkerOfRun,
}

#[derive(Debug, ClapArgs)]
pub(super) struct WorkerOfRun {
    /// The directory of the tournament or of the league
    pub(super) dir: PathBuf,
    /// The name of the worker, as `referee tournament status` and `referee league workers` print it
    pub(super) name: String,
}

pub(super) fn drain(of: &WorkerOfRun) -> Result<Exit, Failure> {
    ask(of, MachineState::Drained, "gets no further sets and ends when those that it has are played")
}

pub(super) fn aside(of: &WorkerOfRun) -> Result<Exit, Failure> {
    ask(of, MachineState::Aside, "gets no further sets")
}

pub(super) fn activate(of: &WorkerOfRun) -> Result<Exit, Failure> {
    ask(of, MachineState::Active, "gets sets again")
}

impl WorkerOfRun {
    /// Checks that the run, or a ladder of the league, knows the worker. Returns the sets of the run, or of each ladder.
    pub(super) fn check(&self) -> Result<Vec<Leases>, Failure> {
        let WorkerOfRun { dir, name } = self;
        let runs = runs(dir).map_err(Failure::cannot_run)?;
        if runs.is_empty() {
            return Err(Failure::usage(format!("{} has no workers", dir.display())));
        }
        let mut names = BTreeSet::new();
        for run in &runs {
            names.extend(run.workers().map_err(Failure::cannot_run)?.into_iter().map(|worker| worker.name));
        }
        if !names.contains(name) {
            let names: Vec<String> = names.into_iter().collect();
            let known = if names.is_empty() { "none has connected".to_owned() } else { names.join(", ") };
            return Err(Failure::usage(format!("there is no worker `{name}`; known: {known}")));
        }
        Ok(runs)
    }
}

/// Requests a state from the process that plays the run, or the ladders of the league.
fn ask(of: &WorkerOfRun, state: MachineState, what: &str) -> Result<Exit, Failure> {
    for run in of.check()? {
        let requested = RequestedState { worker: of.name.clone(), state };
        run.requests().push(&requested).map_err(Failure::cannot_run)?;
    }
    screen::stderr_line(format_args!("{} {what}", of.name));
    Ok(Exit::Done)
}

/// The leases of a tournament, or of each ladder of a league.
fn runs(dir: &Path) -> Result<Vec<Leases>, StoreError> {
    let mut directories = vec![dir.to_owned()];
    if let Ok(ladders) = std::fs::read_dir(dir.join("ladders")) {
        for ladder in ladders {
            directories.push(ladder?.path());
        }
    }
    directories.iter().filter_map(|directory| Leases::of_run(directory).transpose()).collect()
}
