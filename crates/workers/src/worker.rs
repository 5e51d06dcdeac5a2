//! The worker: takes units from a carrier, plays them, and sends their records back.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Component, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tempfile::NamedTempFile;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::archive::{ArchiveId, Cache, Unpacked};
use crate::carrier::{Assignment, OutcomeVerdict, Request, Returned, WorkerEnd};
use crate::machine::MachineState;
use crate::player::{Location, PlayerEvent, UnitKind, UnitPlayer, check_least};
use crate::trial::{TrialJob, TrialMachine, TrialReply};
use crate::unit::{Place, UnitId, UnitOutcome, WorkUnit};
use referee_bots::Launch;
use referee_bots::sandbox::Sandbox;
use referee_game::erased::Rules;
use referee_game::{Catalog, Chain, Wrong};

mod trials;

/// The interval at which a worker reports to the coordinator which units have moved.
const PROGRESS: Duration = Duration::from_secs(10);
/// The time for which a worker waits for a unit with [`Worker::until_empty`].
const IDLE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Worker {
    pub catalog: Catalog,
    pub launch: Launch,
    /// The number of units that it plays concurrently.
    pub slots: usize,
    /// Whether the worker ends once the run is over, or when it has had no unit for a minute.
    pub until_empty: bool,
    pub cache: Cache,
    /// The least sandbox in which bots are started.
    pub least: Sandbox,
    /// Builds and checks programs that were handed in, if this machine can.
    pub trials: Option<Arc<dyn TrialMachine>>,
}

