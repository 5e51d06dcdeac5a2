//! Hands trials out to the workers of a broker, for all coordinators of a league.
//!
//! A desk has a connection of its own, and an id, by which workers answer as to the coordinator of a run. It asks one worker
//! for a trial, and repeats that while it wants the trial; the worker begins once a slot is free, and repeats its report until
//! the desk says that the trial is over. So any message may be lost.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use async_nats::{Message, Subscriber};
use futures_util::StreamExt;
use futures_util::stream::select_all;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::CarrierTimes;
use super::broker::{Broker, Link, NatsConnection, create, failed, sender};
use super::envelope::{Signer, SigningKey, VERSION, split, version};
use super::message::{
    REPORT_BYTES, ToCoordinator, ToWorker, WorkerMessage, decode_report, program_object, report_object,
};
use super::reception::Reception;
use crate::carrier::Order;
use crate::machine::MachineState;
use crate::trial::{BuiltArchive, PendingTrial, TrialJob, TrialQueue, TrialReply, TrialVerdict};
use referee_game::Chain;
use referee_game::Wrong;

/// The maximum number of workers that build.
const MOST_WORKERS: usize = 10_000;
/// The time that the end may take to reach the broker.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Hands trials out to the workers that build.
#[derive(Debug)]
pub struct NatsTrials {
    pub broker: Broker,
    /// The directory with the archives that workers get: `SHA256.tar`.
    pub archives: PathBuf,
    /// The key that workers trust.
    pub key: SigningKey,
    pub times: CarrierTimes,
}

/// Receives the states of workers from coordinators. Trials are handed out as long as a coordinator has it.
#[derive(Clone, Debug)]
pub struct TrialStates {
    orders: UnboundedSender<Order>,
    /// The thread of the desk, which the last coordinator waits for.
    thread: Arc<JoinHandle<()>>,
}

impl TrialStates {
    pub(super) fn pass(&self, order: Order) {
        // The desk has failed if the channel is closed, and says so when a trial is handed out.
        let _ = self.orders.send(order);
    }

    /// Waits for the end of the desk if this is the last coordinator.
    pub(super) fn end(self) {
        drop(self.orders);
        if let Some(Err(_)) = Arc::into_inner(self.thread).map(JoinHandle::join) {
            tracing::warn!("the thread that hands programs out has panicked");
        }
    }
}

impl NatsTrials {
    /// Starts it on a thread of its own.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(self) -> io::Result<(TrialQueue, TrialStates)> {
        let (orders, of_coordinators) = unbounded_channel();
        let serve = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let served = runtime.map_err(Wrong::from);
            if let Err(error) = served.and_then(|runtime| runtime.block_on(self.serve(of_coordinators))) {
                tracing::warn!("no worker builds programs: {}", Chain(&error));
            }
        };
        let thread = Arc::new(thread::Builder::new().name("trials".to_owned()).spawn(serve)?);
        Ok((TrialQueue::new(&orders), TrialStates { orders, thread }))
    }

    /// Serves until `orders` is closed.
    pub(super) async fn serve(self, mut orders: UnboundedReceiver<Order>) -> Result<(), Wrong> {
        let (connection, mut links) = self.broker.connect("referee trials", "_INBOX").await?;
        create(async || connection.create_objects().await).await?;
        let id = format!("{:016x}{:016x}", TrialJob::new_id()?, TrialJob::new_id()?);
        let mut subscribers: Vec<Subscriber> = Vec::new();
        for subject in [connection.run(&id, "*"), connection.hello("*"), connection.echo(&id)] {
            subscribers.push(connection.client.subscribe(subject).await.map_err(failed)?);
        }
        let mut messages = select_all(subscribers);
        let times = self.times;
        let mut desk = NatsTrialQueue::new(self, id, connection);
        desk.request_hello().await;
        let mut tick = interval(times.reconcile / 10);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(order) => desk.handle_order(order).await,
                    None => break,
                },
                Some(message) = messages.next() => desk.handle_message(message).await,
                Some(read) = desk.reads.join_next(), if !desk.reads.is_empty() => {
                    if let Ok((session, trial, bytes)) = read {
                        desk.read(&session, trial, bytes).await;
                    }
                },
                Some(link) = links.recv() => desk.handle_link(link).await,
                _ = tick.tick() => desk.tick().await,
            }
        }
        desk.end().await
    }
}

