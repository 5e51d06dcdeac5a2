//! A worker's end.

mod trials;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

use self::trials::HeldTrial;
use super::broker::{Broker, Link, NatsConnection, failed, inbox};
use super::envelope::{EnvelopeError, TrustedKeys, VERSION};
use super::message::{Delivery, ToCoordinator, ToWorker, WorkerMessage};
use super::{CarrierTimes, LAST_DELIVERY};
use crate::archive::ArchiveId;
use crate::carrier::{Assignment, OutcomeVerdict, Request, Returned, WorkerEnd};
use crate::machine::{Machine, MachineState};
use crate::unit::{UnitId, WorkUnit};
use referee_game::Chain;
use referee_game::Wrong;

/// The time for which a pull waits at the broker, and the pause after an error.
const PULL: Duration = Duration::from_secs(10);
const REST: Duration = Duration::from_secs(1);
/// The time for which a unit that this worker must not play waits before the broker hands it out again.
const AVOIDED: Duration = Duration::from_secs(2);
/// The number of tries to get an archive before that is an error.
const TRIES: u32 = 5;
/// The number of runs that are kept in memory as over.
const MOST_OVER: usize = 1000;
/// The size of a message without its outcome, in bytes.
const HEAD: usize = 4096;

/// A worker's end of the carrier.
#[derive(Debug)]
pub struct NatsWorker {
    pub broker: Broker,
    pub machine: Machine,
    /// The keys of the coordinators whose units it plays.
    pub trusted: TrustedKeys,
    pub times: CarrierTimes,
}

impl WorkerEnd for NatsWorker {
    async fn serve(
        self,
        mut requests: UnboundedReceiver<Request>,
        assignments: UnboundedSender<Assignment>,
    ) -> Result<(), Wrong> {
        let (connection, mut links) =
            self.broker.connect(&self.machine.name, &inbox(&self.machine.name)).await?;
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
                Some(stored) = serving.reports.join_next(), if !serving.reports.is_empty() => {
                    if let Ok((trial, result)) = stored {
                        serving.report_stored(trial, result).await;
                    }
                },
                Some(message) = mine.next() => serving.handle_message(&message.subject, &message.payload).await,
                Some(message) = all.next() => serving.handle_message(&message.subject, &message.payload).await,
                Some(link) = links.recv() => serving.link(link).await,
                _ = tick.tick() => serving.tick().await,
            }
        }
        serving.leave().await
    }
}

/// A unit that this worker has.
struct HeldUnit {
    /// The message to acknowledge; `None` if the worker has the unit from before this connection.
    message: Option<Message>,
    delivery: Delivery,
    progressed: Option<Instant>,
    outcome: Option<Unconfirmed>,
}

/// An outcome without a verdict, or a report on a trial that the desk may not have.
struct Unconfirmed {
    bytes: Arc<Vec<u8>>,
    /// The name in the object store, if it is too large for a message.
    object: Option<String>,
    /// Whether the object is being stored.
    is_storing: bool,
    sent: Instant,
}

impl Unconfirmed {
    /// Bytes that are due at once, and become this object if they do not fit into a message of `most` bytes. They are sent
    /// again after `resend`.
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    fn new(bytes: Vec<u8>, object: String, most: usize, resend: Duration) -> Unconfirmed {
        let object = Some(object).filter(|_| bytes.len() + HEAD > most);
        Unconfirmed { bytes: Arc::new(bytes), object, is_storing: false, sent: Instant::now() - resend }
    }

    /// Returns whether it has to be sent, which it then counts as.
    fn take_due(&mut self, age: Duration, now: Instant) -> bool {
        let is_due = now - self.sent >= age;
        if is_due {
            self.sent = now;
        }
        is_due
    }
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
    /// Pulls of an earlier connection go on: the broker may have answered them.
    pulls: JoinSet<(u32, Option<Message>)>,
    /// The number of pulls of this connection.
    pulling: usize,
    /// The number of connections that were lost.
    losses: u32,
    is_connected: bool,
    /// The time until which the worker pulls nothing.
    resting_until: Instant,
    fetches: JoinSet<(ArchiveId, Result<(), Wrong>)>,
    stores: JoinSet<(UnitId, Result<(), Wrong>)>,
    /// Acknowledgements and deletions that the broker has not confirmed yet.
    acks: JoinSet<()>,
    held: HashMap<UnitId, HeldUnit>,
    /// By number.
    trials: BTreeMap<u64, HeldTrial>,
    /// By the id of a desk of trials: the time of its last message.
    desks: BTreeMap<String, u64>,
    /// Reports on trials that are being stored.
    reports: JoinSet<(u64, Result<(), Wrong>)>,
    greeted: Instant,
    trusted: TrustedKeys,
    /// The messages of the coordinators of runs, by run.
    runs: BTreeMap<String, KnownRun>,
    /// The runs that are over, with the time of the message that said so.
    over: BTreeMap<String, u64>,
    /// Units of runs whose coordinator has not said yet whether this worker gets them, with the time of their arrival.
    unadmitted: Vec<(Box<WorkUnit>, Instant)>,
    /// Whether a message of another version, and one without a valid signature, was reported.
    is_reported: (bool, bool),
}

