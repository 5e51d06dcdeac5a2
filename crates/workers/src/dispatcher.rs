//! Hands sets out to workers: counts deliveries, replaces sets without progress, and counts the first outcome
//! of each set.

mod outcomes;
mod sweep;

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::carrier::{CarrierEvent, Order, OutcomeVerdict, RECONNECT_WINDOW, Returned};
use crate::committer::{CommitRequest, CommitResult, Committed};
use crate::coordinator::Coordinator;
use crate::job::Job;
use crate::machine::MachineState;
use crate::unit::{EncodedOutcome, UnitId, WorkUnit};
use crate::verify::Unstarted;
use referee_engine::runner::{DueSet, Halt, NextSet, RunEnd, RunFailure, SetScheduler, signalled};
use referee_store::Lease;

/// The number of times that a set is given to workers, at most.
const MOST_DELIVERIES: u32 = 4;
/// The minimum number of sets that are queued or with workers.
const WINDOW: usize = 16;
/// The interval of looks for overdue sets and requested changes.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, PartialEq, Eq)]
enum SetPhase {
    /// The carrier hands it out.
    Queued,
    /// The worker with this name has it.
    Out(String),
    /// A worker had it when the last coordinator ended, and may return with it.
    Expected(Instant),
}

/// A set without an outcome that counts.
struct OpenSet {
    unit: Arc<WorkUnit>,
    /// The number of the first attempt that has the same matches.
    since: u32,
    due: DueSet,
    deliveries: u32,
    phase: SetPhase,
    /// The time at which the set was queued, taken or last moved.
    moved_at: Instant,
    /// The worker whose outcome is being verified and stored.
    committing: Option<String>,
    /// Further outcomes, in case that one does not count.
    waiting: VecDeque<(EncodedOutcome, String)>,
    /// A worker on which a bot did not start.
    unstarted: Option<(String, Unstarted)>,
}

impl OpenSet {
    /// Returns whether the set is queued, or out to another worker than this one, which has played it.
    fn is_elsewhere(&self, played: &UnitId, by: &str) -> bool {
        self.unit.id != *played || !matches!(&self.phase, SetPhase::Out(worker) if worker == by)
    }
}

/// Hands the sets of a job out, and counts their outcomes.
pub(super) struct Dispatcher<'a, S> {
    coordinator: &'a mut Coordinator,
    job: &'a Job,
    schedule: S,
    to_commit: Sender<CommitRequest>,
    open: BTreeMap<u32, OpenSet>,
    /// Open sets of an earlier coordinator that are not drawn from the schedule yet.
    earlier: BTreeMap<u32, Lease>,
    given_up: Vec<String>,
    /// Whether the schedule has no more sets.
    is_exhausted: bool,
    /// The number of sets that the active workers play concurrently, as the schedule knows it.
    slots: usize,
    /// The last time at which a worker was active.
    active_at: Instant,
    /// The last look for overdue sets.
    looked_at: Instant,
}

