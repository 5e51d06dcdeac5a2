//! Knows the workers and the published units, and hands these out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, timeout};

use super::frame::{FromCoordinator, FromWorker, WorkerHello};
use crate::carrier::{CarrierEvent, Order, OutcomeVerdict, RECONNECT_WINDOW, Returned};
use crate::machine::{MOST_SLOTS, Machine, MachineState};
use crate::trial::{BuiltArchive, PendingTrial, TrialReply};
use crate::unit::{EncodedOutcome, UnitId, WorkUnit};

/// The delay of a timer above which this process was absent.
const LATE: Duration = Duration::from_secs(1);
/// The maximum number of workers.
const MOST_WORKERS: usize = 10_000;
/// The maximum number of units that a worker may have at once.
const MOST_UNITS: usize = MOST_SLOTS as usize;
/// The least time between two reports of progress of a unit that are passed on; workers send them every 10 s.
const LEAST_PROGRESS: Duration = Duration::from_secs(1);
/// The time without units after which a run saves no time up for later.
const IDLE: Duration = Duration::from_secs(10);
/// The time that the end of the run may take to reach the workers.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) enum FromConnection {
    /// An admitted worker, with a sender for its messages and for its number.
    Joined(WorkerHello, UnboundedSender<HubMessage>),
    /// A message with the name of the worker and the number of the connection.
    Message(String, u64, FromWorker, Option<EncodedOutcome>),
    /// The result of a trial, with the name of the worker and the number of the connection.
    Tried(String, u64, u64, TrialReply, BuiltArchive),
    Left(String, u64),
}

/// A message of the hub to a connection.
pub(super) enum HubMessage {
    /// The worker is admitted under this name, and the connection has this number.
    Admitted(String, u64),
    Rejected(String),
    /// A message with its bytes.
    Message(FromCoordinator, Vec<u8>),
}

struct ConnectedWorker {
    /// The number of its connection and a sender for its messages, while it is connected.
    connection: Option<(u64, UnboundedSender<HubMessage>)>,
    /// The time until which the worker may return, while it is not connected.
    until: Instant,
    /// Distinguishes it from another worker on a machine of the same name.
    instance: u64,
    /// The states by run. It gets no units of other runs.
    states: BTreeMap<String, MachineState>,
    free: usize,
    holding: BTreeSet<UnitId>,
    /// The units whose outcome the coordinator is judging.
    judging: BTreeSet<UnitId>,
    /// The last report of progress, by unit.
    moved: BTreeMap<UnitId, Instant>,
    /// Whether the worker can try programs.
    builds: bool,
    /// The program that it tries.
    trial: Option<PendingTrial>,
}

impl ConnectedWorker {
    /// Returns whether it can take a unit of this run.
    fn can_take(&self, run: &str) -> bool {
        let is_active = self.states.values().all(|&state| state == MachineState::Active);
        self.connection.is_some() && self.free > 0 && is_active && self.states.contains_key(run)
    }
}

/// The time for which workers have played the units of a run.
struct RunTime {
    /// The sum over all units.
    played: Duration,
    active_at: Instant,
}

/// Knows the workers and the published units.
pub(super) struct WorkerHub {
    events: UnboundedSender<CarrierEvent>,
    workers: BTreeMap<String, ConnectedWorker>,
    queue: VecDeque<Box<WorkUnit>>,
    /// By run: units of the run with the least time are handed out first.
    times: BTreeMap<String, RunTime>,
    /// The time up to which these are counted.
    counted_at: Instant,
    trials: VecDeque<PendingTrial>,
    /// The number of the last connection.
    connection: u64,
    is_over: bool,
}

impl WorkerHub {
    pub(super) fn new(events: UnboundedSender<CarrierEvent>) -> WorkerHub {
        WorkerHub {
            events,
            workers: BTreeMap::new(),
            queue: VecDeque::new(),
            times: BTreeMap::new(),
            counted_at: Instant::now(),
            trials: VecDeque::new(),
            connection: 0,
            is_over: false,
        }
    }

