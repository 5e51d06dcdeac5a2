//! The coordinator's end.

mod reconcile;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;

use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::{Message, Subscriber};
use futures_util::StreamExt;
use futures_util::stream::select_all;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::CarrierTimes;
use super::LAST_DELIVERY;
use super::broker::{Broker, Link, NatsConnection, create, failed, sender};
use super::envelope::{Signer, SigningKey, TrustedKeys, VERSION, split, version};
use super::message::{Delivery, ToCoordinator, ToWorker, WorkerMessage};
use super::reception::Reception;
use super::trials::TrialStates;
use crate::archive::ArchiveId;
use crate::carrier::{CarrierEvent, CoordinatorEnd, Order, OutcomeVerdict, Returned};
use crate::machine::{Machine, MachineState, is_name};
use crate::unit::{EncodedOutcome, OUTCOME_BYTES, UnitId, WorkUnit};
use referee_game::Chain;
use referee_game::Wrong;

/// The number of units that the broker hands out for each slot of a worker before one is acknowledged.
const OUT_PER_SLOT: usize = 4;
/// The number of units that the broker hands out before a worker is known.
const FIRST_OUT: usize = 64;

/// The maximum number of workers, and of those with another version of the messages.
const MOST_WORKERS: usize = 10_000;
/// The maximum number of outcomes that are read from the object store.
const MOST_READS: usize = 4;

/// The coordinator's end of the carrier.
#[derive(Debug)]
pub struct NatsCoordinator {
    pub broker: Broker,
    pub run: String,
    /// The directory with the archives of the bots: `SHA256.tar`.
    pub archives: PathBuf,
    /// The key that workers trust.
    pub key: SigningKey,
    pub times: CarrierTimes,
    /// The receiver of workers' states, if they also build programs.
    pub trials: Option<TrialStates>,
}

impl CoordinatorEnd for NatsCoordinator {
    async fn serve(
        self,
        mut orders: UnboundedReceiver<Order>,
        events: UnboundedSender<CarrierEvent>,
    ) -> Result<(), Wrong> {
        let (connection, mut links) = self.broker.connect("referee coordinator", "_INBOX").await?;
        create(async || connection.stream().await).await.map_err(|why| {
            let url = &self.broker.url;
            Wrong::at(format!("{url}: JetStream cannot be used (nats-server -js, 2.9.10 or later)"), why)
        })?;
        create(async || connection.create_objects().await).await?;
        let subjects = [
            connection.run(&self.run, "*"),
            connection.hello("*"),
            connection.first_hello(),
            connection.echo(&self.run),
        ];
        let mut subscribers: Vec<Subscriber> = Vec::new();
        for subject in subjects {
            subscribers.push(connection.client.subscribe(subject).await.map_err(failed)?);
        }
        let mut messages = select_all(subscribers);
        let times = self.times;
        let mut serving = CoordinatorService::new(self, connection, events);
        create(async || serving.set_consumer().await).await?;
        serving.send_to_all(ToWorker::RequestHello).await;
        let mut tick = interval(times.reconcile / 10);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(order) => serving.handle_order(order).await,
                    None => break,
                },
                Some(message) = messages.next() => serving.handle_message(message).await,
                Some(read) = serving.reads.join_next(), if !serving.reads.is_empty() => {
                    if let Ok((unit, worker, result)) = read {
                        serving.read(unit, worker, result);
                    }
                },
                Some(link) = links.recv() => serving.handle_link(link).await,
                _ = tick.tick() => serving.tick().await,
            }
        }
        let CoordinatorService { connection, trials, .. } = serving;
        connection.finish().await?;
        if let Some(trials) = trials {
            trials.end();
        }
        Ok(())
    }
}

struct Open {
    unit: Box<WorkUnit>,
    payload: Vec<u8>,
    /// Whether the broker has the unit, as far as is known.
    is_published: bool,
    /// The number of its message in the stream, if it is known.
    sequence: Option<u64>,
    /// The time since which the broker has delivered it and no worker has it.
    orphaned: Option<Instant>,
    /// The last progress of its matches.
    seen: Instant,
    holder: Option<UnitHolder>,
    taken: Delivery,
    returned: Delivery,
}

impl Open {
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    fn new(unit: Box<WorkUnit>, payload: Vec<u8>, is_published: bool) -> Open {
        let (taken, returned) = (Delivery::default(), Delivery::default());
        let seen = Instant::now();
        let (sequence, orphaned, holder) = (None, None, None);
        Open { unit, payload, is_published, sequence, orphaned, seen, holder, taken, returned }
    }
}

