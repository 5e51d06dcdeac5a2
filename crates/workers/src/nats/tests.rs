//! The carrier with a real server: both ends, with a coordinator and workers that follow a script.

mod broker_faults;
mod lost_workers;
mod orphans;
mod partitions;
mod trials;
mod trust;

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, LocalSet, spawn_local};
use tokio::time::{Instant, sleep, timeout};

use super::broker::inbox;
use super::*;
use crate::archive::{ArchiveLimits, pack_folder};
use crate::carrier::{
    Assignment, CarrierError, CarrierEvent, CoordinatorEnd, Order, OutcomeVerdict, Request, Returned,
    WorkerEnd,
};
use crate::machine::{Machine, MachineState};
use crate::unit::{UnitId, UnitOutcome, WorkUnit};
use referee_engine::driver::Terms;
use referee_match::Opening;

/// A timeout that only a hanging test exceeds.
const TIMEOUT: Duration = Duration::from_secs(60);
const RUN: &str = "0123456789abcdef0123456789abcdef";

/// The key of a coordinator.
fn key(digit: u8) -> SigningKey {
    SigningKey::parse(&digit.to_string().repeat(64)).unwrap()
}

/// The times, about fifty times as short as usual.
const TIMES: CarrierTimes = CarrierTimes {
    ack_wait: Duration::from_millis(600),
    progress: Duration::from_millis(100),
    hello: Duration::from_millis(200),
    lost: Duration::from_millis(700),
    resend: Duration::from_millis(200),
    reconcile: Duration::from_millis(300),
};

/// A NATS server with a directory of its own.
struct Server {
    folder: TempDir,
    port: u16,
    arguments: Vec<String>,
    child: Child,
}

