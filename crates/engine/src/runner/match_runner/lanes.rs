//! The threads of the lanes.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

use referee_game::Wrong;
use referee_game::erased::RulesWait;
use referee_transport::watch_while_waiting;
use tokio::sync::mpsc;

use super::event_loop::EventLoop;
use crate::runner::cpu::Cpu;
use crate::runner::fixture::Fixture;
use crate::runner::journal::Beginning;
use crate::runner::lane_messages::{EventSender, LaneEvent, LaneHandle, LaneOrder};
use crate::runner::pairings::{LaneChannels, LanePairings, LaneShare};
use crate::runner::reporter::WatchFeed;
use crate::runner::resumed::ResumedMatch;
use crate::runner::run_event::Halt;
use crate::runner::run_failure::no_thread;

/// A handle to a lane's thread.
pub(super) struct LaneThread {
    pub(super) orders: mpsc::UnboundedSender<LaneOrder>,
    pub(super) cpu: Option<Cpu>,
    pub(super) thread: JoinHandle<()>,
}

/// The configuration of a run's lanes.
pub(super) struct LaneConfig {
    /// The number of pairings that play concurrently.
    pub(super) jobs: usize,
    /// The maximum number of bot processes.
    pub(super) processes: usize,
    /// Whether each lane is pinned to a CPU.
    pub(super) is_pinned: bool,
    pub(super) journal: Option<Sender<Beginning>>,
    /// The feed of a watched match.
    pub(super) watched: Option<WatchFeed>,
    /// The matches of an earlier process.
    pub(super) resumed: Vec<ResumedMatch>,
    /// Receives the events of the lanes, with the number of the lane.
    pub(super) events: mpsc::UnboundedSender<(usize, LaneEvent)>,
}

fn no_pipe(error: io::Error) -> Wrong {
    Wrong::at("cannot create a pipe", error)
}

impl EventLoop {
    pub(super) fn start_lanes(&mut self, config: LaneConfig) -> Result<(), Halt> {
        let LaneConfig { jobs, processes, is_pinned, journal, mut watched, resumed, events: runner } = config;
        self.unplaced = resumed.len();
        let cpus = if is_pinned { Cpu::all() } else { Ok(Vec::new()) };
        let cpus = cpus.map_err(|error| {
            Wrong::at("lanes cannot be pinned: cannot get the CPUs of this process", error)
        })?;
        // A watched run has one lane.
        let jobs = if watched.is_some() { 1 } else { jobs };
        let spare = processes.saturating_sub(jobs * self.common.seating.seats());
        // A lane that waits for rules, or computes what they say, does nothing else: others go on.
        let most = match self.common.rules.wait() {
            RulesWait::Watching | RulesWait::Computing => jobs,
            RulesWait::None => thread::available_parallelism().map_or(1, usize::from),
        };
        let stop = match self.common.rules.wait() {
            RulesWait::Watching | RulesWait::Computing => {
                let (stop, is_stopping) = io::pipe().map_err(no_pipe)?;
                self.is_stopping = Some(is_stopping);
                Some(OwnedFd::from(stop))
            }
            RulesWait::None => None,
        };
        let lanes = jobs.min(most);
        let mut resumed: VecDeque<(Fixture, ResumedMatch)> = self.fixtures(resumed)?.into();
        for number in 0..lanes {
            let of_lane = resumed.split_off(resumed.len() - resumed.len().div_ceil(lanes - number));
            let cpu = cpus.get(number % cpus.len().max(1)).copied();
            let share = |of: usize| of / lanes + usize::from(number < of % lanes);
            let share = LaneShare { jobs: share(jobs), spare: share(spare) };
            let (orders, to_lane) = mpsc::unbounded_channel();
            let events = EventSender { lane: number, runner: runner.clone() };
            let channels = LaneChannels {
                handle: LaneHandle { number, orders: orders.clone() },
                events: events.clone(),
                reports: self.reports.clone(),
                journal: journal.clone(),
            };
            let (common, schedule) = (self.common.clone(), self.schedule.clone());
            let watched = watched.take();
            let of_lane = Vec::from(of_lane);
            let stop = stop.as_ref().map(OwnedFd::try_clone).transpose().map_err(no_pipe)?;
            let work = move || {
                let done = Done(events);
                if let Some(cpu) = &cpu
                    && let Err(error) = cpu.keep()
                {
                    tracing::warn!(%error, "the lane is not pinned");
                }
                if let Some(stop) = stop
                    && let Err(error) = watch_while_waiting(stop)
                {
                    tracing::warn!(%error, "while the lane waits for rules, it watches no streams");
                }
                match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                    Ok(runtime) => runtime.block_on(async {
                        let pairings = LanePairings::new(share, common, schedule, channels, watched);
                        pairings.work(to_lane, of_lane).await;
                    }),
                    Err(error) => done.0.send(LaneEvent::Failed(error.into())),
                }
            };
            let thread = thread::Builder::new().name(format!("lane-{}", number + 1)).spawn(work);
            let thread = thread.map_err(no_thread)?;
            self.lanes.push(LaneThread { orders, cpu, thread });
        }
        Ok(())
    }
}

/// Tells the runner that a lane is done, even if it panicked.
struct Done(EventSender);

impl Drop for Done {
    fn drop(&mut self) {
        // The runner waits for every lane, unless it has ended.
        if thread::panicking() {
            // The matches of this lane will not end, and others may wait for them.
            self.0.send(LaneEvent::Failed(Wrong::new("a lane panicked").into()));
        }
        self.0.send(LaneEvent::Done);
    }
}
