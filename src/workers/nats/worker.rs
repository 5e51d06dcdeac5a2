//! A worker's end.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::broker::{Broker, Link, NatsConnection, failed};
use super::message::{Delivery, ToCoordinator, ToWorker};
use super::{CarrierTimes, LAST_DELIVERY};
use crate::workers::archive::ArchiveId;
use crate::workers::carrier::{Assignment, OutcomeVerdict, Request, Returned, WorkerEnd};
use crate::workers::machine::{Machine, MachineState};
use crate::workers::unit::{UnitId, WorkUnit};

/// How long a pull waits at the broker, and how long it rests after an error.
const PULL: Duration = Duration::from_secs(10);
const REST: Duration = Duration::from_secs(1);
/// How often an archive is asked for before that is an error.
const TRIES: u32 = 5;
/// What a message needs beside an outcome, in bytes.
const HEAD: usize = 4096;

/// A worker's end of the carrier.
#[derive(Debug)]
pub struct NatsWorker {
    /// The server.
    pub broker: Broker,
    /// The machine.
    pub machine: Machine,
    /// Its times.
    pub times: CarrierTimes,
}

impl WorkerEnd for NatsWorker {
    async fn serve(
        self,
        mut requests: UnboundedReceiver<Request>,
        assignments: UnboundedSender<Assignment>,
    ) -> io::Result<()> {
        let (connection, mut links) = self.broker.connect(&self.machine.name).await?;
        let (mine, all) = (connection.worker(&self.machine.name), connection.workers());
        let mut mine = connection.client.subscribe(mine).await.map_err(failed)?;
        let mut all = connection.client.subscribe(all).await.map_err(failed)?;
        let times = self.times;
        let mut serving = WorkerService::new(self, connection, assignments);
        let mut tick = interval(times.hello / 10);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        serving.hello().await;
        loop {
            tokio::select! {
                request = requests.recv() => match request {
                    Some(request) => serving.handle_request(request).await,
                    None => break,
                },
                Some(pulled) = serving.pulls.join_next(), if !serving.pulls.is_empty() => {
                    if let Ok((connection, message)) = pulled {
                        serving.pulled(connection, message).await;
                    }
                },
                Some(fetched) = serving.fetches.join_next(), if !serving.fetches.is_empty() => {
                    if let Ok((archive, result)) = fetched {
                        serving.assign(Assignment::Fetched(archive, result));
                    }
                },
                Some(stored) = serving.stores.join_next(), if !serving.stores.is_empty() => {
                    if let Ok((unit, result)) = stored {
                        serving.stored(unit, result).await;
                    }
                },
                Some(message) = mine.next() => serving.handle_message(&message.payload).await,
                Some(message) = all.next() => serving.handle_message(&message.payload).await,
                Some(link) = links.recv() => serving.link(link).await,
                _ = tick.tick() => serving.tick().await,
            }
        }
        serving.leave().await
    }
}

/// A unit that this worker has.
struct HeldUnit {
    /// To acknowledge it; `None` if the worker has it from before this connection.
    message: Option<Message>,
    delivery: Delivery,
    progressed: Option<Instant>,
    outcome: Option<UnjudgedOutcome>,
}

/// An outcome without a verdict.
struct UnjudgedOutcome {
    bytes: Arc<Vec<u8>>,
    /// Its name in the object store, if it is too large for a message.
    object: Option<String>,
    /// Whether it is being stored.
    is_storing: bool,
    sent: Instant,
}

struct WorkerService {
    connection: NatsConnection,
    assignments: UnboundedSender<Assignment>,
    machine: Machine,
    session: String,
    times: CarrierTimes,
    /// The number of further units that the worker can take.
    free: usize,
    /// A pull of one unit for each free slot, so that the broker never hands out more; with the number of their connection.
    /// Those of an earlier connection go on: the broker may have answered them.
    pulls: JoinSet<(u32, Option<Message>)>,
    /// The number of pulls of this connection.
    pulling: usize,
    /// The number of connections that were lost.
    losses: u32,
    is_connected: bool,
    fetches: JoinSet<(ArchiveId, Result<(), String>)>,
    stores: JoinSet<(UnitId, io::Result<()>)>,
    /// Acknowledgements that the broker has not confirmed yet.
    acks: JoinSet<()>,
    held: HashMap<UnitId, HeldUnit>,
    greeted: Instant,
    /// Whether it gets units.
    is_active: bool,
}