impl Server {
    fn start(arguments: &[&str]) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let (child, port) = Server::spawn(folder.path(), None, &arguments);
        Server { folder, port, arguments, child }
    }

    /// Starts it on this port or on a free one, which it returns.
    fn spawn(folder: &Path, port: Option<u16>, arguments: &[String]) -> (Child, u16) {
        let spawn = || {
            let mut server = Command::new("nats-server");
            server.args(["-js", "-a", "127.0.0.1", "-p"]);
            server.arg(port.map_or("-1".to_owned(), |port| port.to_string()));
            server.arg("-sd").arg(folder.join("store")).arg("--ports_file_dir").arg(folder);
            server.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            server.spawn().expect("nats-server is installed: see tests/run")
        };
        let mut child = spawn();
        for _ in 0..3000 {
            std::thread::sleep(Duration::from_millis(20));
            let ports = folder.join(format!("nats-server_{}.ports", child.id()));
            let ports = std::fs::read_to_string(ports).unwrap_or_default();
            let port = ports.strip_suffix("\"]}").and_then(|ports| ports.rsplit(':').next());
            if let Some(port) = port {
                return (child, port.parse().unwrap());
            }
            if child.try_wait().unwrap().is_some() {
                // A connection may have taken the port of a server that restarts.
                child = spawn();
            }
        }
        panic!("nats-server does not listen");
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn restart(&mut self) {
        self.child = Server::spawn(self.folder.path(), Some(self.port), &self.arguments).0;
    }

    fn broker(&self) -> Broker {
        Broker {
            url: format!("nats://127.0.0.1:{}", self.port),
            queue: "referee".to_owned(),
            credentials: None,
            ca: None,
            identity: None,
        }
    }

    async fn client(&self) -> async_nats::Client {
        async_nats::connect(self.broker().url).await.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn unit(set: u32, attempt: u32) -> WorkUnit {
    let id = UnitId { run: RUN.to_owned(), set, attempt };
    let terms = Terms { clock: None, ..Terms::default() };
    WorkUnit {
        id,
        game: "checkers".to_owned(),
        rules: 1,
        game_files: None,
        seats: 2,
        sides: 2,
        terms,
        options: serde_json::value::RawValue::from_string("{}".to_owned()).unwrap(),
        opening: Opening::None,
        deal: None,
        bots: Vec::new(),
        avoid: Vec::new(),
        matches: Vec::new(),
    }
}

/// What a scripted coordinator has seen.
#[derive(Debug, Default)]
struct Seen {
    counted: BTreeMap<u32, String>,
    duplicates: u32,
    /// Deliveries by set.
    taken: BTreeMap<u32, u32>,
    moved: BTreeSet<u32>,
    /// Sets that were given up.
    lost: BTreeSet<u32>,
    joined: Vec<String>,
    incompatible: Vec<String>,
    left: Vec<String>,
}

/// A coordinator that counts the first outcome of each set.
struct Core {
    orders: UnboundedSender<Order>,
    seen: Rc<RefCell<Seen>>,
    end: JoinHandle<Result<(), CarrierError>>,
    core: JoinHandle<()>,
    archives: PathBuf,
}

impl Core {
    fn start(server: &Server) -> Core {
        Core::with(server, Rc::default())
    }

    /// Starts one that knows what an earlier one has seen.
    fn with(server: &Server, seen: Rc<RefCell<Seen>>) -> Core {
        Core::with_broker(server, server.broker(), seen)
    }

    /// Starts one whose broker hands no unit out again before a test ends.
    fn start_patient(server: &Server) -> Core {
        let times = CarrierTimes { ack_wait: 10 * TIMEOUT, ..TIMES };
        Core::with_times(server, (server.broker(), times), Rc::default())
    }

    fn with_broker(server: &Server, broker: Broker, seen: Rc<RefCell<Seen>>) -> Core {
        Core::with_times(server, (broker, TIMES), seen)
    }

    fn with_times(server: &Server, end: (Broker, CarrierTimes), seen: Rc<RefCell<Seen>>) -> Core {
        Core::with_trials(server, end, seen, None)
    }

    fn with_trials(
        server: &Server,
        (broker, times): (Broker, CarrierTimes),
        seen: Rc<RefCell<Seen>>,
        trials: Option<TrialStates>,
    ) -> Core {
        let archives = server.folder.path().to_owned();
        let end = NatsCoordinator {
            broker,
            run: RUN.to_owned(),
            archives: archives.clone(),
            key: key(1),
            times,
            trials,
        };
        let (orders, for_end) = unbounded_channel();
        let (sender, events) = unbounded_channel();
        let end = spawn_local(end.serve(for_end, sender));
        let core = spawn_local(Core::run(events, orders.clone(), seen.clone()));
        Core { orders, seen, end, core, archives }
    }

    async fn run(
        mut events: UnboundedReceiver<CarrierEvent>,
        orders: UnboundedSender<Order>,
        seen: Rc<RefCell<Seen>>,
    ) {
        let mut known = BTreeSet::new();
        while let Some(event) = events.recv().await {
            let mut seen = seen.borrow_mut();
            match event {
                CarrierEvent::Joined(machine, _) => {
                    seen.joined.push(machine.name.clone());
                    if known.insert(machine.name.clone()) {
                        let admitted = Order::SetState(RUN.to_owned(), machine.name, MachineState::Active);
                        let _ = orders.send(admitted);
                    }
                }
                CarrierEvent::Incompatible(worker, _) => seen.incompatible.push(worker),
                CarrierEvent::Left(worker) => seen.left.push(worker),
                CarrierEvent::Taken(unit, _) => *seen.taken.entry(unit.set).or_default() += 1,
                CarrierEvent::Moved(unit, _) => drop(seen.moved.insert(unit.set)),
                CarrierEvent::Returned(id, _, Returned::Lost) if seen.taken.get(&id.set) >= Some(&4) => {
                    seen.lost.insert(id.set);
                }
                CarrierEvent::Returned(id, _, _) => {
                    let _ = orders.send(Order::Publish(Box::new(unit(id.set, id.attempt))));
                }
                CarrierEvent::Played(outcome, worker) => {
                    let id = outcome.unit;
                    let verdict = match seen.counted.entry(id.set) {
                        Entry::Vacant(entry) => {
                            entry.insert(worker.clone());
                            OutcomeVerdict::Counted
                        }
                        Entry::Occupied(_) => {
                            seen.duplicates += 1;
                            OutcomeVerdict::Duplicate
                        }
                    };
                    let _ = orders.send(Order::Verdict { unit: id, worker, verdict });
                }
            }
        }
    }

    fn publish(&self, sets: impl IntoIterator<Item = u32>) {
        for set in sets {
            self.orders.send(Order::Publish(Box::new(unit(set, 1)))).unwrap();
        }
    }

    async fn until(&self, what: &str, is_done: impl Fn(&Seen) -> bool) {
        let began = Instant::now();
        while !is_done(&self.seen.borrow()) {
            assert!(began.elapsed() < TIMEOUT, "{what}: {:?}", self.seen.borrow());
            assert!(!self.end.is_finished(), "{what}: the carrier has failed");
            sleep(Duration::from_millis(5)).await;
        }
    }

    async fn until_counted(&self, count: usize) {
        self.until("sets are counted", |seen| seen.counted.len() == count).await;
    }

    /// Ends it, as after a crash without a word to the workers.
    fn abort(self) -> Rc<RefCell<Seen>> {
        self.end.abort();
        self.core.abort();
        self.seen
    }

    async fn close(self) {
        drop(self.orders);
        self.core.abort();
        timeout(TIMEOUT, self.end).await.expect("it ends").unwrap().unwrap();
    }
}

/// How a scripted worker plays.
#[derive(Clone, Copy, PartialEq)]
enum Script {
    /// It plays units in this many milliseconds.
    Plays(u64),
    /// Its matches make no progress, but it reports its units.
    Hangs,
    /// Set 1 kills it.
    Dies,
    /// Its records have 3 MB.
    Large,
}

struct Player {
    requests: UnboundedSender<Request>,
    log: Rc<RefCell<Vec<Assignment>>>,
    most: Rc<RefCell<usize>>,
    end: JoinHandle<Result<(), CarrierError>>,
}

impl Player {
    fn start(server: &Server, name: &str, slots: usize, script: Script) -> Player {
        Player::with(server.broker(), name, slots, script)
    }

    fn with(broker: Broker, name: &str, slots: usize, script: Script) -> Player {
        Player::with_times((broker, TIMES), name, slots, script)
    }

    fn with_times(
        (broker, times): (Broker, CarrierTimes),
        name: &str,
        slots: usize,
        script: Script,
    ) -> Player {
        let machine = Machine { name: name.to_owned(), slots: slots as u32, ..Machine::default() };
        Player::on((broker, times), machine, script)
    }

    /// A worker on this machine.
    fn on((broker, times): (Broker, CarrierTimes), machine: Machine, script: Script) -> Player {
        let slots = machine.slots as usize;
        let end = NatsWorker { broker, machine, trusted: key(1).trusted(), times };
        let (requests, for_end) = unbounded_channel();
        let (sender, assignments) = unbounded_channel();
        let end = spawn_local(end.serve(for_end, sender));
        let (log, most) = (Rc::<RefCell<Vec<Assignment>>>::default(), Rc::default());
        requests.send(Request::Free(slots)).unwrap();
        let killer = end.abort_handle();
        spawn_local(Player::run(
            assignments,
            requests.clone(),
            (log.clone(), Rc::clone(&most)),
            script,
            killer,
        ));
        Player { requests, log, most, end }
    }

    async fn run(
        mut assignments: UnboundedReceiver<Assignment>,
        requests: UnboundedSender<Request>,
        (log, most): (Rc<RefCell<Vec<Assignment>>>, Rc<RefCell<usize>>),
        script: Script,
        killer: tokio::task::AbortHandle,
    ) {
        let mut playing = BTreeSet::new();
        while let Some(assignment) = assignments.recv().await {
            log.borrow_mut().push(assignment.clone());
            match assignment {
                Assignment::Play(unit) => {
                    playing.insert(unit.id.clone());
                    let busiest = playing.len().max(*most.borrow());
                    *most.borrow_mut() = busiest;
                    if script == Script::Dies && unit.id.set == 1 {
                        sleep(Duration::from_millis(20)).await;
                        killer.abort();
                        return;
                    }
                    if script != Script::Hangs {
                        spawn_local(play(unit.id, requests.clone(), script));
                    }
                }
                Assignment::Verdict(unit, _) | Assignment::Withdrawn(unit) => {
                    playing.remove(&unit);
                    let _ = requests.send(Request::Free(1));
                }
                _ => {}
            }
        }
    }

    fn has(&self, is_it: impl Fn(&Assignment) -> bool) -> bool {
        self.log.borrow().iter().any(is_it)
    }

    async fn close(self) {
        drop(self.requests);
        self.end.abort();
    }
}

async fn play(unit: UnitId, requests: UnboundedSender<Request>, script: Script) {
    let Script::Plays(time) = script else {
        let noise = |n: u64| n.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let mut seed = 1;
        let record = (0..3_000_000).map(|_| {
            seed = noise(seed);
            (seed >> 56) as u8
        });
        let _ = requests.send(Request::Played(UnitOutcome { unit, records: vec![record.collect()] }));
        return;
    };
    for _ in 0..10 {
        sleep(Duration::from_millis(time) / 10).await;
        let _ = requests.send(Request::Moved(unit.clone()));
    }
    let _ = requests.send(Request::Played(UnitOutcome { unit, records: vec![b"{}\n".to_vec()] }));
}

/// Runs a test on one thread, as the ends do.
fn on_one_thread(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, test);
}

/// Waits until something holds, which a worker or the broker may do a moment later.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < TIMEOUT, "{what}");
        sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until no set is in the stream.
async fn until_empty(server: &Server) {
    let jetstream = async_nats::jetstream::new(server.client().await);
    let mut stream = jetstream.get_stream("referee-2").await.unwrap();
    until("the stream is empty", async || stream.info().await.unwrap().state.messages == 0).await;
}

#[test]
fn every_set_is_played_once_and_no_worker_has_more_than_its_slots() {
    on_one_thread(async {
        let server = Server::start(&[]);
        // On a busy machine the scaled times may pass without a fault: a set that no worker has reported for one and a half
        // times `hello` would be published again.
        let times = CarrierTimes {
            ack_wait: 10 * TIMEOUT,
            hello: TIMEOUT / 10,
            lost: TIMEOUT,
            resend: TIMEOUT,
            ..TIMES
        };
        let core = Core::with_times(&server, (server.broker(), times), Rc::default());
        let workers = ["one", "two.example", "three_3"]
            .map(|name| Player::with_times((server.broker(), times), name, 2, Script::Plays(5)));
        let (connection, _links) = server.broker().connect("test", "_INBOX").await.unwrap();
        let all_wait = async || {
            let consumer = connection.consumer().await;
            consumer.is_ok_and(|consumer| consumer.cached_info().num_waiting == 6)
        };
        until("all workers wait for sets", all_wait).await;
        core.publish(1..=60);
        core.until_counted(60).await;
        {
            let seen = core.seen.borrow();
            assert_eq!((seen.duplicates, seen.taken.len()), (0, 60), "{seen:?}");
            assert!(seen.taken.values().all(|&deliveries| deliveries == 1), "{seen:?}");
            let by: BTreeSet<&String> = seen.counted.values().collect();
            assert_eq!(by.len(), 3, "each plays: {seen:?}");
        }
        assert!(workers.iter().all(|worker| *worker.most.borrow() <= 2));
        core.orders.send(Order::Over(RUN.to_owned())).unwrap();
        for worker in &workers {
            until("it is over", async || worker.has(|assignment| matches!(assignment, Assignment::Over(_))))
                .await;
        }
        core.close().await;
        until_empty(&server).await;
    });
}

#[test]
fn messages_that_arrive_twice_change_nothing() {
    on_one_thread(async {
        let server = Server::start(&[]);
        // Sends everything again, once.
        let echo = server.client().await;
        let mut all = echo.subscribe("referee.>").await.unwrap();
        echo.flush().await.unwrap();
        let echoing = spawn_local(async move {
            while let Some(message) = all.next().await {
                if message.headers.is_none() {
                    let mut headers = async_nats::HeaderMap::new();
                    headers.insert("Echo", "1");
                    echo.publish_with_headers(message.subject, headers, message.payload).await.unwrap();
                }
            }
        });
        let worker = Player::start(&server, "one", 2, Script::Plays(5));
        let core = Core::start(&server);
        core.publish(1..=20);
        core.until_counted(20).await;
        let counted =
            |assignment: &&Assignment| matches!(assignment, Assignment::Verdict(_, OutcomeVerdict::Counted));
        let all_counted = async || worker.log.borrow().iter().filter(counted).count() == 20;
        until("the worker knows the verdicts, once each", all_counted).await;
        let seen = core.seen.borrow();
        // A set that was published again after it had been acknowledged is played again.
        assert!(seen.taken.values().all(|&deliveries| deliveries <= 2), "{seen:?}");
        assert_eq!(seen.joined, ["one"]);
        echoing.abort();
    });
}

#[test]
fn a_coordinator_that_starts_again_gets_the_outcomes_that_wait_for_it() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let _worker = Player::start(&server, "one", 4, Script::Plays(30));
        let core = Core::start(&server);
        core.publish(1..=10);
        core.until("some are counted", |seen| seen.counted.len() >= 3).await;
        let seen = core.abort();
        sleep(TIMES.resend).await;
        let core = Core::with(&server, seen.clone());
        let open: Vec<u32> = (1..=10).filter(|set| !seen.borrow().counted.contains_key(set)).collect();
        core.publish(open);
        core.until_counted(10).await;
        assert_eq!(core.seen.borrow().joined, ["one", "one"]);
    });
}