    /// Runs until `orders` is closed, and the workers are notified of the end of the run.
    pub(super) async fn run(
        mut self,
        mut orders: UnboundedReceiver<Order>,
        mut of_connections: Receiver<FromConnection>,
    ) {
        loop {
            let until = self.workers.values().filter(|of| of.connection.is_none()).map(|of| of.until).min();
            tokio::select! {
                order = orders.recv() => match order {
                    Some(order) => self.handle_order(order),
                    None => break,
                },
                Some(message) = of_connections.recv() => self.handle_message(message),
                () = sleep_until(until), if until.is_some() => self.forget_lost(),
            }
            self.hand_out_trials();
            self.hand_out();
        }
        // The connections write their queues; a worker closes its own after `Over`.
        let farewell = async {
            while self.is_over && self.workers.values().any(|worker| worker.connection.is_some()) {
                match of_connections.recv().await {
                    Some(FromConnection::Left(name, number)) => self.leave(&name, number),
                    Some(_) => {}
                    None => return,
                }
            }
        };
        // Workers that do not answer are disconnected.
        let _ = timeout(SHUTDOWN_TIMEOUT, farewell).await;
    }

    fn emit(&self, event: CarrierEvent) {
        // The channel is closed if the run is failing.
        let _ = self.events.send(event);
    }

    fn send(&self, worker: &str, message: FromCoordinator) {
        let connection = self.workers.get(worker).and_then(|worker| worker.connection.as_ref());
        if let Some((_, connection)) = connection {
            // An error means that the connection has ended, which arrives as an event of its own.
            let _ = connection.send(HubMessage::Message(message, Vec::new()));
        }
    }

    /// Counts the time for which workers have played since the last call. A run that has had no units starts with the
    /// least time of the others, so that it neither waits for them nor they for it.
    fn count_time(&mut self) {
        let now = Instant::now();
        let passed = now - std::mem::replace(&mut self.counted_at, now);
        let least = self.times.values().map(|time| time.played).min().unwrap_or_default();
        let played = self.workers.values().flat_map(|of| of.holding.difference(&of.judging));
        let queued = self.queue.iter().map(|unit| (&unit.id.run, Duration::ZERO));
        for (run, passed) in played.map(|id| (&id.run, passed)).chain(queued) {
            if !self.times.contains_key(run) {
                self.times.insert(run.clone(), RunTime { played: least, active_at: now });
            }
            if let Some(time) = self.times.get_mut(run) {
                (time.played, time.active_at) = (time.played + passed, now);
            }
        }
        self.times.retain(|_, time| now - time.active_at < IDLE);
    }

    fn handle_order(&mut self, order: Order) {
        self.count_time();
        match order {
            Order::Publish(unit) => {
                let is_known = self.queue.iter().any(|queued| queued.id == unit.id)
                    || self.workers.values().any(|worker| worker.holding.contains(&unit.id));
                if !is_known {
                    self.queue.push_back(unit);
                }
            }
            // Workers name the units that they have when they connect.
            Order::Adopt(_) => {}
            Order::Withdraw(id) => {
                self.queue.retain(|unit| unit.id != id);
                let holders: Vec<String> = self.holders(&id).map(str::to_owned).collect();
                for name in holders {
                    self.release(&name, &id);
                    self.send(&name, FromCoordinator::Withdrawn(id.clone()));
                }
            }
            Order::Verdict { unit, worker, verdict } => {
                self.release(&worker, &unit);
                self.send(&worker, FromCoordinator::Verdict(unit, verdict));
            }
            Order::SetState(run, name, state) => {
                if let Some(worker) = self.workers.get_mut(&name) {
                    worker.states.insert(run.clone(), state);
                }
                self.send(&name, FromCoordinator::State(run, state));
            }
            Order::Try(job, reply) => self.trials.push_back(PendingTrial::new(job, reply)),
            Order::Over(run) => {
                self.is_over = true;
                for worker in self.workers.values_mut() {
                    worker.states.remove(&run);
                }
                let names: Vec<String> = self.workers.keys().cloned().collect();
                names.iter().for_each(|name| self.send(name, FromCoordinator::Over(run.clone())));
            }
        }
    }

    fn holders(&self, id: &UnitId) -> impl Iterator<Item = &str> {
        self.workers.iter().filter(|(_, worker)| worker.holding.contains(id)).map(|(name, _)| &**name)
    }

