//! Plays the matches of a schedule: starts lanes, supplies them with bots, and passes results on.
//!
//! Each lane has a thread that does nothing but referee, and the acceptor has another one. This thread, that of the
//! caller, starts and terminates processes. Everything that may block on a disk or a slow reader has its own thread:
//! the reporter, the journal, and a reader of standard error for each bot.

mod changes;
mod event_loop;
mod events;
mod lanes;
mod supply;

pub use changes::RunChange;

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;

use event_loop::{EventLoop, Inputs};
use lanes::LaneConfig;
use referee_bots::{Launch, Launcher};
use referee_files::{Journal, Records, RunningMatches};
use referee_game::Wrong;
use referee_game::erased::{Rules, RulesWait};
use referee_game::seat::Seating;
use tokio::sync::{mpsc, oneshot};

use crate::driver::Run;
use crate::runner::archive::Unsealed;
use crate::runner::common::{Bots, RunContext};
use crate::runner::descriptors;
use crate::runner::journal;
use crate::runner::live::LiveFeed;
use crate::runner::record_sink::RecordSink;
use crate::runner::reporter::{Reporter, Watch, WatchFeed};
use crate::runner::resumed::ResumedMatch;
use crate::runner::run_event::{Halt, RunEvent};
use crate::runner::run_failure::{RunFailure, no_thread};
use crate::runner::scheduler::{Scheduler, SharedScheduler};
use crate::runner::starts::Starts;
use crate::sources::{BotSpec, Listen, ParkedLobby};

/// The configuration of a run of matches.
pub struct MatchRunner {
    pub run: Run,
    pub rules: &'static dyn Rules,
    pub seating: Seating,
    pub bots: Vec<BotSpec>,
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
    /// The listener for bots that connect, if some do.
    pub listen: Option<Listen>,
    /// The lobby of an earlier run, with its connections.
    pub lobby: Option<ParkedLobby>,
    /// The drain of the run: when this resolves, no new match starts; the run ends when the matches in progress have ended.
    pub drain: Option<oneshot::Receiver<()>>,
    pub records: Option<Records>,
    /// Whether the records of events describe the bots, as those that are stored do.
    pub describes_bots: bool,
    /// Whether the run ends when the rules fail in match after match.
    pub judges_rules: bool,
    /// The journal of match starts, if the run can be resumed.
    pub journal: Option<Journal>,
    /// The journals of matches whose bots can connect again, so that they go on after the process was killed.
    pub running: Option<RunningMatches>,
    /// The matches of an earlier process that go on.
    pub resumed: Vec<ResumedMatch>,
    /// The unsealed records of an earlier part of the run. `None` if the run cannot be resumed; then incomplete sets
    /// are sealed at the end.
    pub unsealed: Option<Vec<Unsealed>>,
    /// Bots and tokens that are added during the run. The run then continues without matches to play, until it is
    /// drained or interrupted.
    pub changes: Option<mpsc::UnboundedReceiver<RunChange>>,
    /// Watches the matches. The run then has one lane and one job, whatever `jobs` says.
    pub watch: Option<Watch>,
    /// The feed of matches for spectators.
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
    /// Plays one match at a time between bots that the referee starts, without records.
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
            describes_bots: false,
            judges_rules: true,
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

#[derive(Debug, Default)]
pub struct RunEnd {
    pub is_interrupted: bool,
    /// Whether the callback ended it with [`Halt::Done`].
    pub is_done: bool,
    /// Whether the run was drained (see [`MatchRunner::drain`]), so that matches may be left to play.
    pub is_drained: bool,
    /// The lobby with its connections, if the run was drained.
    pub lobby: Option<ParkedLobby>,
    pub why: Option<RunFailure>,
    /// Sets that were not played because they had ended their workers too often, with the reason.
    pub given_up: Vec<String>,
}

impl RunEnd {
    /// Returns whether the run ends before its matches have ended.
    pub fn is_stopping(&self) -> bool {
        self.is_interrupted || self.is_done || self.why.is_some()
    }

    pub fn halt(&mut self, halt: Halt) {
        match halt {
            Halt::Done => self.is_done = true,
            Halt::Failed(why) => self.why = Some(why),
        }
    }
}

impl MatchRunner {
    /// Plays. `interrupt` aborts the run; so does an error of `on_event`, which receives events on a thread of its own.
    pub fn play(
        self,
        schedule: impl Scheduler + 'static,
        interrupt: impl Future<Output = ()>,
        on_event: impl FnMut(RunEvent<'_>) -> Result<(), Halt> + Send,
    ) -> RunEnd {
        let mut stopped = RunEnd::default();
        if let Err(why) = self.play_to_the_end(schedule, interrupt, on_event, &mut stopped) {
            // The first error is the most informative.
            stopped.why.get_or_insert(why);
        }
        stopped
    }

    fn play_to_the_end(
        self,
        schedule: impl Scheduler + 'static,
        interrupt: impl Future<Output = ()>,
        on_event: impl FnMut(RunEvent<'_>) -> Result<(), Halt> + Send,
        stopped: &mut RunEnd,
    ) -> Result<(), RunFailure> {
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
            describes_bots,
            judges_rules,
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
        let runtime = runtime.map_err(RunFailure::from)?;
        let launcher = {
            let _within = runtime.enter();
            Launcher::open(launch, processes).map_err(|error| Wrong::at("no bot can be started", error))?
        };
        let (reports, to_report) = blocking::channel();
        let (halts, halted) = mpsc::unbounded_channel();
        let (runner, events) = mpsc::unbounded_channel();
        let journal = journal.map(|journal| journal::start(journal, runner.clone()).map_err(no_thread));
        let (journal, journal_thread) = journal.transpose()?.unzip();
        let schedule = SharedScheduler::new(Box::new(schedule));
        let common = Arc::new(RunContext {
            run,
            rules,
            seating,
            bots: Bots::new(bots),
            // While a lane computes, it does not learn when answers arrive.
            slots: if rules.wait() == RulesWait::Computing { 1 } else { slots },
            reconnect: listen.as_ref().map_or(Duration::ZERO, |listen| listen.reconnect),
            describes_bots: describes_bots || records.is_some(),
            records: records.clone(),
            running,
            live,
        });
        let queued_news = Arc::default();
        let watched = watch.map(|watch| WatchFeed::new(watch, reports.clone(), Arc::clone(&queued_news)));
        let record_sink = RecordSink::new(records, unsealed, common.live.clone(), on_event);
        let record_sink = if judges_rules { record_sink } else { record_sink.tolerating_rules() };
        let reporter = Reporter::new(common.clone(), schedule.clone(), record_sink, queued_news, halts);
        let wait = listen.as_ref().map_or(Duration::ZERO, |listen| listen.wait);
        let event_loop = EventLoop::new(common, schedule, Starts::new(launcher), wait, reports);
        let lanes = LaneConfig { jobs, processes, is_pinned, journal, watched, resumed, events: runner };
        let inputs = Inputs { events, halts: halted, interrupt, drain, changes };
        thread::scope(|scope| {
            let work = move || reporter.work(to_report);
            let reporter = thread::Builder::new().name("reporter".to_owned()).spawn_scoped(scope, work);
            let reporter = reporter.map_err(no_thread)?;
            let threads = runtime.block_on(event_loop.run(listen, lobby, lanes, inputs, stopped));
            let mut are_whole = reporter.join().is_ok();
            for thread in threads.into_iter().chain(journal_thread) {
                are_whole &= thread.join().is_ok();
            }
            if are_whole { Ok(()) } else { Err(RunFailure::panicked()) }
        })
    }
}
