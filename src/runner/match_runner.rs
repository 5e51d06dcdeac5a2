//! Plays the matches of a schedule: starts lanes, supplies them with bots, and passes results on.
//!
//! Each lane has a thread that does nothing but referee, and the acceptor has another one. This thread, that of the
//! caller, starts and terminates processes. Everything that may block on a disk or a slow reader has its own thread:
//! the reporter, the journal, and a reader of standard error for each bot.

mod changes;
mod events;
mod lanes;
mod supply;

pub use changes::RunChange;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self as blocking, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fmt, io, iter};

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::bot::{Launch, Launcher};
use crate::core::erased::Rules;
use crate::core::seat::Seating;
use crate::driver::{LaneClock, Run};
use crate::runner::archive::{Archive, Unsealed};
use crate::runner::common::{Bots, Common};
use crate::runner::descriptors;
use crate::runner::journal;
use crate::runner::lane_messages::{LaneEvent, LaneOrder, OVER, ReportEvent};
use crate::runner::live::LiveFeed;
use crate::runner::reporter::{Halt, Reporter, RunEvent, Watch, WatchFeed};
use crate::runner::resumed::ResumedMatch;
use crate::runner::scheduler::{Scheduler, SharedScheduler, Wait};
use crate::runner::starts::Starts;
use crate::sources::{BotSpec, Listen, Lobby, ParkedLobby};
use crate::store::{Journal, Records, RunningMatches};

use changes::{Changes, next_change};
use events::{arrival, signalled};
use lanes::{LaneThread, Lanes, ToRunner};
use supply::{Absent, Need};

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
    /// Where matches are journaled whose bots can connect again, so that they go on after the process was killed.
    pub running: Option<RunningMatches>,
    /// The matches of an earlier process that go on.
    pub resumed: Vec<ResumedMatch>,
    /// The unsealed records of an earlier part of the run. `None` if the run cannot be resumed; then incomplete sets
    /// are sealed at the end.
    pub unsealed: Option<Vec<Unsealed>>,
    /// Bots and tokens that are added during the run. The run then goes on without matches to play, until it is
    /// drained or interrupted.
    pub changes: Option<mpsc::UnboundedReceiver<RunChange>>,
    /// Watches the matches. The run then has one lane and one job, whatever `jobs` says.
    pub watch: Option<Watch>,
    /// Where the matches are passed on for spectators.
    pub live: Option<LiveFeed>,
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
            running: None,
            resumed: Vec::new(),
            unsealed: None,
            changes: None,
            watch: None,
            live: None,
        }
    }
}

/// How a run ended.
#[derive(Debug, Default)]
#[non_exhaustive]
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
            running,
            resumed,
            unsealed,
            changes,
            watch,
            live,
        } = self;
        let may_start = changes.is_some() || bots.iter().any(|entrant| entrant.source.is_started());
        let (jobs, processes) = if may_start {
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
        let common = Arc::new(Common {
            run,
            rules,
            seating,
            bots: Bots::new(bots),
            slots,
            reconnect: listen.as_ref().map_or(Duration::ZERO, |listen| listen.reconnect),
            records: records.clone(),
            running,
            live,
        });
        let untold = Arc::default();
        let watched = watch.map(|watch| WatchFeed::new(watch, reports.clone(), Arc::clone(&untold)));
        let archive = Archive::new(records, unsealed);
        let reporter = Reporter::new(common.clone(), schedule.clone(), archive, untold, (tell, halts));
        let event_loop = EventLoop {
            starts: Starts::new(launcher),
            schedule,
            common,
            lobby: None,
            wait: listen.as_ref().map_or(Duration::ZERO, |listen| listen.wait),
            clock: LaneClock::new(),
            lanes: Vec::new(),
            needs: Vec::new(),
            guests: BTreeMap::new(),
            unplaced: resumed.len(),
            absent: BTreeMap::new(),
            ending: JoinSet::new(),
            reports,
        };
        thread::scope(|scope| {
            let work = move || reporter.work(to_report);
            let reporter = thread::Builder::new().name("reporter".to_owned()).spawn_scoped(scope, work);
            let reporter = reporter.map_err(no_thread)?;
            let lanes = ((jobs, processes), is_pinned, journal, watched, resumed);
            let threads = runtime.block_on(event_loop.run(
                (listen, lobby),
                lanes,
                (runner, events, halted),
                (interrupt, drain, changes),
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

/// The inputs of the runner: events of the lanes, with a sender for them, and halts of the reporter.
type RunnerInputs = (ToRunner, mpsc::UnboundedReceiver<(usize, LaneEvent)>, mpsc::UnboundedReceiver<Halt>);

/// Supplies the lanes with bots and handles what happens until the run is over.
struct EventLoop {
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
    /// The bots that have joined by connecting, by name.
    guests: BTreeMap<String, usize>,
    /// The number of matches of an earlier process whose bots are not expected yet. Until then connections wait.
    unplaced: usize,
    /// By name. The waiting time of matches starts when a bot is first missed, so that its absence costs this time
    /// once.
    absent: BTreeMap<String, Absent>,
    /// Processes that are being terminated.
    ending: JoinSet<()>,
    reports: Sender<ReportEvent>,
}

impl EventLoop {
    /// Plays until all lanes are done, everything is reported and no process is left. Returns the threads of the
    /// lanes.
    async fn run(
        mut self,
        (listen, parked): (Option<Listen>, Option<ParkedLobby>),
        lanes: Lanes,
        (runner, events, halted): RunnerInputs,
        orders: (impl Future<Output = ()>, Option<oneshot::Receiver<()>>, Changes),
        stopped: &mut RunEnd,
    ) -> Vec<JoinHandle<()>> {
        let opened = self.open_lobby(listen.as_ref(), parked);
        if let Err(halt) = opened.and_then(|()| self.start_lanes(lanes, runner)) {
            stopped.halt(halt);
            self.stop();
        }
        self.serve(events, halted, orders, stopped).await;
        // A process that no lane receives is killed when it is dropped.
        while self.starts.next().await.is_some() {}
        while self.ending.join_next().await.is_some() {}
        std::mem::take(&mut self.lanes).into_iter().map(|lane| lane.thread).collect()
    }

    /// Starts the acceptor.
    fn open_lobby(&mut self, listen: Option<&Listen>, parked: Option<ParkedLobby>) -> Result<(), Halt> {
        if let Some(listen) = listen {
            let bots = self.common.bots.all();
            let names = bots.iter().filter_map(|entrant| entrant.source.connects_as()).map(str::to_owned);
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
        Ok(())
    }

    /// Handles events until all lanes are done and everything is reported.
    async fn serve(
        &mut self,
        mut events: mpsc::UnboundedReceiver<(usize, LaneEvent)>,
        mut halted: mpsc::UnboundedReceiver<Halt>,
        (interrupt, mut drain, mut changes): (
            impl Future<Output = ()>,
            Option<oneshot::Receiver<()>>,
            Changes,
        ),
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
                () = arrival(&mut self.lobby), if self.unplaced == 0 => {
                    self.pass_on();
                    self.note_guests();
                    self.supply()
                }
                Some(change) = next_change(&mut changes) => {
                    self.apply(change);
                    Ok(())
                }
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
}

impl Drop for EventLoop {
    fn drop(&mut self) {
        // The reporter must end even if the runner fails.
        self.report(ReportEvent::Over { is_complete: false });
    }
}

/// Why a run ends if a thread has panicked.
const BROKE_DOWN: &str = "a thread panicked";