#[test]
fn a_set_leaves_a_hanging_worker_that_still_reports_it() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let hangs = Player::start(&server, "hangs", 1, Script::Hangs);
        let core = Core::start(&server);
        core.publish([1]);
        core.until("it is taken", |seen| seen.taken.len() == 1).await;
        let began = Instant::now();
        let _plays = Player::start(&server, "plays", 1, Script::Plays(5));
        core.until_counted(1).await;
        assert!(began.elapsed() < TIMES.ack_wait * 4, "{:?}", began.elapsed());
        let seen = core.seen.borrow();
        assert_eq!(seen.counted[&1], "plays");
        assert!(!seen.left.contains(&"hangs".to_owned()) && !hangs.end.is_finished(), "it lives");
    });
}

#[test]
fn an_outcome_that_exceeds_a_message_goes_through_the_object_store() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let _worker = Player::start(&server, "one", 1, Script::Large);
        let core = Core::start(&server);
        core.publish([1, 2]);
        core.until_counted(2).await;
        core.close().await;
        let jetstream = async_nats::jetstream::new(server.client().await);
        let files = jetstream.get_object_store("referee-outcomes").await.unwrap();
        let are_deleted = async || {
            // A list never ends if what it waits for is deleted in the meantime.
            let left = async { files.list().await.unwrap().collect::<Vec<_>>().await };
            let left = timeout(Duration::from_secs(1), left).await;
            left.is_ok_and(|left| left.into_iter().all(|file| file.unwrap().deleted))
        };
        until("outcomes that were judged are deleted", are_deleted).await;
    });
}

