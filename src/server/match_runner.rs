//! Plays the matches of a schedule: starts lanes, supplies them with bots, and passes results on.
//!
//! Each lane has a thread that does nothing but referee, and the acceptor has another one. This thread, that of the
//! caller, starts and terminates processes. Everything that may block on a disk or a slow reader has its own thread:
//! the reporter, the journal, and a reader of standard error for each bot.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self as blocking, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fmt, io, iter};

use referee_protocol::words::FaultCode;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::bot::{Launch, Launcher};
use crate::core::erased::Rules;
use crate::core::seat::Seating;
use crate::referee::Detail;
use crate::server::archive::{Archive, Unsealed};
use crate::server::bot_spec::{BotSpec, Source};
use crate::server::bots::BotKey;
use crate::server::cpu::Cpu;
use crate::server::descriptors;
use crate::server::journal::{self, Beginning};
use crate::server::lane_messages::{BotArrival, LaneEvent, LaneOrder, OVER, ReportEvent};
use crate::server::lobby::{Listen, Lobby, ParkedLobby};
use crate::server::reporter::{Halt, Reporter, RunEvent, Watch, WatchFeed};
use crate::server::run::{Common, Run};
use crate::server::scheduler::{Scheduler, SharedScheduler, Wait};
use crate::server::starts::Starts;
use crate::server::watchdog::LaneClock;
use crate::server::worker::Worker;
use crate::store::{Journal, Records};

/// The configuration of a run of matches.
pub struct MatchRunner {
    /// The seed and the terms.
    pub run: Run,
    /// The game.
    pub rules: &'static dyn Rules,
    /// The teams of the game.
    pub seating: Seating,
    /// The bots.
    pub bots: Vec<BotSpec>,
    /// How processes are started.
    pub launch: Launch,
    /// The number of pairings that play concurrently. Each plays as many concurrent matches as its bots have slots
    /// for.
    pub jobs: usize,
    /// The maximum number of bot processes, at least as many as `jobs` pairings need. Processes that do not play are
    /// kept for later matches; those that have been idle longest are ended first.
    pub processes: usize,
    /// The maximum number of concurrent matches per process or connection, even if its `slots` are more: each match
    /// keeps up to 1 MiB of `info` per seat.
    pub slots: usize,
    /// Whether each lane and the processes of its bots are pinned to a CPU.
    pub is_pinned: bool,
    /// How bots connect, if some do.
    pub listen: Option<Listen>,
    /// The lobby of an earlier run, with its connections.
    pub lobby: Option<ParkedLobby>,
    /// When this resolves, no new match starts; the run ends when the matches in progress have ended.
    pub drain: Option<oneshot::Receiver<()>>,
    /// Where records are stored.
    pub records: Option<Records>,
    /// Where the start of each match is journaled, if the run can be resumed.
    pub journal: Option<Journal>,
    /// The unsealed records of an earlier part of the run. `None` if the run cannot be resumed; then incomplete sets
    /// are sealed at the end.
    pub unsealed: Option<Vec<Unsealed>>,
    /// Watches the matches. The run then has one lane and one job, whatever `jobs` says.
    pub watch: Option<Watch>,
}

impl fmt::Debug for MatchRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MatchRunner")
            .field("jobs", &self.jobs)
            .field("slots", &self.slots)
            .finish_non_exhaustive()
    }
}

impl MatchRunner {
    /// One match at a time between bots that the referee starts, without records.
    pub fn new(
        run: Run,
        rules: &'static dyn Rules,
        seating: Seating,
        bots: Vec<BotSpec>,
        launch: Launch,
    ) -> MatchRunner {
        MatchRunner {
            run,
            rules,
            seating,
            bots,
            launch,
            jobs: 1,
            processes: usize::MAX,
            slots: 1,
            is_pinned: false,
            listen: None,
            lobby: None,
            drain: None,
            records: None,
            journal: None,
            unsealed: None,
            watch: None,
        }
    }
}

/// How a run ended.
#[derive(Debug, Default)]
pub struct RunEnd {
    /// The user interrupted it.
    pub is_interrupted: bool,
    /// The callback ended it with [`Halt::Done`].
    pub is_done: bool,
    /// It was drained (see [`MatchRunner::drain`]), so that matches may be left to play.
    pub is_drained: bool,
    /// The lobby with its connections, if the run was drained.
    pub lobby: Option<ParkedLobby>,
    /// The error that ended it.
    pub why: Option<String>,
}