/// A worker that builds, by its session: two may have the same name.
struct TryingWorker {
    name: String,
    /// The number of its slots without a set, as far as it is known.
    free: usize,
    seen: Instant,
    /// The number of times in a row that it has not begun with a trial.
    missed: u32,
    trial: Option<AskedTrial>,
}

impl TryingWorker {
    /// Notes that the worker has begun with its trial.
    fn begin(&mut self) {
        self.missed = 0;
        if let Some(asked) = self.trial.as_mut().filter(|asked| !asked.is_begun) {
            asked.is_begun = true;
            asked.trial.taken(&self.name);
        }
    }
}

/// A trial that a worker was asked for.
struct AskedTrial {
    trial: PendingTrial,
    since: Instant,
    /// The last time at which the worker was asked.
    asked: Instant,
    is_begun: bool,
    /// Whether the report is being read from the object store.
    is_reading: bool,
}

struct NatsTrialQueue {
    /// The id, which its messages have in place of that of a run.
    id: String,
    connection: NatsConnection,
    archives: PathBuf,
    times: CarrierTimes,
    signer: Signer,
    /// By session.
    workers: BTreeMap<String, TryingWorker>,
    /// By name and run.
    states: HashMap<String, BTreeMap<String, MachineState>>,
    queue: VecDeque<PendingTrial>,
    /// Reports that are read from the object store.
    reads: JoinSet<(String, u64, Result<Vec<u8>, Wrong>)>,
    deletions: JoinSet<()>,
    reception: Reception,
}

impl NatsTrialQueue {
    fn new(of: NatsTrials, id: String, connection: NatsConnection) -> NatsTrialQueue {
        NatsTrialQueue {
            connection,
            archives: of.archives,
            times: of.times,
            signer: Signer::new(of.key, id.clone()),
            id,
            workers: BTreeMap::new(),
            states: HashMap::new(),
            queue: VecDeque::new(),
            reads: JoinSet::new(),
            deletions: JoinSet::new(),
            reception: Reception::new(of.times.reconcile),
        }
    }

    async fn send_to(&self, worker: &str, message: &ToWorker) {
        self.connection.send_to_workers(&self.signer, self.connection.worker(worker), message).await;
    }

    async fn request_hello(&self) {
        let subject = self.connection.workers();
        self.connection.send_to_workers(&self.signer, subject, &ToWorker::RequestHello).await;
    }

    async fn handle_link(&mut self, link: Link) {
        self.reception.lose();
        if link == Link::Up {
            self.request_hello().await;
        }
    }

    async fn handle_order(&mut self, order: Order) {
        match order {
            Order::Try(job, reply) => {
                self.queue.push_back(PendingTrial::new(job, reply));
                self.hand_out().await;
            }
            Order::SetState(run, worker, state) => {
                self.states.entry(worker).or_default().insert(run, state);
            }
            Order::Over(run) => self.states.retain(|_, runs| {
                runs.remove(&run);
                !runs.is_empty()
            }),
            _ => {}
        }
    }

    /// Returns whether a worker gets sets of all runs.
    fn is_active(&self, worker: &str) -> bool {
        let states = self.states.get(worker);
        states.is_some_and(|runs| runs.values().all(|&state| state == MachineState::Active))
    }

    /// Asks workers for the trials that wait: one each, preferably those that begin when they are asked and have free slots.
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn hand_out(&mut self) {
        self.forget_withdrawn().await;
        while let Some(trial) = self.queue.pop_front() {
            let able = self.workers.iter();
            let able = able.filter(|(_, worker)| worker.trial.is_none() && self.is_active(&worker.name));
            let chosen = able.min_by_key(|(_, worker)| (worker.missed, Reverse(worker.free)));
            let Some(session) = chosen.map(|(session, _)| session.clone()) else {
                return self.queue.push_front(trial);
            };
            if let Err(error) = self.upload(&trial.job).await {
                tracing::warn!("the archives of a program cannot be uploaded: {}", Chain(&error));
                return self.queue.push_front(trial);
            }
            let Some(worker) = self.workers.get_mut(&session) else { return self.queue.push_front(trial) };
            let now = Instant::now();
            let asked = AskedTrial { trial, since: now, asked: now, is_begun: false, is_reading: false };
            let asked = worker.trial.insert(asked);
            let (name, job) = (worker.name.clone(), asked.trial.job.clone());
            self.send_to(&name, &ToWorker::Try { session, job }).await;
        }
    }