    fn release(&mut self, name: &str, id: &UnitId) {
        if let Some(worker) = self.workers.get_mut(name) {
            worker.holding.remove(id);
            worker.judging.remove(id);
            worker.moved.remove(id);
        }
    }

    fn handle_message(&mut self, message: FromConnection) {
        self.count_time();
        match message {
            FromConnection::Joined(hello, connection) => self.join(hello, connection),
            FromConnection::Left(name, number) => self.leave(&name, number),
            FromConnection::Tried(name, number, id, report, built) => {
                self.tried(&name, number, id, report, built);
            }
            FromConnection::Message(name, number, message, outcome) => {
                let is_current =
                    |of: &&mut ConnectedWorker| of.connection.as_ref().is_some_and(|(own, _)| *own == number);
                let Some(worker) = self.workers.get_mut(&name).filter(is_current) else { return };
                match (message, outcome) {
                    (FromWorker::Free(free), _) => {
                        worker.free = MOST_UNITS.min(worker.free + free.min(MOST_UNITS));
                    }
                    (FromWorker::Moved(id), _) => {
                        let (now, before) = (Instant::now(), worker.moved.get(&id));
                        let is_new = before.is_none_or(|&before| now - before >= LEAST_PROGRESS);
                        if worker.holding.contains(&id) && is_new {
                            worker.moved.insert(id.clone(), now);
                            self.emit(CarrierEvent::Moved(id, name));
                        }
                    }
                    (FromWorker::Returned(id, reason), _) => {
                        if worker.holding.contains(&id) {
                            self.release(&name, &id);
                            self.emit(CarrierEvent::Returned(id, name, reason));
                        }
                    }
                    (FromWorker::Bye, _) => {
                        // Units that the worker has not received any more are returned as well.
                        worker.free = 0;
                        let trial = worker.trial.take();
                        let holding = std::mem::take(&mut worker.holding);
                        self.trials.extend(trial);
                        for id in holding {
                            self.emit(CarrierEvent::Returned(id, name.clone(), Returned::Stopped));
                        }
                    }
                    (FromWorker::Played(id), Some(outcome)) => {
                        if !worker.holding.contains(&id) {
                            // The unit was withdrawn, or the worker never had it.
                            self.send(&name, FromCoordinator::Verdict(id, OutcomeVerdict::Duplicate));
                        } else if worker.judging.insert(id) {
                            self.emit(CarrierEvent::Played(outcome, name));
                        }
                    }
                    (
                        FromWorker::Played(_)
                        | FromWorker::Alive
                        | FromWorker::Fetch(..)
                        | FromWorker::Tried(..),
                        _,
                    ) => {}
                }
            }
        }
    }

    /// Admits a worker. It replaces its own earlier connection; beside another worker of the same name it gets a number.
    fn join(&mut self, hello: WorkerHello, connection: UnboundedSender<HubMessage>) {
        let WorkerHello { mut machine, instance, holding, .. } = hello;
        let holding: BTreeSet<UnitId> = holding.into_iter().collect();
        let is_taken = |name: &str| {
            let other = self.workers.get(name).filter(|other| other.connection.is_some());
            other.is_some_and(|other| other.instance != instance)
        };
        if self.workers.len() >= MOST_WORKERS && !self.workers.contains_key(&machine.name) {
            let why = format!("there are {MOST_WORKERS} workers already");
            // The connection may be closed.
            let _ = connection.send(HubMessage::Rejected(why));
            return;
        }
        let own = self.workers.iter().find(|(_, worker)| worker.instance == instance);
        if let Some((own, _)) = own {
            machine.name.clone_from(own);
        } else if is_taken(&machine.name) {
            let numbered = (2..).map(|number| format!("{}-{number}", machine.name));
            machine.name = numbered.take(MOST_WORKERS).find(|name| !is_taken(name)).unwrap_or_default();
        }
        let Machine { name, .. } = &machine;
        let name = name.clone();
        self.connection += 1;
        let _ = connection.send(HubMessage::Admitted(name.clone(), self.connection));
        let before = self.workers.remove(&name);
        let (lost, trial) = before.map(|before| (before.holding, before.trial)).unwrap_or_default();
        self.lose(&name, trial);
        let member = ConnectedWorker {
            connection: Some((self.connection, connection)),
            until: Instant::now(),
            instance,
            states: BTreeMap::new(),
            free: 0,
            holding: holding.clone(),
            judging: BTreeSet::new(),
            moved: BTreeMap::new(),
            builds: machine.builds,
            trial: None,
        };
        self.workers.insert(name.clone(), member);
        // A worker that has one of these has it still, so no other gets it.
        self.queue.retain(|unit| !holding.contains(&unit.id));
        self.emit(CarrierEvent::Joined(machine, holding.iter().cloned().collect()));
        for id in lost.difference(&holding) {
            self.emit(CarrierEvent::Returned(id.clone(), name.clone(), Returned::Lost));
        }
    }