#[test]
fn an_archive_reaches_a_worker_through_the_object_store() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let core = Core::start(&server);
        let bot = tempfile::tempdir().unwrap();
        std::fs::write(bot.path().join("bot"), vec![7; 2_000_000]).unwrap();
        let mut archive = Vec::new();
        let packed = pack_folder(bot.path(), ArchiveLimits::BOT, &mut archive).unwrap();
        std::fs::write(core.archives.join(format!("{}.tar", packed.id)), &archive).unwrap();
        let (connection, _links) = server.broker().connect("test", "_INBOX").await.unwrap();
        connection
            .upload(&packed.id.to_string(), &core.archives.join(format!("{}.tar", packed.id)))
            .await
            .unwrap();
        let worker = Player::start(&server, "one", 1, Script::Plays(5));
        let to = server.folder.path().join("fetched");
        worker.requests.send(Request::Fetch(packed.id, to.clone())).unwrap();
        let fetched = |assignment: &Assignment| matches!(assignment, Assignment::Fetched(_, Ok(())));
        until("it is fetched", async || worker.has(fetched)).await;
        assert_eq!(std::fs::read(to).unwrap(), archive);
        worker.close().await;
    });
}

#[test]
fn a_drained_worker_gets_no_more_sets_even_after_it_starts_again() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let worker = Player::start(&server, "one", 1, Script::Plays(5));
        let core = Core::start(&server);
        core.publish([1]);
        core.until_counted(1).await;
        core.orders.send(Order::SetState(RUN.to_owned(), "one".to_owned(), MachineState::Drained)).unwrap();
        let is_drained =
            |assignment: &Assignment| matches!(assignment, Assignment::State(_, MachineState::Drained));
        until("it drains", async || worker.has(is_drained)).await;
        worker.close().await;
        let again = Player::start(&server, "one", 1, Script::Plays(5));
        until("it drains again", async || again.has(is_drained)).await;
    });
}