    /// Stores the archives that a trial needs.
    async fn upload(&self, job: &TrialJob) -> Result<(), Wrong> {
        let file = |id| self.archives.join(format!("{id}.tar"));
        for id in job.ladders.iter().filter_map(|ladder| ladder.game_files) {
            self.connection.upload(&id.to_string(), &file(id)).await?;
        }
        // Under another name than the archive of a bot with the same files, which stays.
        self.connection.upload(&program_object(job.id), &file(job.archive)).await
    }

    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn handle_message(&mut self, message: Message) {
        let now = Instant::now();
        if *message.subject == *self.connection.echo(&self.id) {
            // Sent by itself, in `tick`.
            return self.reception.echo(now);
        }
        let (head, body) = split(&message.payload);
        if !matches!(version(head), Ok(VERSION)) {
            // The coordinators report the other version.
            return;
        }
        let (Ok(WorkerMessage { content, .. }), Some(name)) =
            (serde_json::from_slice(head), sender(&message.subject))
        else {
            return tracing::debug!("a message on {} is malformed", message.subject);
        };
        match content {
            ToCoordinator::Hello { machine, session, holding } => {
                let is_full = self.workers.len() >= MOST_WORKERS && !self.workers.contains_key(&session);
                if machine.name != name || machine.check().is_err() || !machine.builds || is_full {
                    return;
                }
                let known = self.workers.entry(session).or_insert_with(|| TryingWorker {
                    name: name.clone(),
                    free: 0,
                    seen: now,
                    missed: 0,
                    trial: None,
                });
                if known.name == name {
                    (known.seen, known.free) = (now, (machine.slots as usize).saturating_sub(holding.len()));
                }
            }
            ToCoordinator::Leaving => {
                let left = self.take_workers(|worker| worker.name == name);
                self.queue.extend(left.into_values().filter_map(|worker| Some(worker.trial?.trial)));
            }
            ToCoordinator::Trying { session, trial } => match self.holder(&name, &session, trial) {
                Some(worker) => worker.begin(),
                None => self.end_trial(&name, session, trial).await,
            },
            ToCoordinator::Tried { session, trial, is_stored } => {
                let holder = self.holder(&name, &session, trial);
                let Some(asked) = holder.and_then(|worker| worker.trial.as_mut()) else {
                    // The trial was given to another worker, or is not wanted any more.
                    return self.end_trial(&name, session, trial).await;
                };
                if !is_stored {
                    return self.read(&session, trial, Ok(body.to_vec())).await;
                }
                if !std::mem::replace(&mut asked.is_reading, true) {
                    let (connection, object) = (self.connection.clone(), report_object(trial, &session));
                    self.reads.spawn(async move {
                        let read = connection.get(&object, REPORT_BYTES).await;
                        (session, trial, read)
                    });
                }
            }
            ToCoordinator::Taken { .. }
            | ToCoordinator::Moved { .. }
            | ToCoordinator::Returned { .. }
            | ToCoordinator::Played { .. } => {}
        }
    }

    /// The worker with this name and session, if it was asked for this trial.
    fn holder(&mut self, name: &str, session: &str, trial: u64) -> Option<&mut TryingWorker> {
        let worker = self.workers.get_mut(session).filter(|worker| worker.name == name)?;
        let is_asked = worker.trial.as_ref().is_some_and(|asked| asked.trial.job.id == trial);
        is_asked.then_some(worker)
    }

    /// Tells a worker that a trial is over for it.
    async fn end_trial(&self, name: &str, session: String, trial: u64) {
        self.send_to(name, &ToWorker::TrialOver { session, trial }).await;
    }

