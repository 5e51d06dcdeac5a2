//! The loop that supplies the lanes with bots and handles events until the run is over.

use std::collections::BTreeMap;
use std::io::PipeWriter;
use std::iter;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::RunEnd;
use super::changes::{RunChange, next_change};
use super::events::arrival;
use super::lanes::{LaneConfig, LaneThread};
use super::supply::{Absent, BotRequest};
use crate::driver::LaneClock;
use crate::runner::common::RunContext;
use crate::runner::fixture::Wait;
use crate::runner::lane_messages::{LaneEvent, LaneOrder, OVER, ReportEvent};
use crate::runner::run_event::Halt;
use crate::runner::run_failure::RunFailure;
use crate::runner::scheduler::SharedScheduler;
use crate::runner::starts::Starts;
use crate::runner::stop_signal::signalled;
use crate::sources::{Listen, Lobby, ParkedLobby};
use referee_game::Wrong;

pub(super) struct Inputs<I> {
    /// Events of the lanes, with the number of the lane.
    pub(super) events: mpsc::UnboundedReceiver<(usize, LaneEvent)>,
    pub(super) halts: mpsc::UnboundedReceiver<Halt>,
    /// Aborts the run when it resolves.
    pub(super) interrupt: I,
    /// Drains the run when it resolves.
    pub(super) drain: Option<oneshot::Receiver<()>>,
    pub(super) changes: Option<mpsc::UnboundedReceiver<RunChange>>,
}

/// Supplies the lanes with bots and handles events until the run is over.
pub(super) struct EventLoop {
    pub(super) starts: Starts,
    pub(super) schedule: SharedScheduler,
    pub(super) common: Arc<RunContext>,
    pub(super) lobby: Option<Lobby>,
    /// The time for which a match waits for a bot that is not connected.
    pub(super) wait: Duration,
    /// Created before the lanes: the watchdog thread must not inherit their CPU affinity.
    pub(super) clock: LaneClock,
    pub(super) lanes: Vec<LaneThread>,
    pub(super) needs: Vec<BotRequest>,
    /// Whether a request may be granted now.
    pub(super) is_supply_due: bool,
    /// The next time at which a waiting request is given up.
    pub(super) wait_ends: Option<Instant>,
    /// The bots that have joined by connecting, by name.
    pub(super) guests: BTreeMap<String, usize>,
    /// The number of matches of an earlier process whose bots are not expected yet. Until then connections wait.
    pub(super) unplaced: usize,
    /// By name. The waiting time of matches starts when a bot is first missed, so that its absence costs this time
    /// once.
    pub(super) absent: BTreeMap<String, Absent>,
    /// Closed when the lanes have to stop, even if they wait for rules.
    pub(super) is_stopping: Option<PipeWriter>,
    /// Processes that are being terminated.
    pub(super) ending: JoinSet<()>,
    pub(super) reports: Sender<ReportEvent>,
}

impl EventLoop {
    /// Creates the loop. `wait`: the time for which a match waits for a bot that is not connected.
    pub(super) fn new(
        common: Arc<RunContext>,
        schedule: SharedScheduler,
        starts: Starts,
        wait: Duration,
        reports: Sender<ReportEvent>,
    ) -> EventLoop {
        EventLoop {
            starts,
            schedule,
            common,
            lobby: None,
            wait,
            clock: LaneClock::new(),
            lanes: Vec::new(),
            needs: Vec::new(),
            is_supply_due: false,
            wait_ends: None,
            guests: BTreeMap::new(),
            unplaced: 0,
            absent: BTreeMap::new(),
            is_stopping: None,
            ending: JoinSet::new(),
            reports,
        }
    }

    /// Plays until all lanes are done, everything is reported and no process is left. Returns the threads of the
    /// lanes.
    pub(super) async fn run(
        mut self,
        listen: Option<Listen>,
        parked: Option<ParkedLobby>,
        lanes: LaneConfig,
        inputs: Inputs<impl Future<Output = ()>>,
        stopped: &mut RunEnd,
    ) -> Vec<JoinHandle<()>> {
        let opened = self.open_lobby(listen.as_ref(), parked);
        if let Err(halt) = opened.and_then(|()| self.start_lanes(lanes)) {
            stopped.halt(halt);
            self.stop();
        }
        self.serve(inputs, stopped).await;
        // A process that no lane receives is killed when it is dropped.
        while self.starts.next().await.is_some() {}
        while self.ending.join_next().await.is_some() {}
        std::mem::take(&mut self.lanes).into_iter().map(|lane| lane.thread).collect()
    }

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
                    let lobby = lobby
                        .map_err(|error| Wrong::at(format!("cannot listen at {}", listen.address), error))?;
                    self.report(ReportEvent::Listening(lobby.address()));
                    lobby
                }
            });
        }
        Ok(())
    }

    /// Handles events until all lanes are done and everything is reported.
    async fn serve(&mut self, inputs: Inputs<impl Future<Output = ()>>, stopped: &mut RunEnd) {
        let Inputs { mut events, mut halts, interrupt, mut drain, mut changes } = inputs;
        let mut interrupt = std::pin::pin!(interrupt);
        let mut left = self.lanes.len();
        if left == 0 {
            self.finish(stopped);
        }
        let mut is_reporting = true;
        while left > 0 || is_reporting {
            let is_stopping = stopped.is_stopping();
            // Connections end in many places, also while they are passed on.
            self.note_guests();
            // Events that have happened are handled first.
            if self.is_supply_due && events.is_empty() {
                self.supply();
                self.note_guests();
            }
            let wait_ends = self.wait_ends;
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
                halt = halts.recv(), if is_reporting => {
                    is_reporting = halt.is_some();
                    match halt {
                        Some(halt) => Err(halt),
                        None if left == 0 => Ok(()),
                        None => Err(RunFailure::panicked().into()),
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
                    self.is_supply_due = true;
                    Ok(())
                }
                Some(change) = next_change(&mut changes) => {
                    self.apply(change);
                    Ok(())
                }
                () = tokio::time::sleep_until(wait_ends.unwrap_or_else(Instant::now)), if wait_ends.is_some() => {
                    self.is_supply_due = true;
                    Ok(())
                }
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

    /// Closes or parks the lobby once all lanes are done.
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
            if need.kind.wait == Wait::Always || self.short(&need.bots, Lobby::connections).is_empty() {
                self.needs.push(need);
            } else {
                self.send(need.lane, LaneOrder::PutBack(need.bots.into_iter().map(|(key, _)| key).collect()));
            }
        }
    }

    /// Sends an event to the reporter.
    pub(super) fn report(&self, report: ReportEvent) {
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
        self.is_stopping = None;
    }
}

impl Drop for EventLoop {
    fn drop(&mut self) {
        // The reporter must end even if the runner fails.
        self.report(ReportEvent::Over { is_complete: false });
    }
}