    fn leave(&mut self, name: &str, number: u64) {
        let Some(worker) = self.workers.get_mut(name) else { return };
        if worker.connection.as_ref().is_some_and(|(own, _)| *own == number) {
            worker.connection = None;
            worker.until = Instant::now() + RECONNECT_WINDOW;
            let trial = worker.trial.take();
            self.lose(name, trial);
            self.emit(CarrierEvent::Left(name.to_owned()));
        }
    }

    /// Puts back the trial of a worker that was lost with it.
    fn lose(&mut self, name: &str, trial: Option<PendingTrial>) {
        if let Some(trial) = trial.and_then(|trial| trial.lose(name)) {
            self.trials.push_front(trial);
        }
    }

    /// Passes on a worker's report on its trial; that of another one was put back.
    fn tried(&mut self, name: &str, number: u64, id: u64, report: TrialReply, built: BuiltArchive) {
        let Some(worker) = self.workers.get_mut(name) else { return };
        let is_current = worker.connection.as_ref().is_some_and(|(own, _)| *own == number);
        let Some(trial) = worker.trial.take_if(|trial| is_current && trial.job.id == id) else { return };
        trial.reported(name, report, built);
    }

    /// Hands out each trial to a worker that is free.
    fn hand_out_trials(&mut self) {
        self.trials.retain(|trial| !trial.is_withdrawn());
        while let Some(trial) = self.trials.pop_front() {
            let is_active =
                |of: &ConnectedWorker| of.states.values().all(|&state| state == MachineState::Active);
            let can_take = |of: &ConnectedWorker| {
                of.builds && of.connection.is_some() && of.free > 0 && of.trial.is_none() && is_active(of)
            };
            let able = self.workers.iter_mut().filter(|(_, worker)| can_take(worker));
            let Some((name, worker)) = able.max_by_key(|(_, worker)| worker.free) else {
                self.trials.push_front(trial);
                return;
            };
            worker.free -= 1;
            let (name, job) = (name.clone(), trial.job.clone());
            trial.taken(&name);
            worker.trial = Some(trial);
            self.send(&name, FromCoordinator::Try(job));
        }
    }

    /// Gives up workers that have not returned in time.
    fn forget_lost(&mut self) {
        self.count_time();
        let now = Instant::now();
        for worker in self.workers.values_mut().filter(|worker| now - worker.until > LATE) {
            // The hub did not run when the time was over, and no worker could return.
            worker.until = now + RECONNECT_WINDOW;
        }
        let is_lost = |worker: &ConnectedWorker| worker.connection.is_none() && worker.until <= now;
        let lost = self.workers.iter().filter(|(_, worker)| is_lost(worker)).map(|(name, _)| name.clone());
        for name in lost.collect::<Vec<String>>() {
            let holding = self.workers.remove(&name).map(|worker| worker.holding).unwrap_or_default();
            for id in holding {
                self.emit(CarrierEvent::Returned(id, name.clone(), Returned::Lost));
            }
        }
    }