    /// Takes the report of a worker.
    async fn read(&mut self, session: &str, trial: u64, bytes: Result<Vec<u8>, Wrong>) {
        let Some(worker) = self.workers.get_mut(session) else { return };
        // The trial may have been given to another worker meanwhile.
        let Some(asked) = worker.trial.as_mut().filter(|asked| asked.trial.job.id == trial) else { return };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                tracing::debug!(error = %Chain(&error), "a report cannot be read now; the worker sends it again");
                asked.is_reading = false;
                return;
            }
        };
        worker.begin();
        let (name, Some(asked)) = (worker.name.clone(), worker.trial.take()) else { return };
        let (reply, bytes) = decode_report(bytes).unwrap_or_else(|why| {
            let verdict = TrialVerdict::Unable(Chain(&why).to_string());
            (TrialReply { log: String::new(), verdict }, Vec::new())
        });
        asked.trial.reported(&name, reply, BuiltArchive { bytes, place: None });
        self.end_trial(&name, session.to_owned(), trial).await;
        self.delete_program(trial);
        self.hand_out().await;
    }

    /// Deletes the archive of a program, which no worker needs any more.
    fn delete_program(&mut self, trial: u64) {
        let connection = self.connection.clone();
        self.deletions.spawn(async move {
            if let Err(error) = connection.delete_archive(&program_object(trial)).await {
                tracing::debug!(error = %Chain(&error), "the archive of a program cannot be deleted");
            }
        });
    }

    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn tick(&mut self) {
        let now = Instant::now();
        // An error means that it is not received either.
        let _ = self.connection.client.publish(self.connection.echo(&self.id), "".into()).await;
        if let Some(since) = self.reception.current(now) {
            self.remove_lost(now, since);
        }
        self.ask_again(now).await;
        self.hand_out().await;
        while self.deletions.try_join_next().is_some() {}
    }

    fn take_workers(&mut self, is_it: impl Fn(&TryingWorker) -> bool) -> BTreeMap<String, TryingWorker> {
        let workers = std::mem::take(&mut self.workers).into_iter();
        let (taken, others) = workers.partition(|(_, worker)| is_it(worker));
        self.workers = others;
        taken
    }

    /// Removes workers that have sent nothing for too long, counted from `since`. Their work in progress was
    /// lost with them.
    fn remove_lost(&mut self, now: Instant, since: Instant) {
        let most = self.times.lost;
        let lost = self.take_workers(|worker| now - worker.seen.max(since) > most);
        for (session, TryingWorker { name, trial, .. }) in lost {
            let Some(AskedTrial { trial, is_begun, .. }) = trial else { continue };
            let id = trial.job.id;
            let (connection, object) = (self.connection.clone(), report_object(id, &session));
            self.deletions.spawn(async move {
                // The report may be missing.
                let _ = connection.delete(&object).await;
            });
            match if is_begun { trial.lose(&name) } else { Some(trial) } {
                Some(trial) => self.queue.push_front(trial),
                None => self.delete_program(id),
            }
        }
    }

    async fn forget_withdrawn(&mut self) {
        let (withdrawn, queue): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.queue).into_iter().partition(PendingTrial::is_withdrawn);
        self.queue = queue;
        withdrawn.iter().for_each(|trial| self.delete_program(trial.job.id));
        for asked in self.take_asked(|asked| asked.trial.is_withdrawn()).await {
            self.delete_program(asked.job.id);
        }
    }

    /// Asks workers again for what they have not reported, and others for what they have not begun with in time.
    async fn ask_again(&mut self, now: Instant) {
        let patience = 2 * self.times.lost;
        let missed = self.take_asked(|asked| !asked.is_begun && now - asked.since > patience).await;
        self.queue.extend(missed);
        let mut due = Vec::new();
        for (session, worker) in &mut self.workers {
            if let Some(asked) = worker.trial.as_mut().filter(|asked| now - asked.asked >= self.times.resend)
            {
                asked.asked = now;
                let (session, job) = (session.clone(), asked.trial.job.clone());
                due.push((worker.name.clone(), ToWorker::Try { session, job }));
            }
        }
        for (name, message) in due {
            self.send_to(&name, &message).await;
        }
    }

    /// Takes trials from workers, which get to know that they are over.
    async fn take_asked(&mut self, is_it: impl Fn(&AskedTrial) -> bool) -> Vec<PendingTrial> {
        let (mut taken, mut over) = (Vec::new(), Vec::new());
        for (session, worker) in &mut self.workers {
            if let Some(asked) = worker.trial.take_if(|asked| is_it(asked)) {
                worker.missed += u32::from(!asked.is_begun);
                over.push((worker.name.clone(), session.clone(), asked.trial.job.id));
                taken.push(asked.trial);
            }
        }
        for (name, session, trial) in over {
            self.end_trial(&name, session, trial).await;
        }
        taken
    }

    /// Tells the workers that there are no more trials.
    async fn end(mut self) -> Result<(), Wrong> {
        let queued: Vec<u64> = self.queue.drain(..).map(|trial| trial.job.id).collect();
        let asked = self.take_asked(|_| true).await;
        let ids = queued.into_iter().chain(asked.iter().map(|trial| trial.job.id));
        ids.collect::<Vec<u64>>().into_iter().for_each(|id| self.delete_program(id));
        let deleted = async { while self.deletions.join_next().await.is_some() {} };
        // The broker may be gone.
        let _ = timeout(SHUTDOWN_TIMEOUT, deleted).await;
        self.connection.finish().await
    }
}