/// Waits for a unit.
async fn pull(connection: NatsConnection) -> Option<Message> {
    let one = async {
        let consumer: PullConsumer = connection.consumer().await?;
        let batch = consumer.batch().max_messages(1).expires(PULL).messages().await.map_err(failed);
        batch?.next().await.transpose().map_err(failed)
    };
    match one.await {
        Ok(message) => message,
        Err(error) => {
            tracing::debug!(%error, "no unit can be pulled now");
            sleep(REST).await;
            None
        }
    }
}

/// Copies an archive to a file.
async fn fetch(
    connection: NatsConnection,
    archive: ArchiveId,
    to: PathBuf,
) -> (ArchiveId, Result<(), String>) {
    let mut result = Ok(());
    for _ in 0..TRIES {
        match connection.download(&archive, &to).await {
            Ok(()) => return (archive, Ok(())),
            Err(error) => result = Err(error.to_string()),
        }
        sleep(REST).await;
    }
    (archive, result)
}

impl WorkerService {
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    fn new(
        end: NatsWorker,
        connection: NatsConnection,
        assignments: UnboundedSender<Assignment>,
    ) -> WorkerService {
        WorkerService {
            session: connection.client.new_inbox(),
            connection,
            assignments,
            machine: end.machine,
            times: end.times,
            free: 0,
            pulls: JoinSet::new(),
            pulling: 0,
            losses: 0,
            is_connected: true,
            fetches: JoinSet::new(),
            stores: JoinSet::new(),
            acks: JoinSet::new(),
            held: HashMap::new(),
            greeted: Instant::now(),
            is_active: true,
        }
    }

    fn assign(&self, assignment: Assignment) {
        // The worker may be ending.
        let _ = self.assignments.send(assignment);
    }

    /// Keeps a pull waiting for each free slot.
    fn pull(&mut self) {
        while self.is_active && self.is_connected && self.pulling < self.free {
            let (connection, number) = (self.connection.clone(), self.losses);
            self.pulls.spawn(async move { (number, pull(connection).await) });
            self.pulling += 1;
        }
    }

    /// A pull of the connection with this number has ended.
    async fn pulled(&mut self, connection: u32, message: Option<Message>) {
        if connection == self.losses {
            self.pulling -= 1;
        }
        if let Some(message) = message {
            self.take(message).await;
        }
        self.pull();
    }

    async fn link(&mut self, link: Link) {
        match link {
            Link::Up => {
                self.is_connected = true;
                self.assign(Assignment::Connected);
                self.pull();
                self.hello().await;
                self.send_outcomes(Duration::ZERO).await;
            }
            Link::Down => {
                // The broker has forgotten the pulls, except those that are sent once it is there again.
                (self.is_connected, self.pulling) = (false, 0);
                self.losses += 1;
                self.assign(Assignment::Disconnected("the connection to the broker was lost".to_owned()));
            }
        }
    }