impl RunEnd {
    /// Whether the run ends before its matches have ended.
    fn is_stopping(&self) -> bool {
        self.is_interrupted || self.is_done || self.why.is_some()
    }

    fn halt(&mut self, halt: Halt) {
        match halt {
            Halt::Done => self.is_done = true,
            Halt::Because(why) => self.why = Some(why),
        }
    }
}

impl MatchRunner {
    /// Plays. `interrupt` aborts the run; so does an error of `tell`, which receives events on a thread of its own.
    pub fn play(
        self,
        schedule: impl Scheduler + 'static,
        interrupt: impl Future<Output = ()>,
        tell: impl FnMut(RunEvent<'_>) -> Result<(), Halt> + Send,
    ) -> RunEnd {
        let mut stopped = RunEnd::default();
        if let Err(why) = self.play_to_the_end(schedule, interrupt, tell, &mut stopped) {
            // The first error is the most informative.
            stopped.why.get_or_insert(why);
        }
        stopped
    }

    fn play_to_the_end(
        self,
        schedule: impl Scheduler + 'static,
        interrupt: impl Future<Output = ()>,
        tell: impl FnMut(RunEvent<'_>) -> Result<(), Halt> + Send,
        stopped: &mut RunEnd,
    ) -> Result<(), String> {
        let MatchRunner {
            run,
            rules,
            seating,
            bots,
            launch,
            jobs,
            processes,
            slots,
            is_pinned,
            listen,
            lobby,
            drain,
            records,
            journal,
            unsealed,
            watch,
        } = self;
        let (jobs, processes) = if bots.iter().any(|entrant| matches!(entrant.source, Source::Command(_))) {
            descriptors::affordable(jobs, processes, seating.seats())?
        } else {
            (jobs, processes)
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let launcher = {
            let _within = runtime.enter();
            Launcher::open(launch, processes).map_err(|error| format!("no bot can be started: {error}"))?
        };
        let (reports, to_report) = blocking::channel();
        let (halts, halted) = mpsc::unbounded_channel();
        let (runner, events) = mpsc::unbounded_channel();
        let journal = journal.map(|journal| journal::start(journal, runner.clone()).map_err(no_thread));
        let (journal, journal_thread) = journal.transpose()?.unzip();
        let schedule = SharedScheduler::new(Box::new(schedule));
        let common = Arc::new(Common { run, rules, seating, bots, slots, records: records.clone() });
        let untold = Arc::default();
        let watched = watch.map(|watch| WatchFeed::new(watch, reports.clone(), Arc::clone(&untold)));
        let archive = Archive::new(records, unsealed);
        let reporter = Reporter::new(common.clone(), schedule.clone(), archive, untold, (tell, halts));
        let driver = Driver {
            starts: Starts::new(launcher),
            schedule,
            common,
            lobby: None,
            wait: listen.as_ref().map_or(Duration::ZERO, |listen| listen.wait),
            clock: LaneClock::new(),
            lanes: Vec::new(),
            needs: Vec::new(),
            absent: BTreeMap::new(),
            ending: JoinSet::new(),
            reports,
        };
        thread::scope(|scope| {
            let work = move || reporter.work(to_report);
            let reporter = thread::Builder::new().name("reporter".to_owned()).spawn_scoped(scope, work);
            let reporter = reporter.map_err(no_thread)?;
            let lanes = ((jobs, processes), is_pinned, journal, watched);
            let threads = runtime.block_on(driver.run(
                (listen, lobby),
                lanes,
                (runner, events, halted),
                (interrupt, drain),
                stopped,
            ));
            let mut are_whole = reporter.join().is_ok();
            for thread in threads.into_iter().chain(journal_thread) {
                are_whole &= thread.join().is_ok();
            }
            if are_whole { Ok(()) } else { Err(BROKE_DOWN.to_owned()) }
        })
    }
}

fn no_thread(error: io::Error) -> String {
    format!("a thread cannot be started: {error}")
}

/// A handle to a lane's thread.
struct LaneThread {
    orders: mpsc::UnboundedSender<LaneOrder>,
    cpu: Option<Cpu>,
    thread: JoinHandle<()>,
}

/// A request of a lane for bots.
struct Need {
    lane: usize,
    bots: Vec<(BotKey, usize)>,
    /// What the match does if one of them is not connected.
    wait: Wait,
}

/// A bot with fewer connections than a match needs.
struct Absent {
    /// When it was first missed, in the runner's time.
    since: u64,
    /// The number of connections that the match needs.
    wanted: usize,
}

type ToRunner = mpsc::UnboundedSender<(usize, LaneEvent)>;

/// How to start lanes: the numbers of pairings and processes, whether to pin, the journal, and the feed of a watched
/// match.
type Lanes = ((usize, usize), bool, Option<Sender<Beginning>>, Option<WatchFeed>);

/// The inputs of the runner: events of the lanes, with a sender for them, and halts of the reporter.
type RunnerInputs = (ToRunner, mpsc::UnboundedReceiver<(usize, LaneEvent)>, mpsc::UnboundedReceiver<Halt>);

struct Driver {
    starts: Starts,
    schedule: SharedScheduler,
    common: Arc<Common>,
    lobby: Option<Lobby>,
    /// How long a match waits for a bot that is not connected.
    wait: Duration,
    /// Created before the lanes: the watchdog thread must not inherit their CPU affinity.
    clock: LaneClock,
    lanes: Vec<LaneThread>,
    needs: Vec<Need>,
    /// By name. The waiting time of matches starts when a bot is first missed, so that its absence costs this time
    /// once.
    absent: BTreeMap<String, Absent>,
    /// Processes that are being terminated.
    ending: JoinSet<()>,
    reports: Sender<ReportEvent>,
}

impl Driver {
    /// Plays until all lanes are done, everything is reported and no process is left. Returns the threads of the
    /// lanes.
    async fn run(
        mut self,
        (listen, parked): (Option<Listen>, Option<ParkedLobby>),
        lanes: Lanes,
        (runner, events, halted): RunnerInputs,
        ends: (impl Future<Output = ()>, Option<oneshot::Receiver<()>>),
        stopped: &mut RunEnd,
    ) -> Vec<JoinHandle<()>> {
        if let Err(halt) = self.open((listen.as_ref(), parked), lanes, runner).await {
            stopped.halt(halt);
            self.stop();
        }
        self.serve(events, halted, ends, stopped).await;
        // A process that no lane receives is killed when it is dropped.
        while self.starts.next().await.is_some() {}
        while self.ending.join_next().await.is_some() {}
        std::mem::take(&mut self.lanes).into_iter().map(|lane| lane.thread).collect()
    }

    /// Starts the acceptor and the lanes.
    async fn open(
        &mut self,
        (listen, parked): (Option<&Listen>, Option<ParkedLobby>),
        ((jobs, processes), is_pinned, journal, mut watched): Lanes,
        runner: ToRunner,
    ) -> Result<(), Halt> {
        if let Some(listen) = listen {
            let names = self.common.bots.iter().filter_map(|entrant| match &entrant.source {
                Source::Tcp(name) => Some(name.clone()),
                Source::Command(_) => None,
            });
            let hello = Duration::from_millis(self.common.run.terms.hello_ms);
            self.lobby = Some(match parked {
                Some(parked) if parked.fits(listen) => Lobby::unpark(parked, listen, names),
                parked => {
                    if let Some(parked) = parked {
                        Lobby::unpark(parked, listen, iter::empty())
                            .close("tokens are needed now: connect again");
                    }
                    let lobby = Lobby::open(listen, names, hello);
                    let lobby = lobby.map_err(|error| format!("--listen {}: {error}", listen.address))?;
                    self.report(ReportEvent::Listening(lobby.address()));
                    lobby
                }
            });
        }
        let cpus = if is_pinned { Cpu::all() } else { Ok(Vec::new()) };
        let cpus = cpus.map_err(|error| format!("--pin: cannot get the CPUs of this process: {error}"))?;
        // A watched run has one lane.
        let jobs = if watched.is_some() { 1 } else { jobs };
        let spare = processes.saturating_sub(jobs * self.common.seating.seats());
        let lanes = jobs.min(thread::available_parallelism().map_or(1, usize::from));
        for number in 0..lanes {
            let cpu = cpus.get(number % cpus.len().max(1)).copied();
            let share = |of: usize| of / lanes + usize::from(number < of % lanes);
            let share = (share(jobs), share(spare));
            let (orders, to_lane) = mpsc::unbounded_channel();
            let (common, schedule) = (self.common.clone(), self.schedule.clone());
            let (events, watched) = ((runner.clone(), orders.clone()), watched.take());
            let results = (self.reports.clone(), journal.clone());
            let runner = runner.clone();
            let work = move || {
                let _done = Done(number, runner.clone());
                if let Some(cpu) = &cpu
                    && let Err(error) = cpu.keep()
                {
                    tracing::warn!(%error, "the lane is not pinned");
                }
                match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                    Ok(runtime) => runtime.block_on(async {
                        let worker = Worker::new((number, share), common, schedule, events, results, watched);
                        worker.work(to_lane).await;
                    }),
                    Err(error) => {
                        // The receiver is gone if the run is failing.
                        let _ = runner.send((number, LaneEvent::Failed(error.to_string())));
                    }
                }
            };
            let thread = thread::Builder::new().name(format!("lane-{}", number + 1)).spawn(work);
            let thread = thread.map_err(no_thread)?;
            self.lanes.push(LaneThread { orders, cpu, thread });
        }
        Ok(())
    }

    /// Handles events until all lanes are done and everything is reported.
    async fn serve(
        &mut self,
        mut events: mpsc::UnboundedReceiver<(usize, LaneEvent)>,
        mut halted: mpsc::UnboundedReceiver<Halt>,
        (interrupt, mut drain): (impl Future<Output = ()>, Option<oneshot::Receiver<()>>),
        stopped: &mut RunEnd,
    ) {
        let mut interrupt = std::pin::pin!(interrupt);
        let mut left = self.lanes.len();
        if left == 0 {
            self.finish(stopped);
        }
        let mut is_reporting = true;
        while left > 0 || is_reporting {
            let is_stopping = stopped.is_stopping();
            let patience = self.patience();
            // Not biased: busy lanes must not delay new connections.
            let result = tokio::select! {
                () = &mut interrupt, if !is_stopping => {
                    stopped.is_interrupted = true;
                    self.stop();
                    Ok(())
                }
                () = signalled(&mut drain), if !is_stopping && !stopped.is_drained => {
                    stopped.is_drained = true;
                    self.drain();
                    Ok(())
                }
                halt = halted.recv(), if is_reporting => {
                    is_reporting = halt.is_some();
                    match halt {
                        Some(halt) => Err(halt),
                        None if left == 0 => Ok(()),
                        None => Err(Halt::Because(BROKE_DOWN.to_owned())),
                    }
                }
                Some((lane, event)) = events.recv() => match event {
                    LaneEvent::Done => {
                        left -= 1;
                        if left == 0 {
                            self.finish(stopped);
                        }
                        Ok(())
                    }
                    event => self.handle_event(lane, event, is_stopping),
                },
                () = arrival(&mut self.lobby) => self.supply(),
                () = tokio::time::sleep_until(patience.unwrap_or_else(Instant::now)), if patience.is_some() => self.supply(),
                Some((lane, order)) = self.starts.next() => {
                    self.send(lane, order);
                    Ok(())
                }
                _ = self.ending.join_next(), if !self.ending.is_empty() => Ok(()),
            };
            if let Err(halt) = result
                && !is_stopping
            {
                stopped.halt(halt);
                self.stop();
            }
        }
    }

    /// All lanes are done: closes or parks the lobby.
    fn finish(&mut self, stopped: &mut RunEnd) {
        match self.lobby.take() {
            Some(lobby) if stopped.is_drained && !stopped.is_stopping() => stopped.lobby = Some(lobby.park()),
            Some(lobby) => lobby.close(OVER),
            None => {}
        }
        self.starts.give_up();
        self.report(ReportEvent::Over { is_complete: !stopped.is_stopping() && !stopped.is_drained });
    }

    /// Stops starting matches. Matches that wait for a bot that is not connected go back to the schedule.
    fn drain(&mut self) {
        self.schedule.drain();
        for need in std::mem::take(&mut self.needs) {
            if need.wait == Wait::Always || self.short(&need.bots, Lobby::connections).is_empty() {
                self.needs.push(need);
            } else {
                self.send(need.lane, LaneOrder::PutBack(need.bots.into_iter().map(|(key, _)| key).collect()));
            }
        }
    }

    /// Sends an event to the reporter.
    fn report(&self, report: ReportEvent) {
        // If the reporter has panicked, the run ends anyway.
        let _ = self.reports.send(report);
    }

    fn stop(&mut self) {
        self.needs.clear();
        self.starts.give_up();
        for lane in &self.lanes {
            // A lane that is done needs no orders.
            let _ = lane.orders.send(LaneOrder::Stop);
        }
    }

    fn handle_event(&mut self, lane: usize, event: LaneEvent, is_stopping: bool) -> Result<(), Halt> {
        match event {
            LaneEvent::NeedsBots(..) if is_stopping => {}
            LaneEvent::NeedsBots(bots, wait) => {
                self.needs.push(Need { lane, bots, wait });
                self.supply()?;
            }
            LaneEvent::EndProcess(process) => {
                self.ending.spawn(process.end());
            }
            LaneEvent::ReturnsConnection(moving) => {
                if let Some(lobby) = &mut self.lobby {
                    lobby.put_back(*moving);
                }
                self.supply()?;
            }
            LaneEvent::ConnectionEnded(entrant) => {
                if let (Some(lobby), Source::Tcp(name)) = (&mut self.lobby, &self.common.bots[entrant].source)
                {
                    lobby.left(name);
                }
                self.supply()?;
            }
            LaneEvent::Failed(why) => return Err(Halt::Because(why)),
            LaneEvent::Done => {}
        }
        Ok(())
    }

    /// When the next request is given up.
    fn patience(&self) -> Option<Instant> {
        let given_up = |need: &Need| {
            let names = self.short(&need.bots, Lobby::connections).into_iter();
            names.filter_map(|(name, _)| Some(self.absent.get(&name)?.since)).max()
        };
        let since = self.needs.iter().filter_map(given_up).min()?;
        Some(self.clock.instant(since + self.wait.as_micros() as u64).into())
    }

    /// Notes the bots that have connected again. Returns whether there are any.
    fn note_connected(&mut self) -> bool {
        let Some(lobby) = &self.lobby else { return false };
        let has_come = |(name, absent): &(&String, &Absent)| lobby.connections(name) >= absent.wanted;
        let connected: Vec<String> =
            self.absent.iter().filter(has_come).map(|(name, _)| name.clone()).collect();
        for name in &connected {
            self.absent.remove(name);
            self.set_absent(name, false);
            self.report(ReportEvent::Connected(name.clone()));
        }
        !connected.is_empty()
    }

    /// Tells the schedule whether a bot is connected.
    fn set_absent(&self, name: &str, is_absent: bool) {
        let bots = self.common.bots.iter().enumerate();
        let of_name = bots.filter(|(_, entrant)| matches!(&entrant.source, Source::Tcp(of) if of == name));
        self.schedule.set_absent(of_name.map(|(index, _)| index), is_absent);
    }

    /// Notes that bots have fewer connections than a match needs. Returns whether the waiting time of all of them is
    /// over.
    fn note_absent(&mut self, short: &[(String, usize)]) -> bool {
        let now = self.clock.now();
        for (name, wanted) in short {
            if !self.absent.contains_key(name) {
                self.absent.insert(name.clone(), Absent { since: now, wanted: *wanted });
                self.set_absent(name, true);
                self.report(ReportEvent::Waiting(name.clone()));
            }
        }
        let is_over = |absent: &Absent| u128::from(now - absent.since) >= self.wait.as_micros();
        !short.is_empty() && short.iter().all(|(name, _)| self.absent.get(name).is_some_and(is_over))
    }

    /// Supplies lanes with bots: the oldest request first, and all bots of a request at once, so that no two lanes
    /// wait for bots that the other one holds.
    fn supply(&mut self) -> Result<(), Halt> {
        let some_came = self.note_connected();
        for need in std::mem::take(&mut self.needs) {
            let absent = self.short(&need.bots, Lobby::connections);
            let is_given_up = self.note_absent(&absent);
            let goes_back = match need.wait {
                Wait::Always => false,
                Wait::AsLastResort => some_came,
                Wait::Never => true,
            };
            if goes_back && !absent.is_empty() {
                let bots = need.bots.into_iter().map(|(key, _)| key).collect();
                self.send(need.lane, LaneOrder::PutBack(bots));
                continue;
            }
            if !is_given_up && !self.short(&need.bots, Lobby::waiting).is_empty() {
                self.needs.push(need);
                continue;
            }
            let mut busy = Vec::new();
            for (key, entrant) in need.bots {
                let come = match self.common.clone().bots[entrant].source {
                    Source::Command(ref command) => {
                        let LaneThread { orders, cpu, .. } = &self.lanes[need.lane];
                        self.starts.start((need.lane, orders, *cpu), (key, entrant), command);
                        continue;
                    }
                    Source::Tcp(ref name) => match self.lobby.as_mut().and_then(|lobby| lobby.take(name)) {
                        Some(moving) => Ok(BotArrival::Connection(Box::new(moving))),
                        None if absent.iter().all(|(of, _)| of != name) => {
                            busy.push((key, entrant));
                            continue;
                        }
                        None => Err((FaultCode::NoStart, self.not_connected(name))),
                    },
                };
                self.send(need.lane, LaneOrder::BotArrived(key, come));
            }
            if !busy.is_empty() {
                self.needs.push(Need { lane: need.lane, bots: busy, wait: Wait::Always });
            }
        }
        Ok(())
    }

    /// The names of these bots that have fewer connections than needed, with the number needed.
    fn short(&self, bots: &[(BotKey, usize)], has: impl Fn(&Lobby, &str) -> usize) -> Vec<(String, usize)> {
        let Some(lobby) = &self.lobby else { return Vec::new() };
        let names: Vec<&String> = bots
            .iter()
            .filter_map(|&(_, entrant)| match &self.common.bots[entrant].source {
                Source::Tcp(name) => Some(name),
                Source::Command(_) => None,
            })
            .collect();
        let wanted = |name: &String| names.iter().filter(|other| **other == name).count();
        let missing = names.iter().filter(|name| wanted(name) > has(lobby, name));
        missing.map(|name| ((*name).clone(), wanted(name))).collect()
    }

    fn not_connected(&self, name: &str) -> Detail {
        let elsewhere = self.lobby.as_ref().map_or(0, |lobby| lobby.connections(name)) as u64;
        Detail::NotConnected { name: name.to_owned(), waited_ms: self.wait.as_millis() as u64, elsewhere }
    }

    /// Sends an order. If the lane is done, a process ends with the dropped order, and a connection goes back to the
    /// lobby.
    fn send(&mut self, lane: usize, order: LaneOrder) {
        if let Err(SendError(LaneOrder::BotArrived(_, Ok(BotArrival::Connection(moving))))) =
            self.lanes[lane].orders.send(order)
            && let Some(lobby) = &mut self.lobby
        {
            lobby.put_back(*moving);
        }
    }
}

/// Resolves when the signal is sent; never if the sender is dropped.
async fn signalled(signal: &mut Option<oneshot::Receiver<()>>) {
    if let Some(receiver) = signal {
        let is_told = receiver.await.is_ok();
        *signal = None;
        if is_told {
            return;
        }
    }
    // The sender has been dropped.
    std::future::pending::<()>().await;
}

/// Resolves when a bot has connected.
async fn arrival(lobby: &mut Option<Lobby>) {
    match lobby {
        Some(lobby) => lobby.next().await,
        None => std::future::pending().await,
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The reporter must end even if the runner fails.
        self.report(ReportEvent::Over { is_complete: false });
    }
}

/// Why a run ends if a thread has panicked.
const BROKE_DOWN: &str = "a thread panicked";
const LANE_BROKE_DOWN: &str = "a lane panicked";

/// Tells the runner that a lane is done, even if it panicked.
struct Done(usize, mpsc::UnboundedSender<(usize, LaneEvent)>);

impl Drop for Done {
    fn drop(&mut self) {
        // The runner waits for every lane, unless it has ended.
        if thread::panicking() {
            // The matches of this lane will not end, and others may wait for them.
            let _ = self.1.send((self.0, LaneEvent::Failed(LANE_BROKE_DOWN.to_owned())));
        }
        let _ = self.1.send((self.0, LaneEvent::Done));
    }
}
