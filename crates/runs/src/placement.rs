//! Where matches are played.

use std::path::PathBuf;

use referee_engine::runner::{Halt, MatchRunner, RunEnd, RunEvent, TournamentScheduler};
use referee_game::Catalog;
use referee_workers::carrier::CarrierError;
use referee_workers::packing::{NotPacked, pack_bots, pack_game};
use referee_workers::{Coordinator, Job, JobBots};

/// Handles an event of a run, unless an earlier one failed. The first error is kept, as it is the most informative, and halts
/// the run.
pub(crate) fn keep_first<E>(
    kept: &mut Result<(), E>,
    handle: impl FnOnce() -> Result<(), E>,
) -> Result<(), Halt> {
    if kept.is_ok() {
        *kept = handle();
    }
    if kept.is_ok() { Ok(()) } else { Err(Halt::Done) }
}

/// Which machines play a run.
#[derive(Debug)]
pub enum Placement {
    Here,
    Workers {
        /// What hands sets out to them.
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
        schedule: TournamentScheduler,
        catalog: &Catalog,
        stop: impl Future<Output = ()>,
        on_event: impl FnMut(RunEvent<'_>) -> Result<(), Halt> + Send,
    ) -> Result<RunEnd, NotPacked> {
        let Placement::Workers { coordinator, directory } = self else {
            return Ok(runner.play(schedule, stop, on_event));
        };
        let bots = JobBots::new(pack_bots(&runner.bots, directory)?);
        let game_files = pack_game(runner.rules, directory)?;
        // Its lock keeps other processes from playing the run.
        let _journal = runner.journal.take();
        let job = Job::of_runner(runner, bots, game_files, catalog);
        Ok(coordinator.play(job, schedule, stop, on_event))
    }

    /// Ends the coordinator, and tells the workers if the run is over.
    pub(crate) fn end(self, is_over: bool) -> Result<(), CarrierError> {
        match self {
            Placement::Here => Ok(()),
            Placement::Workers { coordinator, .. } => coordinator.end(is_over),
        }
    }
}