    /// Takes a unit from the broker.
    async fn take(&mut self, message: Message) {
        let unit: WorkUnit = match serde_json::from_slice(&message.payload) {
            Ok(unit) => unit,
            Err(error) => {
                tracing::warn!("a unit on {} is invalid: {error}", message.subject);
                return self.end(message, AckKind::Term);
            }
        };
        let delivery =
            message.info().map(|info| Delivery { message: info.stream_sequence, number: info.delivered });
        let (id, delivery) = (unit.id.clone(), delivery.unwrap_or_default());
        if let Some(held) = self.held.get_mut(&id) {
            // The broker redelivers a unit without progress, which is being played.
            (held.message, held.delivery) = (Some(message), delivery);
            return;
        }
        let worker = self.machine.name.clone();
        if delivery.number >= LAST_DELIVERY {
            self.end(message, AckKind::Term);
            let reason = Returned::Lost;
            return self
                .send_to_coordinator(&ToCoordinator::Returned { worker, unit: id, delivery, reason })
                .await;
        }
        self.free = self.free.saturating_sub(1);
        let held = HeldUnit { message: Some(message), delivery, progressed: None, outcome: None };
        self.held.insert(id.clone(), held);
        let session = self.session.clone();
        self.send_to_coordinator(&ToCoordinator::Taken { worker, session, unit: id, delivery }).await;
        self.assign(Assignment::Play(Box::new(unit)));
    }

    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn handle_request(&mut self, request: Request) {
        let worker = self.machine.name.clone();
        match request {
            Request::Free(count) => {
                self.free += count;
                self.pull();
            }
            Request::Moved(unit) => {
                let (now, every) = (Instant::now(), self.times.progress);
                let Some(held) = self.held.get_mut(&unit) else { return };
                if held.progressed.is_none_or(|before| now - before >= every) {
                    held.progressed = Some(now);
                    progress(held).await;
                    self.send_to_coordinator(&ToCoordinator::Moved { worker, unit }).await;
                }
            }
            Request::Played(outcome) => {
                let unit = outcome.unit.clone();
                let bytes = match outcome.encode() {
                    Ok(bytes) => bytes,
                    Err(what) => {
                        self.give_back(unit, Returned::Unable(what)).await;
                        return;
                    }
                };
                let is_large = bytes.len() + HEAD > self.connection.client.max_payload();
                let object = is_large.then(|| {
                    let UnitId { run, set, attempt } = &unit;
                    format!("outcome.{run}.{set}.{attempt}.{}", crate::core::hex::encode(worker.as_bytes()))
                });
                // Sent below, and again until there is a verdict.
                let sent = Instant::now() - self.times.resend;
                let played = UnjudgedOutcome { bytes: Arc::new(bytes), object, is_storing: false, sent };
                let held = self.held.entry(unit).or_insert_with(|| HeldUnit {
                    message: None,
                    delivery: Delivery::default(),
                    progressed: None,
                    outcome: None,
                });
                held.outcome = Some(played);
                self.send_outcomes(self.times.resend).await;
            }
            Request::Return(unit, reason) => self.give_back(unit, reason).await,
            Request::Fetch(archive, to) => {
                self.fetches.spawn(fetch(self.connection.clone(), archive, to));
            }
        }
    }

    /// Takes the unit from the broker: the coordinator decides what becomes of it.
    async fn give_back(&mut self, unit: UnitId, reason: Returned) {
        let Some(held) = self.held.remove(&unit) else { return };
        if let Some(message) = held.message {
            self.end(message, AckKind::Term);
        }
        let (worker, delivery) = (self.machine.name.clone(), held.delivery);
        self.send_to_coordinator(&ToCoordinator::Returned { worker, unit, delivery, reason }).await;
    }

    /// Sends the outcomes that were not sent for this time.
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn send_outcomes(&mut self, age: Duration) {
        let now = Instant::now();
        let due =
            self.held.iter_mut().filter_map(|(unit, held)| take_due(held, age, now).then(|| unit.clone()));
        for unit in due.collect::<Vec<_>>() {
            let Some(held) = self.held.get_mut(&unit) else { continue };
            progress(held).await;
            let Some(played) = &mut held.outcome else { continue };
            match played.object.clone() {
                None => {
                    let (worker, bytes) = (self.machine.name.clone(), played.bytes.clone());
                    let head = ToCoordinator::Played { worker, unit: unit.clone(), object: None };
                    self.send(self.connection.run(&unit.run), &head, &bytes).await;
                }
                Some(_) if played.is_storing => {}
                Some(name) => {
                    played.is_storing = true;
                    let (connection, bytes) = (self.connection.clone(), played.bytes.clone());
                    self.stores.spawn(async move { (unit, connection.put(&name, &bytes).await) });
                }
            }
        }
    }

    /// Tells the coordinator where an outcome is.
    async fn stored(&mut self, unit: UnitId, result: io::Result<()>) {
        let played = self.held.get_mut(&unit).and_then(|held| held.outcome.as_mut());
        // There may have been a verdict meanwhile.
        let Some(played) = played else { return };
        played.is_storing = false;
        let object = played.object.clone();
        match result {
            Ok(()) => {
                let worker = self.machine.name.clone();
                self.send_to_coordinator(&ToCoordinator::Played { worker, unit, object }).await;
            }
            Err(error) => tracing::debug!(%error, "{unit}: its outcome cannot be stored now"),
        }
    }

