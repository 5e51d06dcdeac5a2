//! Plays the units of a run on this machine.

use std::collections::VecDeque;
use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::{mpsc, oneshot};

use crate::archive::ArchiveId;
use crate::unit::{UnitBot, UnitId, UnitMatch, WorkUnit};
use referee_bots::sandbox::{Sandbox, separate};
use referee_bots::{Command, Launch};
use referee_engine::driver::Run;
use referee_engine::runner::{
    EndedMatch, Fixture, Halt, MatchRunner, Next, RunChange, RunEvent, RunFailure, Scheduler, is_between,
};
use referee_engine::sources::BotSpec;
use referee_game::chance::Seed;
use referee_game::erased::Rules;
use referee_game::{Seating, Wrong};
use referee_match::record;
use referee_results::FinishedMatch;

/// The maximum number of idle bot processes, which are kept for later matches.
const PROCESSES: usize = 64;

/// An event of a player's matches.
#[derive(Debug)]
pub(super) enum PlayerEvent {
    Match {
        run: String,
        id: String,
        record: Vec<u8>,
        is_to_be_replayed: bool,
        /// Whether the player was stopped.
        is_cut_off: bool,
    },
    /// The player of a run cannot go on.
    Failed(String, RunFailure),
}

/// The properties that the units of a player share.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UnitKind {
    run: String,
    game: String,
    game_files: Option<ArchiveId>,
    seating: Seating,
    terms: referee_engine::driver::Terms,
}

impl UnitKind {
    /// The kind of a unit.
    ///
    /// # Errors
    /// If it is not of this game.
    pub(super) fn of(unit: &WorkUnit, rules: &dyn Rules) -> Result<UnitKind, Wrong> {
        let (meta, game) = (rules.meta(), || unit.game.clone());
        if meta.id != unit.game {
            return Err(format!("the game is {} here and {} there", meta.id, game()).into());
        }
        if meta.rules_version != unit.rules {
            return Err(format!(
                "{} has rules version {} here and {} there",
                game(),
                meta.rules_version,
                unit.rules
            )
            .into());
        }
        let seating = meta.seating(Some(unit.seats))?;
        if seating.sides() != usize::from(unit.sides) {
            return Err(
                format!("{} has {} sides here and {} there", game(), seating.sides(), unit.sides).into()
            );
        }
        let fits = |of: &UnitMatch| {
            of.bots.len() == seating.seats() && of.bots.iter().all(|&bot| bot < unit.bots.len())
        };
        if unit.matches.is_empty() || !unit.matches.iter().all(fits) {
            return Err(format!("the matches of {} do not fit its bots", unit.id).into());
        }
        Ok(UnitKind {
            run: unit.id.run.clone(),
            game: unit.game.clone(),
            game_files: unit.game_files,
            seating,
            terms: unit.terms,
        })
    }
}

/// The location of a bot on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    /// The working directory.
    pub(super) directory: PathBuf,
    /// The directory with all of its files, if they travelled.
    pub(super) files: Option<PathBuf>,
}

#[derive(Debug)]
struct OpenUnit {
    set: u32,
    fixtures: VecDeque<Fixture>,
    running: Option<String>,
}

/// The units in progress, which the lanes draw matches from.
#[derive(Debug, Default)]
struct OpenUnits {
    units: Vec<OpenUnit>,
    /// The number of bots that are registered with the lanes.
    bots: usize,
}

#[derive(Debug, Default)]
struct UnitScheduler(Arc<Mutex<OpenUnits>>);