/// A worker that has a unit.
struct UnitHolder {
    worker: String,
    session: String,
}

/// A worker that reports its units.
struct KnownWorker {
    session: String,
    slots: usize,
    seen: Instant,
}

struct CoordinatorService {
    connection: NatsConnection,
    events: UnboundedSender<CarrierEvent>,
    archives: PathBuf,
    times: CarrierTimes,
    run: String,
    open: BTreeMap<u32, Open>,
    workers: HashMap<String, KnownWorker>,
    /// The last report of its units, by session of a worker. Two workers may have the same name.
    sessions: HashMap<String, Instant>,
    /// The states of workers. Sent again whenever a worker reports its units.
    states: HashMap<String, MachineState>,
    /// The workers that speak another version of the messages.
    incompatible: HashSet<String>,
    signer: Signer,
    /// The public key of `signer`.
    trusted: TrustedKeys,
    /// The outcomes that the coordinator is judging, by unit and worker.
    judging: HashSet<(UnitId, String)>,
    /// Outcomes that are read from the object store.
    reads: JoinSet<(UnitId, String, Result<Vec<u8>, Wrong>)>,
    uploaded: HashSet<ArchiveId>,
    /// The number of units that the broker hands out before one is acknowledged.
    most_out: usize,
    reconciled: Instant,
    /// The first message in the state of the stream, if the broker did not find it.
    missing: Option<u64>,
    reception: Reception,
    trials: Option<TrialStates>,
}

impl CoordinatorService {
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    fn new(
        end: NatsCoordinator,
        connection: NatsConnection,
        events: UnboundedSender<CarrierEvent>,
    ) -> CoordinatorService {
        CoordinatorService {
            connection,
            events,
            archives: end.archives,
            times: end.times,
            run: end.run.clone(),
            open: BTreeMap::new(),
            workers: HashMap::new(),
            sessions: HashMap::new(),
            states: HashMap::new(),
            incompatible: HashSet::new(),
            trusted: end.key.trusted(),
            signer: Signer::new(end.key, end.run),
            judging: HashSet::new(),
            reads: JoinSet::new(),
            uploaded: HashSet::new(),
            most_out: FIRST_OUT,
            reconciled: Instant::now(),
            missing: None,
            reception: Reception::new(end.times.reconcile),
            trials: end.trials,
        }
    }

    async fn set_consumer(&self) -> Result<(), Wrong> {
        self.connection.set_consumer(self.times.ack_wait, self.most_out).await
    }

    /// Adapts the consumer to the number of slots.
    async fn adapt(&mut self) {
        let slots: usize = self.workers.values().map(|worker| worker.slots).sum();
        let wanted = FIRST_OUT.max(slots * OUT_PER_SLOT);
        if wanted != self.most_out {
            let before = std::mem::replace(&mut self.most_out, wanted);
            if let Err(error) = self.set_consumer().await {
                tracing::debug!(error = %Chain(&error), "the consumer cannot be changed yet");
                self.most_out = before;
            }
        }
    }

    async fn handle_link(&mut self, link: Link) {
        self.reception.lose();
        if link == Link::Up {
            self.send_to_all(ToWorker::RequestHello).await;
            self.reconcile().await;
        }
    }

    async fn handle_order(&mut self, order: Order) {
        match order {
            Order::Publish(unit) => {
                let Ok(payload) = serde_json::to_vec(&unit) else { return };
                let set = unit.id.set;
                // The worker that had it may not have acknowledged it yet.
                let is_out = |open: &mut Open| open.taken != Delivery::default();
                if self.open_unit(&unit.id).is_some_and(is_out) {
                    self.take_out(&unit.id).await;
                }
                self.open.insert(set, Open::new(unit, payload, false));
                self.publish(set).await;
            }
            Order::Adopt(unit) => {
                let Ok(payload) = serde_json::to_vec(&unit) else { return };
                if self.open_unit(&unit.id).is_none() {
                    self.open.insert(unit.id.set, Open::new(unit, payload, true));
                }
            }
            Order::Withdraw(unit) => {
                self.close(&unit);
                self.take_out(&unit).await;
                self.send_to_all(ToWorker::Withdrawn { unit }).await;
            }
            Order::Verdict { unit, worker, verdict } => {
                if verdict == OutcomeVerdict::Counted {
                    self.close(&unit);
                }
                self.judging.remove(&(unit.clone(), worker.clone()));
                self.send_to(&worker, &ToWorker::Verdict { unit, verdict }).await;
            }
            Order::SetState(run, worker, state) => {
                if let Some(trials) = &self.trials {
                    trials.pass(Order::SetState(run, worker.clone(), state));
                }
                self.send_to(&worker, &ToWorker::State { state }).await;
                self.states.insert(worker, state);
            }
            Order::Try(..) => {}
            Order::Over(run) => {
                if let Some(trials) = &self.trials {
                    trials.pass(Order::Over(run));
                }
                // No worker gets a state after this.
                self.states.clear();
                self.send_to_all(ToWorker::Over).await;
            }
        }
    }