    /// Hands units out, those of the run that has had the least time first, to the workers with the most free slots first.
    fn hand_out(&mut self) {
        let mut queued = std::mem::take(&mut self.queue);
        queued.make_contiguous().sort_by_key(|unit| self.times.get(&unit.id.run).map(|time| time.played));
        for unit in queued {
            let can_take = |name: &str, of: &ConnectedWorker| {
                of.can_take(&unit.id.run) && !unit.avoid.iter().any(|avoided| avoided == name)
            };
            let able = self.workers.iter_mut().filter(|(name, worker)| can_take(name, worker));
            let Some((name, worker)) = able.max_by_key(|(_, worker)| worker.free) else {
                self.queue.push_back(unit);
                continue;
            };
            let id = unit.id.clone();
            worker.free -= 1;
            worker.holding.insert(id.clone());
            let name = name.clone();
            self.send(&name, FromCoordinator::Play(unit));
            self.emit(CarrierEvent::Taken(id, name));
        }
    }
}

/// Sleeps until this time; for ever without one.
pub(super) async fn sleep_until(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;
    use crate::builtin::frame::VERSION;
    use crate::tests::first_unit;

    /// Shares a worker with this number of slots for 100 s among runs whose units take these milliseconds, two of them always
    /// open for each slot. Returns the shares of its time.
    async fn shares(unit: &WorkUnit, slots: usize, takes: &[u64], begin: &[u64]) -> Vec<f64> {
        let (events, mut happened) = unbounded_channel();
        let mut hub = WorkerHub::new(events);
        let (connection, _messages) = unbounded_channel();
        let machine = Machine { name: "box".to_owned(), ..Machine::default() };
        let (name, token) = ("worker".to_owned(), "token".to_owned());
        let hello = WorkerHello { version: VERSION, name, token, machine, instance: 1, holding: Vec::new() };
        hub.handle_message(FromConnection::Joined(hello, connection));
        hub.handle_message(FromConnection::Message("box".to_owned(), 1, FromWorker::Free(slots), None));
        let (mut playing, mut sets, mut played) = (Vec::new(), 0, vec![0; takes.len()]);
        for ms in 0..100_000 {
            let mut publish = |hub: &mut WorkerHub, run: usize| {
                sets += 1;
                let id = UnitId { run: run.to_string(), set: sets, attempt: 1 };
                hub.handle_order(Order::Publish(Box::new(WorkUnit { id, ..unit.clone() })));
            };
            for run in (0..takes.len()).filter(|&run| begin[run] == ms) {
                hub.handle_order(Order::SetState(run.to_string(), "box".to_owned(), MachineState::Active));
                (0..2 * slots).for_each(|_| publish(&mut hub, run));
            }
            let ended = playing.extract_if(.., |(_, until)| *until == ms);
            for (id, _) in ended.collect::<Vec<(UnitId, u64)>>() {
                let run: usize = id.run.parse().unwrap();
                let verdict = OutcomeVerdict::Counted;
                hub.handle_order(Order::Verdict { unit: id, worker: "box".to_owned(), verdict });
                publish(&mut hub, run);
                hub.handle_message(FromConnection::Message("box".to_owned(), 1, FromWorker::Free(1), None));
            }
            hub.hand_out();
            while let Ok(event) = happened.try_recv() {
                if let CarrierEvent::Taken(id, _) = event {
                    let takes = takes[id.run.parse::<usize>().unwrap()];
                    playing.push((id, ms + takes));
                }
            }
            playing.iter().for_each(|(id, _)| played[id.run.parse::<usize>().unwrap()] += 1);
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        let all: u64 = played.iter().sum();
        played.iter().map(|&of: &u64| of as f64 / all as f64).collect()
    }

    #[test]
    fn runs_share_time_of_workers_however_long_their_units_take() {
        let unit = first_unit(&referee_games::catalog());
        for (slots, takes, begin, expected) in [
            (1, &[20, 900][..], &[0, 0][..], &[0.5, 0.5][..]),
            (3, &[20, 900, 300], &[0, 0, 0], &[1.0 / 3.0; 3]),
            (1, &[900], &[0], &[1.0]),
            // A run that comes later gets its share from then on, and does not catch up.
            (1, &[20, 900], &[0, 50_000], &[0.75, 0.25]),
        ] {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
            let shares = runtime.unwrap().block_on(shares(&unit, slots, takes, begin));
            let is_close = |(share, expected): (&f64, &f64)| (share - expected).abs() < 0.03;
            assert!(shares.iter().zip(expected).all(is_close), "{slots} slots, {takes:?}: {shares:?}");
        }
    }
}
