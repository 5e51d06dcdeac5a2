//! The place where matches are played.

use std::path::{Path, PathBuf};

use referee_engine::runner::{Halt, MatchRunner, PlanScheduler, RunEnd, RunEvent};
use referee_game::Catalog;
use referee_game::Wrong;
use referee_workers::packing::{NotPacked, pack_bots, pack_game};
use referee_workers::{Coordinator, Job, JobBots};

/// Handles an event of a run, unless an earlier one failed. The first error is kept, as it is the most informative, and halts
/// the run.
pub(crate) fn halt_on_error<E>(
    kept: &mut Result<(), E>,
    handle: impl FnOnce() -> Result<(), E>,
) -> Result<(), Halt> {
    if kept.is_ok() {
        *kept = handle();
    }
    if kept.is_ok() { Ok(()) } else { Err(Halt::Done) }
}

fn job(runner: &MatchRunner, bots: JobBots, directory: &Path, catalog: &Catalog) -> Result<Job, NotPacked> {
    Ok(Job::of_runner(runner, bots, pack_game(runner.rules, directory)?, catalog))
}

/// The machines that play a run.
#[derive(Debug)]
pub enum Placement {
    Here,
    Workers {
        coordinator: Box<Coordinator>,
        /// The directory whose archives they get.
        directory: PathBuf,
    },
}

impl Placement {
    /// Plays the matches of a schedule as this runner would.
    pub(crate) fn play(
        &mut self,
        mut runner: MatchRunner,
        schedule: PlanScheduler,
        catalog: &Catalog,
        stop: impl Future<Output = ()>,
        on_event: impl FnMut(RunEvent<'_>) -> Result<(), Halt> + Send,
    ) -> Result<RunEnd, NotPacked> {
        let Placement::Workers { coordinator, directory } = self else {
            return Ok(runner.play(schedule, stop, on_event));
        };
        let bots = JobBots::new(pack_bots(&runner.bots, directory)?);
        let job = job(&runner, bots, directory, catalog)?;
        // The lock of the journal of the runner keeps other processes from playing the run.
        let job = Job { unsealed: runner.unsealed.take(), drain: runner.drain.take(), ..job };
        Ok(coordinator.play(job, schedule, stop, on_event))
    }

    /// The share of workers in this runner's matches, with bots that may be added; `None` without workers.
    #[cfg(feature = "http")]
    pub(crate) fn shared(
        &self,
        runner: &MatchRunner,
        bots: JobBots,
        catalog: &Catalog,
    ) -> Result<Option<Job>, NotPacked> {
        match self {
            Placement::Here => Ok(None),
            Placement::Workers { directory, .. } => job(runner, bots, directory, catalog).map(Some),
        }
    }

    /// Ends the coordinator, and tells the workers if the run is over.
    pub(crate) fn end(self, is_over: bool) -> Result<(), Wrong> {
        match self {
            Placement::Here => Ok(()),
            Placement::Workers { coordinator, .. } => coordinator.end(is_over),
        }
    }
}