    fn close(&mut self, unit: &UnitId) {
        if self.open.get(&unit.set).is_some_and(|open| open.unit.id == *unit) {
            self.open.remove(&unit.set);
        }
    }

    /// Takes a unit out of the stream if the broker can be reached.
    async fn take_out(&self, unit: &UnitId) {
        if let Err(error) = self.remove(unit, None).await {
            tracing::debug!(error = %Chain(&error), "{unit}: it cannot be taken out of the stream now");
        }
    }

    /// Takes a unit out of the stream, or another attempt at its set unless it is `kept`. Returns the number of the message
    /// that is kept.
    async fn remove(&self, unit: &UnitId, kept: Option<&UnitId>) -> Result<Option<u64>, Wrong> {
        let stream = self.connection.stream().await?;
        let Ok(found) = stream.get_last_raw_message_by_subject(&self.connection.work(unit)).await else {
            return Ok(None);
        };
        if kept.is_some() && self.id_of(&self.connection.work(unit), &found.payload).as_ref() == kept {
            return Ok(Some(found.sequence));
        }
        stream.delete_message(found.sequence).await.map(|_| None).map_err(failed)
    }

    /// The id of a unit in the stream, if this coordinator has signed it.
    fn id_of(&self, subject: &str, payload: &[u8]) -> Option<UnitId> {
        let message = self.trusted.open(subject, payload).ok()?;
        serde_json::from_slice::<WorkUnit>(message.body).ok().map(|unit| unit.id)
    }

    /// Publishes a set; later again if the broker cannot be reached. Another attempt that is in the stream is replaced.
    async fn publish(&mut self, set: u32) {
        let Some(open) = self.open.get(&set) else { return };
        let (unit, payload) = (open.unit.id.clone(), open.payload.clone());
        for id in open.unit.archives().collect::<Vec<_>>() {
            if self.uploaded.contains(&id) {
                continue;
            }
            let file = self.archives.join(format!("{id}.tar"));
            if let Err(error) = self.connection.upload(&id.to_string(), &file).await {
                tracing::warn!("the archive {id} cannot be uploaded: {}", Chain(&error));
                return;
            }
            self.uploaded.insert(id);
        }
        let mut result = self.send(&unit, payload.clone()).await;
        match result.as_ref().map_err(PublishError::kind) {
            // The set is in the stream already.
            Err(PublishErrorKind::Other) => match self.remove(&unit, Some(&unit)).await {
                Ok(Some(sequence)) => result = Ok(sequence),
                Ok(None) => result = self.send(&unit, payload).await,
                Err(error) => {
                    tracing::debug!(error = %Chain(&error), "{unit}: it cannot be taken out of the stream now");
                }
            },
            // Published once the stream is there again, with the archives.
            Err(PublishErrorKind::StreamNotFound) => drop(self.sets_in_stream().await),
            _ => {}
        }
        match result {
            Ok(sequence) => {
                if let Some(open) = self.open.get_mut(&set) {
                    (open.is_published, open.sequence, open.orphaned) = (true, Some(sequence), None);
                }
            }
            Err(error) => tracing::debug!(error = %Chain(&error), "{unit}: it cannot be published now"),
        }
    }

    /// Sends a unit to the stream. Returns the number of the message.
    async fn send(&self, unit: &UnitId, payload: Vec<u8>) -> Result<u64, PublishError> {
        let subject = self.connection.work(unit);
        let message = self.signer.seal(&subject, &payload);
        let sent = self.connection.jetstream.publish(subject, message.into()).await?;
        sent.await.map(|ack| ack.sequence)
    }

    async fn send_to(&self, worker: &str, message: &ToWorker) {
        self.connection.send_to_workers(&self.signer, self.connection.worker(worker), message).await;
    }