#[test]
fn a_withdrawn_set_leaves_the_broker_and_its_worker() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let worker = Player::start(&server, "one", 1, Script::Hangs);
        let core = Core::start(&server);
        core.publish([1, 2]);
        core.until("one is taken", |seen| !seen.taken.is_empty()).await;
        for set in [1, 2] {
            core.orders.send(Order::Withdraw(unit(set, 1).id)).unwrap();
        }
        let withdrawn = |assignment: &Assignment| matches!(assignment, Assignment::Withdrawn(_));
        until("it is withdrawn", async || worker.has(withdrawn)).await;
        core.close().await;
        until_empty(&server).await;
    });
}

#[test]
fn credentials_come_from_a_file_of_the_user() {
    use std::os::unix::fs::PermissionsExt;
    on_one_thread(async {
        let server = Server::start(&["--user", "cup", "--pass", "secret"]);
        let file = server.folder.path().join("credentials");
        let connect = async |text: &str, mode: u32| {
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let broker = Broker { credentials: Some(file.clone()), ..server.broker() };
            broker.connect("test", "_INBOX").await.map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(connect("cup:secret\n", 0o600).await, Ok(()));
        let error = connect("cup:wrong", 0o600).await.unwrap_err();
        assert!(error.contains("authorization violation") && error.contains(&server.broker().url), "{error}");
        let error = connect("cup:secret", 0o644).await.unwrap_err();
        assert!(error.contains("chmod 600"), "{error}");
        let error = connect("two words", 0o600).await.unwrap_err();
        assert!(error.contains("expected NATS credentials"), "{error}");
        let error = server.broker().connect("test", "_INBOX").await.unwrap_err().to_string();
        assert!(error.contains("authorization violation"), "{error}");
    });
    on_one_thread(async {
        let (url, queue) = ("nats://127.0.0.1:1".to_owned(), "q".to_owned());
        let nowhere = Broker { url, queue, credentials: None, ca: None, identity: None };
        let error = nowhere.connect("test", "_INBOX").await.unwrap_err().to_string();
        assert!(error.starts_with("nats://127.0.0.1:1: "), "{error}");
    });
}

#[test]
fn a_connection_with_tls_trusts_the_given_certificates_only() {
    on_one_thread(async {
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        std::fs::write(&cert, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let path = |path: &Path| path.to_str().unwrap().to_owned();
        let server = Server::start(&["--tls", "--tlscert", &path(&cert), "--tlskey", &path(&key)]);
        let url = format!("tls://localhost:{}", server.port);
        let trusting = Broker { url: url.clone(), ca: Some(cert.clone()), ..server.broker() };
        trusting.connect("test", "_INBOX").await.unwrap();
        let error =
            Broker { url, ..server.broker() }.connect("test", "_INBOX").await.unwrap_err().to_string();
        assert!(error.to_lowercase().contains("certificate"), "{error}");
        // A server that verifies its clients.
        let (chain, private) = (path(&cert), path(&key));
        let verify = ["--tlsverify", "--tlscert", &chain, "--tlskey", &private, "--tlscacert", &chain];
        let server = Server::start(&verify);
        let url = format!("tls://localhost:{}", server.port);
        let unknown = Broker { url, ca: Some(cert.clone()), ..server.broker() };
        assert!(unknown.connect("test", "_INBOX").await.is_err());
        Broker { identity: Some((cert, key)), ..unknown }.connect("test", "_INBOX").await.unwrap();
    });
}

/// Kills workers, the broker and the coordinator while sets are played.
async fn storm(sets: u32, restarts: usize) {
    let mut server = Server::start(&[]);
    let start = |server: &Server, number: usize| {
        Player::start(server, &format!("worker{number}"), 2, Script::Plays(20))
    };
    let mut workers: Vec<Player> = (0..4).map(|number| start(&server, number)).collect();
    let mut core = Core::start(&server);
    core.publish(1..=sets);
    let (mut killed, mut restarted) = (0, 0);
    while core.seen.borrow().counted.len() < sets as usize {
        sleep(Duration::from_millis(150)).await;
        // A killed worker comes back with its name, without its units.
        workers[killed % 4].end.abort();
        workers[killed % 4] = start(&server, killed % 4);
        killed += 1;
        let counted = core.seen.borrow().counted.len();
        if restarted < restarts && counted > sets as usize * (restarted + 1) / (restarts + 1) {
            restarted += 1;
            server.kill();
            let seen = core.abort();
            server.restart();
            core = Core::with(&server, seen.clone());
            let open: Vec<u32> = (1..=sets).filter(|set| !seen.borrow().counted.contains_key(set)).collect();
            core.publish(open);
        }
        // Sets that were given up at their fourth delivery are published again, as the coordinator does.
        let lost = std::mem::take(&mut core.seen.borrow_mut().lost);
        core.publish(lost);
        assert!(killed < 2000, "{:?}", core.seen.borrow());
    }
    assert_eq!(restarted, restarts);
    eprintln!(
        "{sets} sets, {killed} workers killed, {restarts} restarts, {:?} duplicates",
        core.seen.borrow().duplicates
    );
}

#[test]
fn every_set_is_counted_once_though_workers_broker_and_coordinator_are_killed() {
    let (sets, restarts) = if std::env::var_os("LONG_TESTS").is_some() { (1000, 5) } else { (40, 1) };
    on_one_thread(storm(sets, restarts));
}