    async fn send_to_coordinator(&self, message: &ToCoordinator) {
        let subject = match message {
            ToCoordinator::Taken { unit, .. }
            | ToCoordinator::Moved { unit, .. }
            | ToCoordinator::Returned { unit, .. }
            | ToCoordinator::Played { unit, .. } => self.connection.run(&unit.run),
            ToCoordinator::Hello { .. } | ToCoordinator::Leaving { .. } => self.connection.hello(),
        };
        self.send(subject, message, &[]).await;
    }

    async fn send(&self, subject: String, head: &ToCoordinator, body: &[u8]) {
        let Ok(mut bytes) = serde_json::to_vec(head) else { return };
        if !body.is_empty() {
            bytes.push(b'\n');
            bytes.extend_from_slice(body);
        }
        if let Err(error) = self.connection.client.publish(subject, bytes.into()).await {
            tracing::debug!(%error, "a message to the coordinator is lost");
        }
    }

    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn hello(&mut self) {
        self.greeted = Instant::now();
        let mut holding: Vec<UnitId> = self.held.keys().cloned().collect();
        holding.sort();
        let (machine, session) = (self.machine.clone(), self.session.clone());
        self.send_to_coordinator(&ToCoordinator::Hello { machine, session, holding }).await;
    }

    async fn handle_message(&mut self, payload: &[u8]) {
        let content = match serde_json::from_slice(payload) {
            Ok(content) => content,
            Err(error) => return tracing::warn!("a message of a coordinator is invalid: {error}"),
        };
        match content {
            ToWorker::RequestHello => self.hello().await,
            ToWorker::Verdict { unit, verdict } => self.judged(unit, verdict),
            ToWorker::Withdrawn { unit } => {
                // The coordinator has taken it out of the stream.
                if self.held.remove(&unit).is_some() {
                    self.assign(Assignment::Withdrawn(unit));
                }
            }
            ToWorker::State { state } => {
                self.is_active = state == MachineState::Active;
                self.pull();
                self.assign(Assignment::State(state));
            }
            ToWorker::Over => self.assign(Assignment::Over),
        }
    }

    /// Takes a unit out of the stream, and waits in the background until the broker confirms that.
    fn end(&mut self, message: Message, how: AckKind) {
        self.acks.spawn(async move {
            if let Err(error) = message.double_ack_with(how).await {
                tracing::debug!(%error, "a unit cannot be acknowledged; it may be handed out again");
            }
        });
    }

    fn judged(&mut self, unit: UnitId, verdict: OutcomeVerdict) {
        // A verdict may come twice.
        let Some(held) = self.held.remove(&unit) else { return };
        if let Some(message) = held.message {
            self.end(message, AckKind::Ack);
        }
        if let Some(name) = held.outcome.and_then(|played| played.object) {
            let connection = self.connection.clone();
            self.acks.spawn(async move {
                if let Err(error) = connection.delete(&name).await {
                    tracing::debug!(%error, "{name} cannot be deleted");
                }
            });
        }
        self.assign(Assignment::Verdict(unit, verdict));
    }

    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn tick(&mut self) {
        if Instant::now() - self.greeted >= self.times.hello {
            self.hello().await;
        }
        self.send_outcomes(self.times.resend).await;
        self.pull();
        while self.acks.try_join_next().is_some() {}
    }

    /// Says that the worker ends, after what it has said before.
    async fn leave(mut self) -> io::Result<()> {
        while self.acks.join_next().await.is_some() {}
        self.send_to_coordinator(&ToCoordinator::Leaving { worker: self.machine.name.clone() }).await;
        self.connection.finish().await
    }
}

/// Whether the outcome of a unit has to be sent, which it then counts as.
fn take_due(held: &mut HeldUnit, age: Duration, now: Instant) -> bool {
    let Some(played) = &mut held.outcome else { return false };
    let is_due = now - played.sent >= age;
    if is_due {
        played.sent = now;
    }
    is_due
}

/// Tells the broker that a unit is being worked on.
async fn progress(held: &HeldUnit) {
    if let Some(message) = &held.message {
        // After a loss of the connection the broker may hand it out again.
        let _ = message.ack_with(AckKind::Progress).await;
    }
}