    async fn send_to_all(&self, message: ToWorker) {
        self.connection.send_to_workers(&self.signer, self.connection.workers(), &message).await;
    }

    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn handle_message(&mut self, message: Message) {
        let now = Instant::now();
        if *message.subject == *self.connection.echo(&self.run) {
            // Sent by the coordinator itself, in `tick`.
            return self.reception.echo(now);
        }
        let (head, body) = split(&message.payload);
        match version(head) {
            Ok(VERSION) => {}
            Ok(version) => return self.note_incompatible(&message.subject, head, version),
            Err(error) => {
                return tracing::debug!("a message on {} is not taken: {}", message.subject, Chain(&error));
            }
        }
        let (content, worker) = match (serde_json::from_slice(head), sender(&message.subject)) {
            (Ok(WorkerMessage { content, .. }), Some(worker)) => (content, worker),
            (Err(error), _) => {
                return tracing::debug!("a message on {} is malformed: {error}", message.subject);
            }
            (Ok(_), None) => return tracing::debug!("{} does not end with a name", message.subject),
        };
        match content {
            ToCoordinator::Hello { machine, session, holding } => {
                let holding: Vec<UnitId> = holding.into_iter().filter(|unit| unit.run == self.run).collect();
                let name = worker;
                let is_full = self.workers.len() >= MOST_WORKERS && !self.workers.contains_key(&name)
                    || self.sessions.len() >= 2 * MOST_WORKERS && !self.sessions.contains_key(&session);
                if machine.name != name || machine.check().is_err() || is_full {
                    return tracing::debug!("the worker on {} is not admitted", message.subject);
                }
                self.incompatible.remove(&name);
                if let Some(&state) = self.states.get(&name) {
                    self.send_to(&name, &ToWorker::State { state }).await;
                }
                let known =
                    KnownWorker { session: session.clone(), slots: machine.slots as usize, seen: now };
                let before = self.workers.insert(name.clone(), known);
                self.sessions.insert(session.clone(), now);
                let is_new = before.is_none_or(|before| before.session != session);
                for unit in &holding {
                    // The unit was taken before this coordinator started.
                    if let Some(open) = self.open_unit(unit).filter(|open| open.holder.is_none()) {
                        open.holder = Some(UnitHolder { worker: name.clone(), session: session.clone() });
                    }
                }
                if is_new {
                    self.adapt().await;
                    let _ = self.events.send(CarrierEvent::Joined(machine, holding));
                }
            }
            ToCoordinator::Leaving => {
                if self.workers.remove(&worker).is_some() {
                    let _ = self.events.send(CarrierEvent::Left(worker));
                }
            }
            ToCoordinator::Taken { session, unit, delivery } => {
                if let Some(&state) = self.states.get(&worker) {
                    // The worker may wait for this before it plays the unit.
                    self.send_to(&worker, &ToWorker::State { state }).await;
                }
                let Some(open) = self.open_unit(&unit) else { return };
                if delivery.is_after(open.taken) {
                    (open.taken, open.seen, open.is_published) = (delivery, now, true);
                    open.holder = Some(UnitHolder { worker: worker.clone(), session });
                    let _ = self.events.send(CarrierEvent::Taken(unit, worker));
                }
            }
            ToCoordinator::Moved { unit } => {
                let is_holder = |open: &&mut Open| open.holder.as_ref().is_some_and(|by| by.worker == worker);
                let Some(open) = self.open_unit(&unit).filter(is_holder) else { return };
                open.seen = now;
                let _ = self.events.send(CarrierEvent::Moved(unit, worker));
            }
            ToCoordinator::Returned { unit, delivery, reason } => {
                let ack_wait = self.times.ack_wait;
                let Some(open) = self.open_unit(&unit) else { return };
                let holder = open.holder.as_ref().map(|by| by.worker.clone());
                // A worker ends a unit that it does not have at the last delivery, after a silence of its holder.
                let is_last = delivery.number >= LAST_DELIVERY && now - open.seen > ack_wait / 2;
                let worker = match holder {
                    Some(holder) if holder == worker => worker,
                    Some(holder) if is_last && reason == Returned::Lost => holder,
                    None if reason == Returned::Lost => {
                        // No worker has taken it from the broker.
                        open.is_published = false;
                        return;
                    }
                    None => worker,
                    Some(_) => return,
                };
                if delivery.is_after(open.returned) {
                    open.returned = delivery;
                    // The coordinator decides on it.
                    self.close(&unit);
                    let _ = self.events.send(CarrierEvent::Returned(unit, worker, reason));
                }
            }
            ToCoordinator::Played { unit, object } => {
                self.played(worker, unit, object, body);
            }
            ToCoordinator::Trying { .. } | ToCoordinator::Tried { .. } => {}
        }
    }