#[derive(Debug)]
pub enum WorkerEvent<'a> {
    /// The worker can reach the coordinator.
    Connected,
    /// The worker cannot reach the coordinator.
    Disconnected(&'a str),
    /// The worker plays a unit.
    Took(&'a WorkUnit),
    /// The worker builds and checks a program.
    Tries(&'a TrialJob),
    Tried(&'a TrialReply),
    /// The worker cannot play a unit.
    Unable(&'a UnitId, &'a str),
    /// The worker has played a unit; the records are sent.
    Played(&'a UnitOutcome),
    Verdict(&'a UnitId, &'a OutcomeVerdict),
    /// The worker gets units of this run, or none, in this state.
    State(&'a str, MachineState),
    /// A coordinator speaks another version of the messages.
    Incompatible(&'a str),
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerExit {
    /// The run is over, or there was nothing to do for a minute.
    Empty,
    /// The coordinator has asked for it, and its units are played.
    Drained,
    /// The worker was interrupted; its units are returned.
    Interrupted,
}

/// The reason why this machine cannot play a unit, or build a program.
type Incapable = Box<dyn Error + Send + Sync>;

fn of_archive(id: ArchiveId, why: impl Into<Incapable>) -> Incapable {
    Wrong::at(format!("the archive {id}"), why).into()
}

struct Active {
    unit: Box<WorkUnit>,
    /// The sealed records by the index of their match. Lanes report matches in any order.
    records: BTreeMap<usize, Vec<u8>>,
    /// The number of matches that are played: fewer than the unit has if one must be replayed.
    expected: usize,
    /// The numbers of moves of its matches at the last look.
    moves: BTreeMap<String, u32>,
}

impl Worker {
    /// Works until it ends by itself, for which see [`WorkerExit`].
    ///
    /// # Errors
    /// Why the carrier cannot work.
    pub fn work(
        self,
        end: impl WorkerEnd + Send + 'static,
        interrupt: impl Future<Output = ()>,
        on_event: impl FnMut(WorkerEvent<'_>),
    ) -> Result<WorkerExit, Wrong> {
        let (requests, of_worker) = unbounded_channel();
        let (to_worker, assignments) = unbounded_channel();
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build();
        let serve = move || runtime()?.block_on(end.serve(of_worker, to_worker));
        let carrier = thread::Builder::new().name("carrier".to_owned()).spawn(serve);
        let carrier = carrier?;
        let runtime = runtime()?;
        let work = Work::new(self, requests, on_event);
        let exit = runtime.block_on(work.run(assignments, interrupt));
        // The requests are closed now.
        let served = carrier.join().unwrap_or(Ok(()));
        match (exit, served) {
            (Some(exit), _) => Ok(exit),
            (None, Err(error)) => Err(Wrong::of(&error)),
            (None, Ok(())) => Err("the carrier ended".into()),
        }
    }
}

impl Active {
    fn new(unit: Box<WorkUnit>) -> Active {
        let expected = unit.matches.len();
        Active { unit, records: BTreeMap::new(), expected, moves: BTreeMap::new() }
    }

    /// The index of a match of the unit.
    fn index(&self, run: &str, id: &str) -> Option<usize> {
        let mut matches = self.unit.matches.iter();
        matches.position(|of| of.id == id).filter(|_| self.unit.id.run == run)
    }
}

struct Work<F> {
    worker: Worker,
    requests: UnboundedSender<Request>,
    on_event: F,
    players: Vec<UnitPlayer>,
    played: (UnboundedSender<PlayerEvent>, UnboundedReceiver<PlayerEvent>),
    /// By run and set.
    active: BTreeMap<(String, u32), Active>,
    /// The number of units that the carrier may still send.
    offered: usize,
    /// By run: whether the worker gets its units. Runs that are over are not in it.
    states: BTreeMap<String, MachineState>,
    idle_since: Instant,
    /// The archives of bots that have been unpacked.
    unpacked: BTreeMap<ArchiveId, Unpacked>,
    incoming: BTreeMap<ArchiveId, NamedTempFile>,
    /// The size at the last look, in bytes.
    downloaded: u64,
    /// Units whose archives have not all arrived.
    waiting: Vec<WorkUnit>,
    /// Programs that are tried, or whose archives have not all arrived, by the number of the trial.
    trials: BTreeMap<u64, WorkerTrial>,
    tried: (UnboundedSender<TriedProgram>, UnboundedReceiver<TriedProgram>),
}

struct WorkerTrial {
    job: Box<TrialJob>,
    /// The archive, until the trial begins.
    archive: Option<NamedTempFile>,
    is_begun: bool,
}

/// The number of a trial, its verdict, and the archive of the build.
type TriedProgram = (u64, TrialReply, Vec<u8>);

impl<F: FnMut(WorkerEvent<'_>)> Work<F> {
    fn new(worker: Worker, requests: UnboundedSender<Request>, on_event: F) -> Work<F> {
        Work {
            worker,
            requests,
            on_event,
            players: Vec::new(),
            played: unbounded_channel(),
            active: BTreeMap::new(),
            offered: 0,
            states: BTreeMap::new(),
            idle_since: Instant::now(),
            unpacked: BTreeMap::new(),
            incoming: BTreeMap::new(),
            downloaded: 0,
            waiting: Vec::new(),
            trials: BTreeMap::new(),
            tried: unbounded_channel(),
        }
    }

    /// Works until the worker ends; `None` if the carrier has ended.
    async fn run(
        mut self,
        mut assignments: UnboundedReceiver<Assignment>,
        interrupt: impl Future<Output = ()>,
    ) -> Option<WorkerExit> {
        let mut interrupt = std::pin::pin!(interrupt);
        let mut ticks = interval(PROGRESS);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut moves = unbounded_channel().1;
        loop {
            self.offer();
            let idle_until = self.idle_since + IDLE;
            tokio::select! {
                () = &mut interrupt => {
                    self.give_back();
                    return Some(WorkerExit::Interrupted);
                }
                assignment = assignments.recv() => {
                    if let Some(exit) = self.assigned(assignment?) {
                        return Some(exit);
                    }
                }
                Some(played) = self.played.1.recv() => self.ended(played),
                Some(tried) = self.tried.1.recv() => self.report(tried),
                _ = ticks.tick() => {
                    // Answers to an earlier question do not count.
                    let to_moves;
                    (to_moves, moves) = unbounded_channel();
                    self.ask_progress(&to_moves);
                    self.note_downloads();
                }
                Some((run, id, count)) = moves.recv() => self.note_moves(&run, &id, count),
                () = tokio::time::sleep_until(idle_until), if self.worker.until_empty && self.is_idle() => {
                    return Some(WorkerExit::Empty);
                }
            }
            let is_drained = self.states.values().any(|&state| state == MachineState::Drained);
            if is_drained && self.is_idle() {
                return Some(WorkerExit::Drained);
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.active.is_empty() && self.waiting.is_empty() && self.trials.is_empty()
    }

    fn request(&self, request: Request) {
        // The channel is closed if the carrier has failed, which ends the worker.
        let _ = self.requests.send(request);
    }

    /// Tells the carrier how many further units the worker can take.
    fn offer(&mut self) {
        let busy: usize = self.players.iter().map(UnitPlayer::len).sum();
        let is_active = self.states.values().all(|&state| state == MachineState::Active);
        let has = busy.max(self.active.len()) + self.waiting.len() + self.trials.len();
        let free = if is_active { self.worker.slots.saturating_sub(has) } else { 0 };
        if free > self.offered {
            self.request(Request::Free(free - self.offered));
            self.offered = free;
        }
    }

    fn assigned(&mut self, assignment: Assignment) -> Option<WorkerExit> {
        match assignment {
            Assignment::Connected => {
                // Coordinators state them anew.
                self.states.clear();
                (self.on_event)(WorkerEvent::Connected);
            }
            Assignment::Disconnected(why) => (self.on_event)(WorkerEvent::Disconnected(&why)),
            Assignment::Play(unit) => {
                self.offered = self.offered.saturating_sub(1);
                self.idle_since = Instant::now();
                self.play(unit);
            }
            Assignment::Try(job) => {
                self.offered = self.offered.saturating_sub(1);
                self.idle_since = Instant::now();
                self.add_trial(job);
            }
            Assignment::Verdict(unit, verdict) => (self.on_event)(WorkerEvent::Verdict(&unit, &verdict)),
            Assignment::Withdrawn(id) => {
                self.waiting.retain(|unit| unit.id != id);
                // The set is queued again: the worker may get it.
                self.idle_since = Instant::now();
                let key = (id.run.clone(), id.set);
                if self.active.get(&key).is_some_and(|active| active.unit.id == id) {
                    self.active.remove(&key);
                    let of_run = self.players.iter().filter(|player| player.run() == id.run);
                    of_run.for_each(|player| player.withdraw(&id));
                }
            }
            Assignment::State(run, state) => {
                let before = self.states.insert(run.clone(), state).unwrap_or_default();
                if before != state {
                    (self.on_event)(WorkerEvent::State(&run, state));
                }
            }
            Assignment::Incompatible(why) => (self.on_event)(WorkerEvent::Incompatible(&why)),
            Assignment::Fetched(id, result) => self.fetched(id, result),
            Assignment::Over(run) => {
                (self.on_event)(WorkerEvent::Over);
                self.states.remove(&run);
                self.players.retain(|player| player.run() != run);
                self.active.retain(|(of, _), _| *of != run);
                self.waiting.retain(|unit| unit.id.run != run);
                self.idle_since = Instant::now();
                if !self.states.is_empty() || !self.is_idle() {
                    return None;
                }
                self.unpacked.clear();
                return self.worker.until_empty.then_some(WorkerExit::Empty);
            }
        }
        None
    }

    fn play(&mut self, unit: Box<WorkUnit>) {
        let key = (unit.id.run.clone(), unit.id.set);
        if let Some(active) = self.active.get_mut(&key) {
            // A later attempt at a set that this worker still plays.
            active.unit.id = unit.id;
            return;
        }
        match self.start(&unit) {
            Ok(false) => self.waiting.push(*unit),
            Ok(true) => {
                (self.on_event)(WorkerEvent::Took(&unit));
                self.active.insert(key, Active::new(unit));
            }
            Err(why) => self.cannot_play(unit.id, Chain(&*why).to_string()),
        }
    }

    /// Gives back a unit that this machine cannot play.
    fn cannot_play(&mut self, id: UnitId, why: String) {
        (self.on_event)(WorkerEvent::Unable(&id, &why));
        self.request(Request::Return(id, Returned::Unable(why)));
    }

    /// Takes an archive that has arrived, or the reason why it is not available.
    fn fetched(&mut self, id: ArchiveId, result: Result<(), Wrong>) {
        let Some(file) = self.incoming.remove(&id) else { return };
        if self.trials.values().any(|trial| trial.wants(id)) {
            return self.fetched_for_trial(id, file, result);
        }
        let insert = |()| self.worker.cache.insert(&id, file).map_err(|why| of_archive(id, why));
        let inserted = result.map_err(|why| of_archive(id, why)).and_then(insert);
        let needs = |unit: &WorkUnit| unit.archives().any(|of| of == id);
        let units = std::mem::take(&mut self.waiting).into_iter();
        let (waiting, others): (Vec<WorkUnit>, Vec<WorkUnit>) = units.partition(needs);
        self.waiting = others;
        match inserted {
            Ok(unpacked) => {
                self.unpacked.insert(id, unpacked);
                waiting.into_iter().for_each(|unit| self.play(Box::new(unit)));
                self.begin_trials();
            }
            Err(why) => {
                waiting.into_iter().for_each(|unit| self.cannot_play(unit.id, Chain(&*why).to_string()));
                self.give_up_trials(id, &*why);
            }
        }
    }

    /// The location of a bot on this machine; `None` if its archive was asked for.
    ///
    /// # Errors
    /// Errors of the cache.
    fn locate(&mut self, place: &Place) -> Result<Option<Location>, Incapable> {
        let (id, directory) = match place {
            Place::Installed(directory) => {
                return Ok(Some(Location { directory: directory.clone(), files: None }));
            }
            Place::Archive(id, directory) => (id, directory),
        };
        let cache = &self.worker.cache;
        if !self.unpacked.contains_key(id)
            && !self.incoming.contains_key(id)
            && let Some(unpacked) = cache.get(id).map_err(|why| of_archive(*id, why))?
        {
            self.unpacked.insert(*id, unpacked);
        }
        if let Some(unpacked) = self.unpacked.get(id) {
            let files = unpacked.path().to_owned();
            let is_within = directory.components().all(|part| matches!(part, Component::Normal(_)));
            let directory = Some(files.join(directory)).filter(|_| is_within);
            let directory = directory.ok_or("its working directory is not in its archive")?;
            return Ok(Some(Location { directory, files: Some(files) }));
        }
        if !self.incoming.contains_key(id) {
            let file = cache.incoming()?;
            self.request(Request::Fetch(*id, file.path().to_owned()));
            self.incoming.insert(*id, file);
        }
        Ok(None)
    }

    /// The rules of a game; `None` if their archive was asked for.
    ///
    /// # Errors
    /// Why this machine does not have them.
    fn rules(
        &mut self,
        game: &str,
        files: Option<ArchiveId>,
    ) -> Result<Option<&'static dyn Rules>, Incapable> {
        let Some(id) = files else { return Ok(Some(self.worker.catalog.find(game)?)) };
        let Some(location) = self.locate(&Place::Archive(id, PathBuf::new()))? else { return Ok(None) };
        let Worker { launch, least, .. } = &self.worker;
        let of_rules = |why: Incapable| Wrong::at(format!("the rules of {game}"), why);
        check_least(&referee_program::sandbox(launch), least).map_err(|why| of_rules(why.into()))?;
        let loaded = referee_program::load_kept(&location.directory, launch);
        loaded.map(Some).map_err(|why| of_rules(why.into()).into())
    }

    /// Starts to play a unit. Returns whether its game and all its bots are here.
    ///
    /// # Errors
    /// Why this machine cannot.
    fn start(&mut self, unit: &WorkUnit) -> Result<bool, Incapable> {
        let rules = self.rules(&unit.game, unit.game_files)?;
        let locations: Vec<Option<Location>> =
            unit.bots.iter().map(|bot| self.locate(&bot.place)).collect::<Result<_, _>>()?;
        let locations = locations.into_iter().collect::<Option<Vec<Location>>>();
        let Some((rules, locations)) = rules.zip(locations) else { return Ok(false) };
        unit.terms.adjudication.check_tables(rules)?;
        let kind = UnitKind::of(unit, rules)?;
        let index = match self.players.iter().position(|player| player.plays(&kind)) {
            Some(index) => index,
            None => {
                // Players of earlier runs have nothing left to do.
                self.players.retain(|player| player.len() > 0);
                let Worker { launch, slots, .. } = &self.worker;
                let played = self.played.0.clone();
                self.players.push(UnitPlayer::start(kind, rules, launch.clone(), *slots, played)?);
                self.players.len() - 1
            }
        };
        self.players[index].add(unit, &locations, &self.worker.least)?;
        Ok(true)
    }

    fn ended(&mut self, played: PlayerEvent) {
        let PlayerEvent::Match { run, id, record, is_to_be_replayed, is_cut_off } = played else {
            return self.failed(played);
        };
        // `None` if the unit was withdrawn.
        let found = self.active.values_mut().find_map(|active| Some((active.index(&run, &id)?, active)));
        let Some((index, active)) = found else { return };
        if !is_cut_off {
            active.records.insert(index, record);
        }
        if is_to_be_replayed {
            active.expected = index + 1;
        }
        if !is_cut_off && active.records.len() < active.expected {
            return;
        }
        let key = (run, active.unit.id.set);
        let Some(Active { unit, records, .. }) = self.active.remove(&key) else { return };
        let records = records.into_values().collect();
        self.idle_since = Instant::now();
        if is_cut_off {
            return self.request(Request::Return(unit.id, Returned::Stopped));
        }
        let outcome = UnitOutcome { unit: unit.id, records };
        (self.on_event)(WorkerEvent::Played(&outcome));
        self.request(Request::Played(outcome));
    }

    /// Handles the failure of a run's player.
    fn failed(&mut self, played: PlayerEvent) {
        let PlayerEvent::Failed(run, why) = played else { return };
        self.players.retain(|player| player.run() != run);
        let ids: Vec<UnitId> = self.active.values().map(|active| active.unit.id.clone()).collect();
        for id in ids.into_iter().filter(|id| id.run == run) {
            self.active.remove(&(id.run.clone(), id.set));
            self.cannot_play(id, Chain(&why).to_string());
        }
    }

    /// Asks the players for the matches in progress: run, id and number of moves.
    fn ask_progress(&self, to: &UnboundedSender<(String, String, u32)>) {
        for player in &self.players {
            let (to_moves, mut moves) = unbounded_channel();
            player.ask_progress(to_moves);
            let (run, to) = (player.run().to_owned(), to.clone());
            tokio::spawn(async move {
                while let Some((id, count)) = moves.recv().await {
                    // The channel is closed if the worker has asked again.
                    let _ = to.send((run.clone(), id, count));
                }
            });
        }
    }

    /// Notes the number of moves of a match in progress.
    fn note_moves(&mut self, run: &str, id: &str, count: u32) {
        let of_match = |active: &&mut Active| active.index(run, id).is_some();
        let Some(active) = self.active.values_mut().find(of_match) else { return };
        if active.moves.insert(id.to_owned(), count) != Some(count) {
            let id = active.unit.id.clone();
            self.request(Request::Moved(id));
        }
    }

    /// Counts the arrival of archives as progress of units.
    fn note_downloads(&mut self) {
        let size = |file: &NamedTempFile| file.as_file().metadata().map_or(0, |found| found.len());
        let downloaded = self.incoming.values().map(size).sum();
        if std::mem::replace(&mut self.downloaded, downloaded) != downloaded {
            for unit in &self.waiting {
                self.request(Request::Moved(unit.id.clone()));
            }
        }
    }

    /// Gives back the units in progress.
    fn give_back(&mut self) {
        let active = std::mem::take(&mut self.active).into_values().map(|active| active.unit.id);
        let waiting = std::mem::take(&mut self.waiting).into_iter().map(|unit| unit.id);
        for id in active.chain(waiting) {
            self.request(Request::Return(id, Returned::Stopped));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{first_unit, play};

    fn worker(catalog: &Catalog, cache: &std::path::Path) -> Worker {
        Worker {
            catalog: catalog.clone(),
            launch: Launch::Directly,
            slots: 4,
            until_empty: true,
            cache: Cache::open(cache, 1 << 20).unwrap(),
            least: Sandbox::default(),
            trials: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_worker_whose_set_was_withdrawn_waits_for_another_minute() {
        let (catalog, folder) = (referee_games::catalog(), tempfile::tempdir().unwrap());
        let (requests, _of_worker) = unbounded_channel();
        let (to_worker, assignments) = unbounded_channel();
        let work = Work::new(worker(&catalog, folder.path()), requests, |_| {});
        let begun = Instant::now();
        let withdraw = async {
            tokio::time::sleep(Duration::from_secs(50)).await;
            let unit = UnitId { run: "run".to_owned(), set: 1, attempt: 1 };
            to_worker.send(Assignment::Withdrawn(unit)).unwrap();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            exit = work.run(assignments, std::future::pending()) => assert_eq!(exit, Some(WorkerExit::Empty)),
            () = withdraw => {}
        }
        assert_eq!(begun.elapsed().as_secs(), 110);
    }

    #[test]
    fn matches_of_set_in_any_order_are_one_outcome() {
        let (catalog, folder) = (referee_games::catalog(), tempfile::tempdir().unwrap());
        let worker = worker(&catalog, folder.path());
        let (requests, mut of_worker) = unbounded_channel();
        let mut work = Work::new(worker, requests, |_| {});
        let unit = first_unit(&catalog);
        let outcome = play(&unit, &catalog);
        let run = unit.id.run.clone();
        work.active.insert((run.clone(), unit.id.set), Active::new(Box::new(unit.clone())));
        for (of, record) in unit.matches.iter().zip(&outcome.records).rev() {
            assert!(of_worker.try_recv().is_err(), "it is not complete");
            let (run, id, record) = (run.clone(), of.id.clone(), record.clone());
            work.ended(PlayerEvent::Match { run, id, record, is_to_be_replayed: false, is_cut_off: false });
        }
        let Ok(Request::Played(played)) = of_worker.try_recv() else { panic!("it is not complete") };
        assert_eq!(played, outcome);
    }
}