fn lock(units: &Mutex<OpenUnits>) -> MutexGuard<'_, OpenUnits> {
    units.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scheduler for UnitScheduler {
    fn next(&mut self, among: Option<&[usize]>) -> Next {
        let mut open = lock(&self.0);
        let OpenUnits { units, bots } = &mut *open;
        let is_due = |unit: &&mut OpenUnit| {
            unit.running.is_none()
                && unit.fixtures.front().is_some_and(|fixture| {
                    fixture.bots.iter().all(|bot| bot < bots)
                        && among.is_none_or(|among| is_between(&fixture.bots, among))
                })
        };
        let Some(unit) = units.iter_mut().find(is_due) else { return Next::Later };
        let Some(fixture) = unit.fixtures.pop_front() else { return Next::Later };
        unit.running = Some(fixture.id.clone());
        Next::Match(fixture)
    }

    fn ended(&mut self, fixture: &Fixture, finished: &FinishedMatch) -> bool {
        let mut open = lock(&self.0);
        let is_of = |unit: &OpenUnit| unit.running.as_ref() == Some(&fixture.id);
        let Some(index) = open.units.iter().position(is_of) else { return false };
        let unit = &mut open.units[index];
        unit.running = None;
        if finished.is_to_be_replayed() {
            // The coordinator schedules the set again.
            unit.fixtures.clear();
        }
        if unit.fixtures.is_empty() {
            open.units.remove(index);
        }
        true
    }

    fn join(&mut self, _bot: usize, _name: &str) -> Result<(), Wrong> {
        lock(&self.0).bots += 1;
        Ok(())
    }
}

/// Plays the units of one kind.
pub(super) struct UnitPlayer {
    kind: UnitKind,
    units: Arc<Mutex<OpenUnits>>,
    /// The bots that the lanes have.
    bots: Vec<(UnitBot, Location)>,
    changes: mpsc::UnboundedSender<RunChange>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl UnitPlayer {
    /// Starts one that plays up to `slots` units concurrently.
    pub(super) fn start(
        kind: UnitKind,
        rules: &'static dyn Rules,
        launch: Launch,
        slots: usize,
        played: mpsc::UnboundedSender<PlayerEvent>,
    ) -> io::Result<UnitPlayer> {
        let scheduler = UnitScheduler::default();
        let units = Arc::clone(&scheduler.0);
        let (changes, of_runner) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel();
        // Every match has a seed of its own.
        let run = Run { seed: Seed([0; 32]), terms: kind.terms };
        let runner = MatchRunner {
            jobs: slots,
            processes: PROCESSES.max(slots * kind.seating.seats()),
            describes_bots: true,
            // The coordinator counts the matches of all workers.
            judges_rules: false,
            changes: Some(of_runner),
            ..MatchRunner::new(run, rules, kind.seating, Vec::new(), launch)
        };
        let run = kind.run.clone();
        let work = move || {
            let interrupt = async {
                // A player that is dropped is stopped too.
                let _ = stopped.await;
            };
            let on_event = |event: RunEvent<'_>| {
                if let RunEvent::Ended(EndedMatch { fixture, finished, record, reveal, .. }) = event {
                    let mut record = record.to_vec();
                    record::seal(&mut record, reveal.clone());
                    let (run, id) = (run.clone(), fixture.id.clone());
                    let (is_to_be_replayed, is_cut_off) =
                        (finished.is_to_be_replayed(), finished.is_cut_off());
                    let ended = PlayerEvent::Match { run, id, record, is_to_be_replayed, is_cut_off };
                    played.send(ended).map_err(|_| Halt::Done)?;
                }
                Ok(())
            };
            if let Some(why) = runner.play(scheduler, interrupt, on_event).why {
                // The channel is closed if the worker is ending.
                let _ = played.send(PlayerEvent::Failed(run.clone(), why));
            }
        };
        let thread = thread::Builder::new().name("player".to_owned()).spawn(work);
        let thread = Some(thread?);
        Ok(UnitPlayer { kind, units, bots: Vec::new(), changes, stop: Some(stop), thread })
    }

    pub(super) fn plays(&self, kind: &UnitKind) -> bool {
        self.kind == *kind
    }

    pub(super) fn run(&self) -> &str {
        &self.kind.run
    }

    /// The number of units in progress.
    pub(super) fn len(&self) -> usize {
        lock(&self.units).units.len()
    }

    /// Adds a unit, whose bots are there.
    ///
    /// # Errors
    /// Why this machine cannot play it.
    pub(super) fn add(
        &mut self,
        unit: &WorkUnit,
        locations: &[Location],
        least: &Sandbox,
    ) -> Result<(), Wrong> {
        let indices = self.indices(unit, locations, least)?;
        let fixtures = unit.fixtures(&indices).into();
        lock(&self.units).units.push(OpenUnit { set: unit.id.set, fixtures, running: None });
        self.change(RunChange::Wake);
        Ok(())
    }