    /// Notes that a worker has sent a message of another version.
    fn note_incompatible(&mut self, subject: &str, head: &[u8], version: u32) {
        #[derive(serde::Deserialize)]
        struct FirstHello {
            machine: Machine,
        }
        let name = match serde_json::from_slice(head) {
            Ok(FirstHello { machine }) if subject == self.connection.first_hello() => Some(machine.name),
            _ => sender(subject),
        };
        let is_new = |name: &String| is_name(name) && !self.workers.contains_key(name);
        let Some(name) = name.filter(is_new).filter(|_| self.incompatible.len() < MOST_WORKERS) else {
            return;
        };
        if self.incompatible.insert(name.clone()) {
            let why = format!(
                "it speaks version {version} of the messages, the coordinator {VERSION}: install the same version of \
                 referee on both"
            );
            let _ = self.events.send(CarrierEvent::Incompatible(name, why));
        }
    }

    fn open_unit(&mut self, unit: &UnitId) -> Option<&mut Open> {
        self.open.get_mut(&unit.set).filter(|open| open.unit.id == *unit)
    }

    fn played(&mut self, worker: String, unit: UnitId, object: Option<String>, body: &[u8]) {
        if object.is_some() && self.reads.len() >= MOST_READS {
            // The worker sends it again.
            return;
        }
        if !self.judging.insert((unit.clone(), worker.clone())) {
            return;
        }
        match object {
            None => self.read(unit, worker, Ok(body.to_vec())),
            Some(name) => {
                let connection = self.connection.clone();
                self.reads.spawn(async move { (unit, worker, connection.get(&name, OUTCOME_BYTES).await) });
            }
        }
    }

    /// Passes on an outcome that was read from the object store.
    fn read(&mut self, unit: UnitId, worker: String, bytes: Result<Vec<u8>, Wrong>) {
        match bytes {
            Ok(bytes) => {
                let outcome = EncodedOutcome { unit, bytes, place: None };
                let _ = self.events.send(CarrierEvent::Played(outcome, worker));
            }
            Err(error) => {
                tracing::debug!(error = %Chain(&error), "{unit}: its outcome cannot be read now; the worker sends it again");
                self.judging.remove(&(unit, worker));
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn tick(&mut self) {
        let now = Instant::now();
        // An error means that it is not received either.
        let _ = self.connection.client.publish(self.connection.echo(&self.run), "".into()).await;
        // Without reception, messages of workers do not arrive either, and the workers have time to report once they do.
        if let Some(since) = self.reception.current(now) {
            self.remove_lost(now, since).await;
        }
        let waiting: Vec<u32> =
            self.open.iter().filter(|(_, open)| !open.is_published).map(|(&set, _)| set).collect();
        for set in waiting {
            self.publish(set).await;
            if self.open.get(&set).is_some_and(|open| !open.is_published) {
                break;
            }
        }
        if now - self.reconciled > self.times.reconcile {
            self.reconcile().await;
        }
    }

    /// Removes workers that have sent nothing for too long, counted from `since`. Returns their units and those of
    /// workers that have restarted, before the broker redelivers them.
    async fn remove_lost(&mut self, now: Instant, since: Instant) {
        let lost = self.times.lost;
        let is_lost = |seen: Instant| now - seen.max(since) > lost;
        let mut left: Vec<String> = self
            .workers
            .iter()
            .filter(|(_, known)| is_lost(known.seen))
            .map(|(name, _)| name.clone())
            .collect();
        left.sort_unstable();
        for worker in left {
            self.workers.remove(&worker);
            let _ = self.events.send(CarrierEvent::Left(worker));
        }
        self.sessions.retain(|_, seen| !is_lost(*seen));
        let lost = |open: &Open| {
            let UnitHolder { worker, session } = open.holder.as_ref()?;
            let is_lost = !self.sessions.contains_key(session) && is_lost(open.seen);
            is_lost.then(|| (open.unit.id.clone(), worker.clone()))
        };
        for (unit, worker) in self.open.values().filter_map(lost).collect::<Vec<_>>() {
            if let Err(error) = self.remove(&unit, None).await {
                // Messages of workers do not arrive either.
                return tracing::debug!(error = %Chain(&error), "{unit}: it cannot be taken out of the stream now");
            }
            self.close(&unit);
            let _ = self.events.send(CarrierEvent::Returned(unit, worker, Returned::Lost));
        }
    }
}