impl<'a, S: SetScheduler> Dispatcher<'a, S> {
    pub(super) fn new(
        coordinator: &'a mut Coordinator,
        job: &'a Job,
        schedule: S,
        to_commit: Sender<CommitRequest>,
    ) -> Dispatcher<'a, S> {
        Dispatcher {
            coordinator,
            job,
            schedule,
            to_commit,
            open: BTreeMap::new(),
            earlier: BTreeMap::new(),
            given_up: Vec::new(),
            is_exhausted: false,
            slots: 0,
            active_at: Instant::now(),
            looked_at: Instant::now(),
        }
    }

    /// Plays until every set has an outcome or was given up.
    pub(super) async fn run(
        mut self,
        mut committed: UnboundedReceiver<Committed>,
        interrupt: impl Future<Output = ()>,
        drain: Option<oneshot::Receiver<()>>,
        end: &mut RunEnd,
    ) {
        if let Err(halt) = self.play(&mut committed, interrupt, drain, end).await {
            end.halt(halt);
        }
        // Outcomes that are being stored are waited for.
        let Dispatcher { to_commit, given_up, coordinator, open, .. } = self;
        let is_complete = !end.is_stopping() && !end.is_drained && given_up.is_empty();
        // The committer has ended if it has failed.
        let _ = to_commit.send(CommitRequest::Over { is_complete });
        drop(to_commit);
        while let Some(committed) = committed.recv().await {
            let Committed { unit, worker, result } = committed;
            match result {
                CommitResult::Counted { .. } => {
                    if let Some(open) = open.get(&unit.set).filter(|open| open.is_elsewhere(&unit, &worker)) {
                        coordinator.order(Order::Withdraw(open.unit.id.clone()));
                    }
                    coordinator.give_verdict(unit, worker, OutcomeVerdict::Counted);
                }
                CommitResult::Failed(Halt::Failed(why)) if end.why.is_none() => end.why = Some(why),
                CommitResult::Failed(_) | CommitResult::Refused(_) | CommitResult::Unstarted(_) => {}
            }
        }
        coordinator.verdicts.forget_unjudged();
        if end.why.is_none() && !given_up.is_empty() {
            end.given_up = given_up;
        }
    }

    async fn play(
        &mut self,
        committed: &mut UnboundedReceiver<Committed>,
        interrupt: impl Future<Output = ()>,
        mut drain: Option<oneshot::Receiver<()>>,
        end: &mut RunEnd,
    ) -> Result<(), Halt> {
        let mut interrupt = std::pin::pin!(interrupt);
        let mut ticks = interval(POLL_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let leases = self.coordinator.leases.open_sets().map_err(because)?;
        self.earlier = leases.into_iter().map(|lease| (lease.set, lease)).collect();
        let mut least = self.earlier.len() + WINDOW;
        loop {
            self.note_slots();
            self.top_up(least)?;
            // Sets that are left are not due any more.
            for set in std::mem::take(&mut self.earlier).into_keys() {
                self.coordinator.leases.close(set).map_err(because)?;
            }
            least = WINDOW;
            if self.is_exhausted && self.open.is_empty() {
                return Ok(());
            }
            tokio::select! {
                () = &mut interrupt => {
                    end.is_interrupted = true;
                    return Ok(());
                }
                () = signalled(&mut drain) => {
                    end.is_drained = true;
                    return Ok(());
                }
                event = self.coordinator.events.recv() => match event {
                    Some(event) => self.handle(event)?,
                    None => return Err(because(self.coordinator.failure())),
                },
                committed = committed.recv() => match committed {
                    Some(committed) => self.commit(committed)?,
                    None => return Err(RunFailure::panicked().into()),
                },
                _ = ticks.tick() => {
                    self.deduct_absence();
                    self.sweep()?;
                    self.apply_requests()?;
                }
            }
        }
    }

    /// Draws sets from the schedule while fewer than enough are open.
    fn top_up(&mut self, least: usize) -> Result<(), Halt> {
        let most = least.max(4 * self.slots);
        while self.open.len() < most && !self.is_exhausted {
            match self.schedule.next_set() {
                NextSet::Set(due) => self.add(due)?,
                // If all others were given up, nothing will make more sets due.
                NextSet::Later => {
                    self.is_exhausted = self.open.is_empty() && !self.schedule.is_endless();
                    return Ok(());
                }
                NextSet::Never => self.is_exhausted = true,
            }
        }
        Ok(())
    }

    /// Adds a set, which an earlier coordinator may have handed out.
    fn add(&mut self, due: DueSet) -> Result<(), Halt> {
        let set = due.number;
        let is_same = |lease: &Lease| {
            let unit: WorkUnit = serde_json::from_str(&lease.unit).ok()?;
            let ids = || due.fixtures.iter().map(|fixture| &fixture.id);
            unit.matches.iter().map(|of| &of.id).eq(ids()).then_some(unit)
        };
        let earlier = self.earlier.remove(&set).and_then(|lease| Some((is_same(&lease)?, lease)));
        let (unit, deliveries, worker) = match earlier {
            Some((unit, lease)) => (unit, lease.deliveries, lease.worker),
            None => {
                let attempt = self.coordinator.leases.next_attempt(set).map_err(because)?;
                let id = UnitId { run: self.coordinator.run.clone(), set, attempt };
                let (unit, text) = self.job.unit(id, &due).map_err(because)?;
                self.coordinator.leases.queue(set, attempt, 0, &text).map_err(because)?;
                (unit, 0, None)
            }
        };
        let now = Instant::now();
        let phase = match worker {
            Some(worker) if self.coordinator.fleet.is_connected(&worker) => SetPhase::Out(worker),
            Some(_) => SetPhase::Expected(now + RECONNECT_WINDOW),
            None => SetPhase::Queued,
        };
        let order = if phase == SetPhase::Queued { Order::Publish } else { Order::Adopt };
        self.coordinator.order(order(Box::new(unit.clone())));
        let unit = Arc::new(unit);
        let (committing, waiting, unstarted) = (None, VecDeque::new(), None);
        let since = unit.id.attempt;
        let open =
            OpenSet { unit, since, due, deliveries, phase, moved_at: now, committing, waiting, unstarted };
        self.open.insert(set, open);
        Ok(())
    }

    /// The open set of a unit, if the unit is its current attempt.
    fn current(&mut self, id: &UnitId) -> Option<&mut OpenSet> {
        self.open.get_mut(&id.set).filter(|open| open.unit.id == *id)
    }

    fn handle(&mut self, event: CarrierEvent) -> Result<(), Halt> {
        match event {
            CarrierEvent::Joined(machine, holding) => {
                let name = machine.name.clone();
                let is_timed = self.job.run.terms.clock.is_some();
                let state = self.coordinator.fleet.join(machine, &holding, is_timed);
                let run = self.coordinator.run.clone();
                self.coordinator.order(Order::SetState(run, name.clone(), state));
                for id in holding {
                    self.note_holder(&id, name.clone())?;
                }
                self.coordinator.fleet.store(&self.coordinator.leases, &name).map_err(because)
            }
            CarrierEvent::Left(worker) => {
                self.coordinator.fleet.leave(&worker);
                self.coordinator.fleet.store(&self.coordinator.leases, &worker).map_err(because)
            }
            CarrierEvent::Taken(id, worker) => self.taken(&id, worker),
            CarrierEvent::Moved(id, _) => {
                let Some(open) = self.current(&id) else { return Ok(()) };
                open.moved_at = Instant::now();
                self.coordinator.leases.touch(id.set, id.attempt).map_err(because)
            }
            CarrierEvent::Returned(id, worker, reason) => self.returned(&id, worker, reason),
            CarrierEvent::Played(outcome, worker) => self.played(outcome, worker),
            CarrierEvent::Incompatible(worker, why) => {
                tracing::warn!("the worker `{worker}` gets no sets: {why}");
                self.set_state(&worker, MachineState::Incompatible, Some(why))
            }
        }
    }

    /// Notes that a worker has received a unit.
    fn taken(&mut self, id: &UnitId, worker: String) -> Result<(), Halt> {
        let Some(open) = self.current(id) else {
            self.coordinator.order(Order::Withdraw(id.clone()));
            return Ok(());
        };
        open.deliveries += 1;
        self.coordinator.verdicts.forget(id, &worker);
        self.note_holder(id, worker)
    }

    /// Notes that a worker has the current attempt at a set.
    fn note_holder(&mut self, id: &UnitId, worker: String) -> Result<(), Halt> {
        let Some(open) = self.current(id) else { return Ok(()) };
        (open.phase, open.moved_at) = (SetPhase::Out(worker.clone()), Instant::now());
        let deliveries = open.deliveries;
        self.coordinator.leases.take(id.set, id.attempt, &worker, deliveries).map_err(because)
    }

    /// Takes back a unit that a worker does not have any more.
    fn returned(&mut self, id: &UnitId, worker: String, reason: Returned) -> Result<(), Halt> {
        // A worker may be lost while its outcome is stored: the set is not.
        let has_sent = self.current(id).is_some_and(|open| open.committing.as_ref() == Some(&worker));
        if reason != Returned::Stopped && !has_sent {
            self.coordinator.fleet.count(&worker, |row| row.lost += 1);
        }
        if let Returned::Unable(why) = &reason {
            self.put_aside(&worker, format!("it cannot play {id}: {why}"))?;
        }
        self.coordinator.fleet.store(&self.coordinator.leases, &worker).map_err(because)?;
        let Some(open) = self.current(id).filter(|open| open.phase == SetPhase::Out(worker)) else {
            return Ok(());
        };
        if reason != Returned::Lost {
            // The worker did not play it.
            open.deliveries = open.deliveries.saturating_sub(1);
        }
        self.hand_out_again(id.set)
    }

    /// Queues a set that a worker had, or gives it up.
    fn hand_out_again(&mut self, set: u32) -> Result<(), Halt> {
        let Some(open) = self.open.get_mut(&set) else { return Ok(()) };
        if open.committing.is_some() {
            return Ok(());
        }
        if open.deliveries >= MOST_DELIVERIES {
            return self.give_up(set);
        }
        (open.phase, open.moved_at) = (SetPhase::Queued, Instant::now());
        let (unit, deliveries) = (Arc::clone(&open.unit), open.deliveries);
        self.coordinator.leases.put_back(set, unit.id.attempt, deliveries).map_err(because)?;
        self.coordinator.order(Order::Publish(Box::new((*unit).clone())));
        Ok(())
    }

    /// Tries a set no more: it has been delivered too often.
    fn give_up(&mut self, set: u32) -> Result<(), Halt> {
        let Some(open) = self.open.remove(&set) else { return Ok(()) };
        self.coordinator.order(Order::Withdraw(open.unit.id.clone()));
        self.coordinator.leases.give_up(set).map_err(because)?;
        let ids: Vec<&str> = open.due.fixtures.iter().map(|fixture| &*fixture.id).collect();
        let times = open.deliveries;
        let what = format!("s{set} ({}): delivered {times} times without a result", ids.join(", "));
        if self.schedule.is_endless() {
            tracing::warn!("{what}: it does not count");
            self.schedule.give_up(&open.due);
        } else {
            self.given_up.push(what);
        }
        Ok(())
    }

    fn put_aside(&mut self, worker: &str, why: String) -> Result<(), Halt> {
        tracing::warn!("the worker `{worker}` is put aside: {why}");
        self.set_state(worker, MachineState::Aside, Some(why))
    }

    fn set_state(&mut self, worker: &str, state: MachineState, why: Option<String>) -> Result<(), Halt> {
        if self.coordinator.fleet.set_state(worker, state, why) {
            let run = self.coordinator.run.clone();
            self.coordinator.order(Order::SetState(run, worker.to_owned(), state));
        }
        self.coordinator.fleet.store(&self.coordinator.leases, worker).map_err(because)
    }
}

fn because(error: impl Error + Send + Sync + 'static) -> Halt {
    RunFailure::other(error).into()
}