    /// The indices of the bots of a unit in the run; those that are new join it.
    fn indices(
        &mut self,
        unit: &WorkUnit,
        locations: &[Location],
        least: &Sandbox,
    ) -> Result<Vec<usize>, Wrong> {
        let index = |(bot, location)| self.bots.iter().position(|(known, at)| known == bot && at == location);
        let known: Option<Vec<usize>> = unit.bots.iter().zip(locations).map(index).collect();
        // The files of a bot are read once, when it joins.
        if let Some(known) = known {
            return Ok(known);
        }
        let mut commands = Vec::new();
        for (bot, location) in unit.bots.iter().zip(locations) {
            let unusable = |why| Wrong::at(format!("the bot `{}`", bot.name), why);
            commands.push(command(bot, location, least).map_err(unusable)?);
        }
        separate(&mut commands.iter_mut().collect::<Vec<_>>());
        let mut indices = Vec::new();
        for ((bot, location), command) in unit.bots.iter().zip(locations).zip(commands) {
            let known = self.bots.iter().position(|(known, at)| known == bot && at == location);
            indices.push(known.unwrap_or(self.bots.len()));
            if known.is_none() {
                let files = command.fingerprints();
                self.bots.push((bot.clone(), location.clone()));
                self.change(RunChange::Bot(BotSpec {
                    name: bot.name.clone(),
                    is_named_by_hello: false,
                    source: Arc::new(command),
                    clock_factor: bot.clock_factor,
                    is_fresh: bot.is_fresh,
                    hide_legal: bot.hide_legal,
                    files,
                }));
            }
        }
        Ok(indices)
    }

    /// Plays no further matches of a unit.
    pub(super) fn withdraw(&self, id: &UnitId) {
        let mut open = lock(&self.units);
        for unit in open.units.iter_mut().filter(|unit| unit.set == id.set) {
            unit.fixtures.clear();
        }
        open.units.retain(|unit| unit.running.is_some());
    }

    /// Asks for the numbers of moves of the matches in progress.
    pub(super) fn ask_progress(&self, to: mpsc::UnboundedSender<(String, u32)>) {
        self.change(RunChange::Progress(to));
    }

    fn change(&self, change: RunChange) {
        // The channel is closed if the runner has failed, which is reported.
        let _ = self.changes.send(change);
    }
}

impl Drop for UnitPlayer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The runner has ended if it has failed.
            let _ = stop.send(());
        }
        // No process of a bot is left when this returns.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Checks that a sandbox has the layers that this worker demands.
pub(super) fn check_least(sandbox: &Sandbox, least: &Sandbox) -> Result<(), Wrong> {
    match sandbox.lacks(least) {
        None => Ok(()),
        Some(layer) => Err(format!(
            "the sandbox `{}` without the layer {layer} is less than `{}`, in which this worker starts bots (`referee worker \
             --sandbox`)",
            sandbox.mode(),
            least.mode()
        )
        .into()),
    }
}

/// The command that starts a bot on this machine.
///
/// # Errors
/// What is missing or differs.
fn command(
    bot: &UnitBot,
    location: &Location,
    least: &Sandbox,
) -> Result<Command, Box<dyn Error + Send + Sync>> {
    if bot.argv.is_empty() {
        return Err("it has no command line".into());
    }
    let sandbox = Sandbox::new(bot.sandbox.mode(), &bot.sandbox.left_out(), bot.sandbox.limits().clone())?;
    bot.compare_sandbox(&sandbox)?;
    check_least(&sandbox, least)?;
    let command = Command {
        argv: bot.argv.clone(),
        directory: Some(location.directory.clone()),
        files: location.files.clone(),
        env: bot.env.clone(),
        sandbox,
        ..Command::default()
    };
    command.check()?;
    let files = command.fingerprints().into_iter().collect();
    bot.compare_files(&files)?;
    Ok(command)
}
