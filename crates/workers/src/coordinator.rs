//! The coordinator: serves one run with a carrier.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc as blocking;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use referee_game::Wrong;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::carrier::{CarrierEvent, CoordinatorEnd, Order, OutcomeVerdict};
use crate::committer::Committer;
use crate::dispatcher::Dispatcher;
use crate::fleet::Fleet;
use crate::job::Job;
use crate::unit::UnitId;
use crate::verdicts::Verdicts;
use referee_engine::runner::{Halt, RunEnd, RunEvent, SetScheduler};
use referee_store::{Leases, StoreError};

/// The thread of a carrier, for which the last of its coordinators waits.
type CarrierThread = Arc<JoinHandle<Result<(), Wrong>>>;

/// Hands sets out to workers. It stays when the run that it serves is changed.
pub struct Coordinator {
    orders: UnboundedSender<Order>,
    pub(super) events: UnboundedReceiver<CarrierEvent>,
    /// The thread of the carrier, until it has failed.
    thread: Option<CarrierThread>,
    pub(super) leases: Leases,
    pub(super) run: String,
    pub(super) fleet: Fleet,
    pub(super) verdicts: Verdicts,
    pub(super) timeout: Duration,
    pub(super) activity: Activity,
}

#[derive(Clone, Debug, Default)]
pub struct Activity(Arc<WorkerCounts>);

#[derive(Debug, Default)]
struct WorkerCounts {
    slots: AtomicUsize,
    inactive: AtomicUsize,
}

impl Activity {
    /// The number of sets that the active workers play concurrently; 0 if none is active.
    pub fn slots(&self) -> usize {
        self.0.slots.load(Ordering::Relaxed)
    }

    /// The number of connected workers that get no sets.
    pub fn inactive(&self) -> usize {
        self.0.inactive.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, slots: usize, inactive: usize) {
        self.0.slots.store(slots, Ordering::Relaxed);
        self.0.inactive.store(inactive, Ordering::Relaxed);
    }
}

impl fmt::Debug for Coordinator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coordinator").field("run", &self.run).finish_non_exhaustive()
    }
}

impl Coordinator {
    /// Starts the coordinator's end of a carrier. A set without an outcome and without progress for `timeout` is given to
    /// another worker.
    ///
    /// # Errors
    /// If the leases cannot be read, or no thread can be started.
    pub fn start(
        end: impl CoordinatorEnd + Send + 'static,
        leases: Leases,
        timeout: Duration,
    ) -> Result<Coordinator, StoreError> {
        let (orders, of_coordinator) = unbounded_channel();
        let (to_coordinator, events) = unbounded_channel();
        let serve = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(end.serve(of_coordinator, to_coordinator))
        };
        let thread = thread::Builder::new().name("carrier".to_owned()).spawn(serve)?;
        Coordinator::with(orders, events, Arc::new(thread), leases, timeout)
    }

    /// A coordinator with these channels to a carrier, which this thread serves.
    pub(super) fn with(
        orders: UnboundedSender<Order>,
        events: UnboundedReceiver<CarrierEvent>,
        thread: CarrierThread,
        leases: Leases,
        timeout: Duration,
    ) -> Result<Coordinator, StoreError> {
        let (run, fleet) = (leases.run()?, Fleet::open(&leases)?);
        let (verdicts, activity) = (Verdicts::default(), Activity::default());
        let thread = Some(thread);
        Ok(Coordinator { orders, events, thread, leases, run, fleet, verdicts, timeout, activity })
    }

    /// Plays a job, as [`MatchRunner::play`](referee_engine::runner::MatchRunner::play) does on this machine.
    pub fn play(
        &mut self,
        mut job: Job,
        schedule: impl SetScheduler,
        interrupt: impl Future<Output = ()>,
        on_event: impl FnMut(RunEvent<'_>) -> Result<(), Halt> + Send,
    ) -> RunEnd {
        let mut end = RunEnd::default();
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return RunEnd { why: Some(error.into()), ..end },
        };
        let drain = job.drain.take();
        let committer = Committer::new(&mut job, on_event);
        let (to_commit, of_dispatcher) = blocking::channel();
        let (to_dispatcher, committed) = unbounded_channel();
        thread::scope(|scope| {
            scope.spawn(move || committer.work(&of_dispatcher, &to_dispatcher));
            let dispatcher = Dispatcher::new(self, &job, schedule, to_commit);
            runtime.block_on(dispatcher.run(committed, interrupt, drain, &mut end));
        });
        end
    }

    /// The activity of its workers, also while it plays.
    pub fn activity(&self) -> Activity {
        self.activity.clone()
    }

    /// Tells the workers that the run is over if it is, and ends the carrier.
    ///
    /// # Errors
    /// Why the carrier failed.
    pub fn end(self, is_over: bool) -> Result<(), Wrong> {
        if is_over {
            // The channel is closed if the carrier has failed.
            let _ = self.orders.send(Order::Over(self.run));
        }
        drop(self.orders);
        self.thread.map_or(Ok(()), join)
    }

    /// The reason why the carrier has ended before the run.
    pub(super) fn failure(&mut self) -> Wrong {
        match self.thread.take().map(join) {
            Some(Err(error)) => error,
            Some(Ok(())) | None => Wrong::new("the carrier has failed"),
        }
    }

    pub(super) fn give_verdict(&mut self, unit: UnitId, worker: String, verdict: OutcomeVerdict) {
        self.verdicts.set(&unit, &worker, verdict.clone());
        self.order(Order::Verdict { unit, worker, verdict });
    }

    pub(super) fn order(&self, order: Order) {
        // The channel is closed if the carrier has failed, which ends the run.
        let _ = self.orders.send(order);
    }
}

fn join(carrier: CarrierThread) -> Result<(), Wrong> {
    let carrier = Arc::into_inner(carrier).map(JoinHandle::join);
    carrier.map_or(Ok(()), |joined| joined.unwrap_or(Err(Wrong::new("the carrier panicked"))))
}