/// A run whose coordinator has sent a state.
struct KnownRun {
    state: MachineState,
    at: u64,
    /// The time of the first such message since the run was last over.
    since: u64,
    heard: Instant,
}

async fn pull(connection: NatsConnection) -> Option<Message> {
    let one = async {
        let consumer: PullConsumer = connection.consumer().await?;
        let batch = consumer.batch().max_messages(1).expires(PULL).messages().await.map_err(failed);
        batch?.next().await.transpose().map_err(failed)
    };
    match one.await {
        Ok(message) => message,
        Err(error) => {
            tracing::debug!(error = %Chain(&error), "no unit can be pulled now");
            sleep(REST).await;
            None
        }
    }
}

/// Copies an archive, which is this object, to a file.
async fn fetch(
    connection: NatsConnection,
    archive: ArchiveId,
    object: String,
    to: PathBuf,
) -> (ArchiveId, Result<(), Wrong>) {
    let mut result = Ok(());
    for _ in 0..TRIES {
        match connection.download(&object, &to).await {
            Ok(()) => return (archive, Ok(())),
            Err(error) => result = Err(error),
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
            resting_until: Instant::now(),
            fetches: JoinSet::new(),
            stores: JoinSet::new(),
            acks: JoinSet::new(),
            held: HashMap::new(),
            trials: BTreeMap::new(),
            desks: BTreeMap::new(),
            reports: JoinSet::new(),
            greeted: Instant::now(),
            trusted: end.trusted,
            runs: BTreeMap::new(),
            over: BTreeMap::new(),
            unadmitted: Vec::new(),
            is_reported: (false, false),
        }
    }

    fn assign(&self, assignment: Assignment) {
        // The worker may be ending.
        let _ = self.assignments.send(assignment);
    }

    /// Keeps a pull waiting for each free slot.
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    fn pull(&mut self) {
        let is_active = self.runs.values().all(|run| run.state == MachineState::Active);
        let is_active = is_active && Instant::now() >= self.resting_until;
        while is_active && self.is_connected && self.pulling < self.free {
            let (connection, number) = (self.connection.clone(), self.losses);
            self.pulls.spawn(async move { (number, pull(connection).await) });
            self.pulling += 1;
        }
    }

    /// Handles the end of a pull of the connection with this number.
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
                self.send_reports(Duration::ZERO).await;
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
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn take(&mut self, message: Message) {
        let delivery =
            message.info().map(|info| Delivery { message: info.stream_sequence, number: info.delivered });
        let delivery = delivery.unwrap_or_default();
        let opened = self.trusted.open(&message.subject, &message.payload).and_then(|signed| {
            let unit: WorkUnit = serde_json::from_slice(signed.body)?;
            Ok((signed.run, unit))
        });
        let unit = match opened {
            Ok((run, unit)) if run == unit.id.run && !self.over.contains_key(&run) => unit,
            Ok(_) => return self.end(message, AckKind::Term),
            Err(error) => {
                self.report(&message.subject, &error);
                // A different worker may trust the coordinator, and takes the unit meanwhile.
                self.resting_until = Instant::now() + self.times.hello;
                let is_last = delivery.number >= LAST_DELIVERY;
                return self.end(message, if is_last { AckKind::Term } else { AckKind::Nak(None) });
            }
        };
        let id = unit.id.clone();
        if let Some(held) = self.held.get_mut(&id) {
            // The broker redelivers a unit without progress, which is being played.
            (held.message, held.delivery) = (Some(message), delivery);
            return;
        }
        let is_avoided = unit.avoid.contains(&self.machine.name);
        if is_avoided && delivery.number < LAST_DELIVERY - 1 {
            // The unit is for another worker.
            return self.end(message, AckKind::Nak(Some(AVOIDED)));
        }
        if delivery.number >= LAST_DELIVERY {
            self.end(message, AckKind::Term);
            let reason = Returned::Lost;
            return self.send_to_coordinator(ToCoordinator::Returned { unit: id, delivery, reason }).await;
        }
        let has_slot = self.free > 0;
        self.free = self.free.saturating_sub(1);
        let held = HeldUnit { message: Some(message), delivery, progressed: None, outcome: None };
        self.held.insert(id.clone(), held);
        let (session, run) = (self.session.clone(), id.run.clone());
        self.send_to_coordinator(ToCoordinator::Taken { session, unit: id.clone(), delivery }).await;
        if is_avoided {
            // The coordinator publishes it again.
            return self.give_back_unplayed(id).await;
        }
        if !has_slot {
            // A trial has begun in its slot.
            return self.give_back(id, Returned::Stopped).await;
        }
        self.unadmitted.push((Box::new(unit), Instant::now()));
        self.admit(&run).await;
    }

    /// Plays the units of a run that wait for its coordinator, or returns them if this worker gets none.
    async fn admit(&mut self, run: &str) {
        let Some(state) = self.runs.get(run).map(|known| known.state) else { return };
        let (units, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.unadmitted).into_iter().partition(|(unit, _)| unit.id.run == run);
        self.unadmitted = others;
        for (unit, _) in units {
            match state {
                MachineState::Active => self.assign(Assignment::Play(unit)),
                _ => self.give_back_unplayed(unit.id).await,
            }
        }
    }

    /// Gives back a unit that the worker has not seen.
    async fn give_back_unplayed(&mut self, unit: UnitId) {
        self.free += 1;
        self.give_back(unit, Returned::Stopped).await;
    }

    /// Reports a message that is not taken: the first of each kind, since any client may send them.
    fn report(&mut self, subject: &str, error: &EnvelopeError) {
        if let EnvelopeError::Version(version) = error {
            if !std::mem::replace(&mut self.is_reported.0, true) {
                self.assign(Assignment::Incompatible(format!(
                    "a coordinator speaks version {version} of the messages, this worker {VERSION}: install the same \
                     version of referee on both"
                )));
            }
        } else if !std::mem::replace(&mut self.is_reported.1, true) {
            tracing::warn!("a message on {subject} is not taken: {}", Chain(error));
        }
    }

    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn handle_request(&mut self, request: Request) {
        match request {
            Request::Free(count) => {
                self.free += count;
                self.begin_trials().await;
                self.pull();
            }
            Request::Moved(unit) => {
                let (now, every) = (Instant::now(), self.times.progress);
                let Some(held) = self.held.get_mut(&unit) else { return };
                if held.progressed.is_none_or(|before| now - before >= every) {
                    held.progressed = Some(now);
                    progress(held).await;
                    self.send_to_coordinator(ToCoordinator::Moved { unit }).await;
                }
            }
            Request::Played(outcome) => {
                let unit = outcome.unit.clone();
                let bytes = match outcome.encode() {
                    Ok(bytes) => bytes,
                    Err(what) => {
                        self.give_back(unit, Returned::Unable(Chain(&what).to_string())).await;
                        return;
                    }
                };
                let UnitId { run, set, attempt } = &unit;
                let object = format!("outcome.{run}.{set}.{attempt}.{}", self.machine.name);
                let most = self.connection.client.max_payload();
                // Sent below, and again until there is a verdict.
                let played = Unconfirmed::new(bytes, object, most, self.times.resend);
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
            Request::Tried(id, reply, built) => self.tried(id, &reply, &built).await,
            Request::Fetch(archive, to) => {
                let object = self.object_of(archive);
                self.fetches.spawn(fetch(self.connection.clone(), archive, object, to));
            }
        }
    }

    /// Takes the unit from the broker: the coordinator decides on it.
    async fn give_back(&mut self, unit: UnitId, reason: Returned) {
        let Some(held) = self.held.remove(&unit) else { return };
        if let Some(message) = held.message {
            self.end(message, AckKind::Term);
        }
        let delivery = held.delivery;
        self.send_to_coordinator(ToCoordinator::Returned { unit, delivery, reason }).await;
    }

    /// Sends the outcomes that were not sent for this time.
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn send_outcomes(&mut self, age: Duration) {
        let now = Instant::now();
        let due = |held: &mut HeldUnit| held.outcome.as_mut().is_some_and(|of| of.take_due(age, now));
        let due = self.held.iter_mut().filter_map(|(unit, held)| due(held).then(|| unit.clone()));
        for unit in due.collect::<Vec<_>>() {
            let Some(held) = self.held.get_mut(&unit) else { continue };
            progress(held).await;
            let Some(played) = &mut held.outcome else { continue };
            match played.object.clone() {
                None => {
                    let bytes = played.bytes.clone();
                    let subject = self.connection.run(&unit.run, &self.machine.name);
                    self.send(subject, ToCoordinator::Played { unit, object: None }, &bytes).await;
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
    async fn stored(&mut self, unit: UnitId, result: Result<(), Wrong>) {
        let played = self.held.get_mut(&unit).and_then(|held| held.outcome.as_mut());
        // The verdict may have come meanwhile.
        let Some(played) = played else { return };
        played.is_storing = false;
        let object = played.object.clone();
        match result {
            Ok(()) => {
                self.send_to_coordinator(ToCoordinator::Played { unit, object }).await;
            }
            Err(error) => tracing::debug!(error = %Chain(&error), "{unit}: its outcome cannot be stored now"),
        }
    }

    async fn send_to_coordinator(&self, message: ToCoordinator) {
        let name = &self.machine.name;
        let subject = match &message {
            ToCoordinator::Taken { unit, .. }
            | ToCoordinator::Moved { unit, .. }
            | ToCoordinator::Returned { unit, .. }
            | ToCoordinator::Played { unit, .. } => self.connection.run(&unit.run, name),
            _ => self.connection.hello(name),
        };
        self.send(subject, message, &[]).await;
    }

    async fn send(&self, subject: String, content: ToCoordinator, body: &[u8]) {
        let head = WorkerMessage { version: VERSION, content };
        let Ok(mut bytes) = serde_json::to_vec(&head) else { return };
        if !body.is_empty() {
            bytes.push(b'\n');
            bytes.extend_from_slice(body);
        }
        if let Err(error) = self.connection.client.publish(subject, bytes.into()).await {
            tracing::debug!(error = %Chain(&error), "a message to the coordinator is lost");
        }
    }

    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn hello(&mut self) {
        self.greeted = Instant::now();
        let mut holding: Vec<UnitId> = self.held.keys().cloned().collect();
        holding.sort();
        let (machine, session) = (self.machine.clone(), self.session.clone());
        self.send_to_coordinator(ToCoordinator::Hello { machine, session, holding }).await;
    }

    async fn handle_message(&mut self, subject: &str, payload: &[u8]) {
        let opened = self.trusted.open(subject, payload).and_then(|signed| {
            let content: ToWorker = serde_json::from_slice(signed.body)?;
            Ok((signed.run, signed.at, content))
        });
        let (run, at, content) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.report(subject, &error),
        };
        match content {
            ToWorker::RequestHello => self.hello().await,
            ToWorker::Verdict { unit, verdict } if unit.run == run => self.judged(unit, verdict),
            ToWorker::Withdrawn { unit } if unit.run == run => {
                // The coordinator has taken it out of the stream.
                if self.held.remove(&unit).is_some() {
                    self.forget_unadmitted(|of| of.id == unit);
                    self.assign(Assignment::Withdrawn(unit));
                }
            }
            ToWorker::Verdict { .. } | ToWorker::Withdrawn { .. } => {}
            ToWorker::State { state } => self.set_state(run, at, state).await,
            ToWorker::Over => {
                // The message may overtake the last state, and the last verdicts.
                if self.runs.get(&run).is_none_or(|known| known.since < at) {
                    self.runs.remove(&run);
                    let ended = self.held.extract_if(|unit, _| unit.run == run);
                    for (_, held) in ended.collect::<Vec<_>>() {
                        self.release(held, AckKind::Term);
                    }
                    self.forget_unadmitted(|of| of.id.run == run);
                    if self.over.len() >= MOST_OVER {
                        self.over.clear();
                    }
                    self.over.insert(run.clone(), at);
                    self.assign(Assignment::Over(run));
                    self.pull();
                }
            }
            ToWorker::Try { session, job } if session == self.session => self.asked(run, at, job).await,
            ToWorker::TrialOver { session, trial } if session == self.session => {
                self.trial_over(&run, at, trial);
            }
            ToWorker::Try { .. } | ToWorker::TrialOver { .. } => {}
        }
    }

    /// Takes the state in which the coordinator of a run has this worker. A message that is repeated changes nothing.
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn set_state(&mut self, run: String, at: u64, state: MachineState) {
        let is_old = |known: u64| known >= at;
        if self.runs.get(&run).is_some_and(|known| is_old(known.at))
            || self.over.get(&run).is_some_and(|&over| is_old(over))
        {
            return;
        }
        self.over.remove(&run);
        let since = self.runs.get(&run).map_or(at, |known| known.since);
        self.runs.insert(run.clone(), KnownRun { state, at, since, heard: Instant::now() });
        self.assign(Assignment::State(run.clone(), state));
        self.admit(&run).await;
        self.pull();
    }

    /// Forgets units that the worker has not seen.
    fn forget_unadmitted(&mut self, is_it: impl Fn(&WorkUnit) -> bool) {
        let before = self.unadmitted.len();
        self.unadmitted.retain(|(unit, _)| !is_it(unit));
        self.free += before - self.unadmitted.len();
    }

    /// Gives back units whose coordinator is silent, and plays for others though one has put this worker aside that is gone.
    async fn forget_silent(&mut self, now: Instant) {
        let lost = self.times.lost;
        let silent = self.unadmitted.iter().filter(|(_, arrived)| now - *arrived > lost);
        for unit in silent.map(|(unit, _)| unit.id.clone()).collect::<Vec<UnitId>>() {
            self.unadmitted.retain(|(of, _)| of.id != unit);
            self.give_back_unplayed(unit).await;
        }
        let is_gone = |known: &KnownRun| known.state != MachineState::Active && now - known.heard > 2 * lost;
        let gone = self.runs.iter().filter(|(_, known)| is_gone(known)).map(|(run, _)| run.clone());
        for run in gone.collect::<Vec<String>>() {
            self.runs.remove(&run);
            self.assign(Assignment::State(run, MachineState::Active));
        }
    }

    /// Takes a unit out of the stream, and waits in the background until the broker confirms that.
    fn end(&mut self, message: Message, how: AckKind) {
        self.acks.spawn(async move {
            if let Err(error) = message.double_ack_with(how).await {
                tracing::debug!(error = %Chain(&*error), "a unit cannot be acknowledged; it may be handed out again");
            }
        });
    }

    fn judged(&mut self, unit: UnitId, verdict: OutcomeVerdict) {
        // A verdict may come twice.
        let Some(held) = self.held.remove(&unit) else { return };
        self.release(held, AckKind::Ack);
        self.assign(Assignment::Verdict(unit, verdict));
    }

    /// Takes a unit without further use out of the stream, and its outcome out of the object store.
    fn release(&mut self, held: HeldUnit, how: AckKind) {
        if let Some(message) = held.message {
            self.end(message, how);
        }
        if let Some(name) = held.outcome.and_then(|played| played.object) {
            self.delete(name);
        }
    }

    /// Deletes an object that this worker has stored.
    fn delete(&mut self, object: String) {
        let connection = self.connection.clone();
        self.acks.spawn(async move {
            if let Err(error) = connection.delete(&object).await {
                tracing::debug!(error = %Chain(&error), "{object} cannot be deleted");
            }
        });
    }

    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    async fn tick(&mut self) {
        let now = Instant::now();
        if now - self.greeted >= self.times.hello {
            self.hello().await;
        }
        self.forget_silent(now).await;
        self.send_outcomes(self.times.resend).await;
        self.forget_silent_trials(now);
        self.begin_trials().await;
        self.send_reports(self.times.resend).await;
        self.pull();
        while self.acks.try_join_next().is_some() {}
    }

    /// Says that the worker ends, after what it has said before.
    async fn leave(mut self) -> Result<(), Wrong> {
        while self.acks.join_next().await.is_some() {}
        self.send_to_coordinator(ToCoordinator::Leaving).await;
        self.connection.finish().await
    }
}

/// Tells the broker that a unit is being worked on.
async fn progress(held: &HeldUnit) {
    if let Some(message) = &held.message {
        // After a loss of the connection the broker may hand it out again.
        let _ = message.ack_with(AckKind::Progress).await;
    }
}
