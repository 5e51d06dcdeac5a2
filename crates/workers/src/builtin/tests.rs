//! Partitions of the network, in virtual time. Coordinator, carrier and verification are real, with a network in memory that
//! drops, delays and doubles; the workers play without processes.

mod hostile;
mod trials;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc as blocking;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, duplex, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, interval, sleep, sleep_until};

use super::client::{greet, serve};
use super::frame::{self, FromCoordinator, FromWorker, VERSION, WorkerHello};
use super::hub::{FromConnection, WorkerHub};
use super::server::ServerContext;
use crate::Coordinator;
use crate::carrier::{Assignment, CarrierEvent, OutcomeVerdict, Request, Returned};
use crate::committer::Committer;
use crate::dispatcher::Dispatcher;
use crate::machine::Machine;
use crate::tests::{job, play, schedule};
use crate::unit::{UnitId, UnitOutcome, WorkUnit};
use referee_engine::runner::{EndedMatch, RunEnd, RunEvent};
use referee_game::Catalog;
use referee_game::chance::{RandomStream, Seed, Uniform};
use referee_store::{Leases, WorkerRow};

const SETS: u32 = 40;
/// The time in which a worker plays a set.
const TAKES: Duration = Duration::from_secs(20);

/// The network between a worker and the coordinator.
#[derive(Clone)]
struct Network {
    /// Nothing passes from the first of these times to the second.
    partition: (Instant, Instant),
    /// Whether it also delays and doubles messages, and loses connections, at random.
    is_bad: bool,
    rng: Rc<Cell<u64>>,
}

impl Network {
    fn roll(&self, of: u64) -> u64 {
        let number = self.rng.replace(self.rng.get() + 1);
        let mut stream: RandomStream =
            Seed([3; 32]).match_key("network", &number.to_string(), &[""; 0]).stream();
        stream.uniform(of)
    }

    /// Waits for the end of the partition.
    async fn pass(&self) {
        let (from, to) = self.partition;
        if (from..to).contains(&Instant::now()) {
            sleep_until(to).await;
        }
    }

    /// Passes frames on. Returns when the connection is lost.
    async fn relay(
        &self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        for number in 0.. {
            let lengths = [from.read_u32().await?, from.read_u32().await?];
            let mut frame: Vec<u8> = lengths.iter().flat_map(|length| length.to_be_bytes()).collect();
            let body: usize = lengths.iter().map(|&length| length as usize).sum();
            frame.resize(8 + body, 0);
            from.read_exact(&mut frame[8..]).await?;
            // Bytes sent during a partition arrive after it, unless an end has given the connection up.
            self.pass().await;
            let mut times = 1;
            if self.is_bad {
                sleep(Duration::from_millis(self.roll(3000))).await;
                match self.roll(50) {
                    0 => return Ok(()),
                    1..10 if number > 0 => times = 2,
                    _ => {}
                }
            }
            for _ in 0..times {
                to.write_all(&frame).await?;
            }
        }
        Ok(())
    }

    /// Connects to the coordinator.
    async fn connect(&self, context: &Arc<ServerContext>, hello: &WorkerHello) -> io::Result<DuplexStream> {
        self.pass().await;
        let ((mut own, near), (far, mut other)) = (duplex(1 << 20), duplex(1 << 20));
        let network = self.clone();
        spawn_local(async move {
            let ((read_near, write_near), (read_far, write_far)) = (split(near), split(far));
            // Both directions end together.
            tokio::select! {
                lost = network.relay(read_near, write_far) => lost,
                lost = network.relay(read_far, write_near) => lost,
            }
        });
        let context = Arc::clone(context);
        spawn_local(async move {
            if let Ok(hello) = context.admit(&mut other).await {
                context.serve(other, hello).await;
            }
        });
        greet(&mut own, hello).await.map(|()| own)
    }
}

thread_local! {
    /// The records of each set: its bots always play the same moves.
    static PLAYED: RefCell<BTreeMap<u32, Vec<Vec<u8>>>> = const { RefCell::new(BTreeMap::new()) };
}

fn outcome(unit: &WorkUnit, catalog: &Catalog) -> UnitOutcome {
    let records = PLAYED.with_borrow_mut(|played| {
        played.entry(unit.id.set).or_insert_with(|| play(unit, catalog).records).clone()
    });
    UnitOutcome { unit: unit.id.clone(), records }
}

/// Plays units one after the other, each for some time.
async fn work(
    mut assignments: UnboundedReceiver<Assignment>,
    requests: UnboundedSender<Request>,
    catalog: Catalog,
) {
    let (mut units, mut until) = (VecDeque::<WorkUnit>::new(), Instant::now());
    let mut ticks = interval(Duration::from_secs(10));
    let request = |request| drop(requests.send(request));
    request(Request::Free(1));
    loop {
        tokio::select! {
            assignment = assignments.recv() => match assignment {
                Some(Assignment::Play(unit)) if units.iter().all(|known| known.id != unit.id) => {
                    if units.is_empty() {
                        until = Instant::now() + TAKES;
                    }
                    units.push_back(*unit);
                }
                Some(Assignment::Withdrawn(id)) => {
                    let before = units.len();
                    units.retain(|unit| unit.id != id);
                    (units.len()..before).for_each(|_| request(Request::Free(1)));
                }
                Some(_) => {}
                None => return,
            },
            () = sleep_until(until), if !units.is_empty() => {
                if let Some(unit) = units.pop_front() {
                    request(Request::Played(outcome(&unit, &catalog)));
                    request(Request::Free(1));
                }
                until = Instant::now() + TAKES;
            }
            _ = ticks.tick() => units.front().into_iter().for_each(|unit| request(Request::Moved(unit.id.clone()))),
        }
    }
}

/// Plays with two workers, whose network fails as stated, in seconds. Returns the ranks by match, and the workers.
async fn run(
    partitions: [(u64, u64); 2],
    is_bad: bool,
) -> (BTreeMap<String, Vec<u8>>, BTreeMap<String, WorkerRow>) {
    let catalog = referee_games::catalog();
    let (orders, of_coordinator) = unbounded_channel();
    let (to_coordinator, events) = unbounded_channel();
    let (to_hub, of_connections) = channel(256);
    spawn_local(WorkerHub::new(to_coordinator).run(of_coordinator, of_connections));
    let tokens = [("worker".to_owned(), Sha256::digest("token").into())].into();
    let context = Arc::new(ServerContext::new(tokens, to_hub, "/nowhere".into()));
    let at = |seconds| Instant::now() + Duration::from_secs(seconds);
    for (number, (from, to)) in partitions.into_iter().enumerate() {
        let network = Network { partition: (at(from), at(to)), is_bad, rng: Rc::default() };
        let (requests, of_worker) = unbounded_channel();
        let (to_worker, assignments) = unbounded_channel();
        spawn_local(work(assignments, requests, catalog.clone()));
        let context = Arc::clone(&context);
        spawn_local(async move {
            let connect = async |holding: Vec<UnitId>| {
                let machine = Machine { name: format!("box{number}"), slots: 1, ..Machine::default() };
                let (name, token) = ("worker".to_owned(), "token".to_owned());
                let instance = number as u64;
                network
                    .connect(
                        &context,
                        &WorkerHello { version: VERSION, name, token, machine, instance, holding },
                    )
                    .await
            };
            serve(connect, of_worker, to_worker).await
        });
    }
    let leases = Leases::in_memory(&[1; 16]).unwrap();
    let no_thread = std::thread::spawn(|| Ok(()));
    let timeout = Duration::from_secs(300);
    let mut coordinator = Coordinator::with(orders, events, Arc::new(no_thread), leases, timeout).unwrap();
    let mut ranks = BTreeMap::new();
    let on_event = |event: RunEvent<'_>| {
        if let RunEvent::Ended(EndedMatch { finished, .. }) = event {
            let before = ranks.insert(finished.id.clone(), finished.ending.ranks.clone().unwrap());
            assert_eq!(before, None, "{} counts twice", finished.id);
        }
        Ok(())
    };
    let mut job = job(&catalog);
    let mut committer = Committer::new(&mut job, on_event);
    let (to_commit, of_dispatcher) = blocking::channel();
    let (to_dispatcher, committed) = unbounded_channel();
    // On this thread, so that no time passes meanwhile.
    let commit = async move {
        loop {
            match of_dispatcher.try_recv() {
                Ok(first) => committer.step(first, &of_dispatcher, &to_dispatcher),
                Err(blocking::TryRecvError::Empty) => sleep(Duration::from_millis(100)).await,
                Err(blocking::TryRecvError::Disconnected) => return,
            }
        }
    };
    let mut end = RunEnd::default();
    let dispatcher = Dispatcher::new(&mut coordinator, &job, schedule(SETS), to_commit);
    let played = dispatcher.run(committed, future::pending(), None, &mut end);
    tokio::join!(played, commit);
    assert!(end.why.is_none() && end.given_up.is_empty(), "{end:?}");
    let workers = coordinator.leases.workers().unwrap().into_iter().map(|row| (row.name.clone(), row));
    let workers: BTreeMap<String, WorkerRow> = workers.collect();
    assert_eq!(workers.values().map(|row| row.sets).sum::<u32>(), SETS, "each set counts once");
    (ranks, workers)
}

const CALM: (u64, u64) = (0, 0);

#[tokio::test(start_paused = true)]
async fn after_a_partition_of_30_seconds_every_set_counts_once() {
    let results = async {
        let (calm, _) = run([CALM; 2], false).await;
        // It begins while the worker plays, and at several times between two frames.
        for from in [25, 38] {
            let (with, workers) = run([(from, from + 30), CALM], false).await;
            assert_eq!(with, calm);
            assert!(workers["box0"].sets > SETS / 4, "the worker plays on: {workers:?}");
            let (with, workers) = run([(from, from + 30); 2], false).await;
            assert_eq!(with, calm);
            assert!(workers.values().all(|row| row.state == "active"), "{workers:?}");
        }
    };
    LocalSet::new().run_until(results).await;
}

#[tokio::test(start_paused = true)]
async fn set_played_elsewhere_during_partition_counts_once() {
    let results = async {
        let (calm, _) = run([CALM; 2], false).await;
        let (with, workers) = run([(25, 625), CALM], false).await;
        assert_eq!(with, calm);
        let cut = &workers["box0"];
        assert_eq!((cut.lost, cut.duplicates, &*cut.state), (1, 1, "active"), "{cut:?}");
        assert!(cut.sets > 1, "it plays on: {cut:?}");
        // Both workers are cut off at the same time.
        let (with, _) = run([(25, 625); 2], false).await;
        assert_eq!(with, calm);
    };
    LocalSet::new().run_until(results).await;
}

#[tokio::test(start_paused = true)]
async fn a_network_that_drops_delays_and_doubles_changes_no_result() {
    let results = async {
        let (calm, _) = run([CALM; 2], false).await;
        for partition in [CALM, (25, 55), (25, 625)] {
            assert_eq!(run([partition, CALM], true).await.0, calm);
        }
    };
    LocalSet::new().run_until(results).await;
}

#[tokio::test(start_paused = true)]
async fn worker_returns_with_its_units_after_coordinator_was_suspended() {
    let (_orders, of_coordinator) = unbounded_channel();
    let (to_coordinator, mut events) = unbounded_channel();
    let (to_hub, of_connections) = channel(256);
    let hub = WorkerHub::new(to_coordinator).run(of_coordinator, of_connections);
    let unit = UnitId { run: "run".to_owned(), set: 1, attempt: 1 };
    let join = async || {
        let machine = Machine { name: "box".to_owned(), ..Machine::default() };
        let (name, token, holding) = ("worker".to_owned(), "token".to_owned(), vec![unit.clone()]);
        let hello = WorkerHello { version: VERSION, name, token, machine, instance: 1, holding };
        to_hub.send(FromConnection::Joined(hello, unbounded_channel().0)).await.unwrap();
    };
    let scenario = async {
        join().await;
        to_hub.send(FromConnection::Left("box".to_owned(), 1)).await.unwrap();
        sleep(Duration::from_secs(1)).await;
        tokio::time::advance(Duration::from_secs(60)).await;
        sleep(Duration::from_secs(1)).await;
        join().await;
        sleep(Duration::from_secs(60)).await;
    };
    tokio::select! {
        () = hub => unreachable!("it runs as long as there may be orders"),
        () = scenario => {}
    }
    let received: Vec<CarrierEvent> = std::iter::from_fn(|| events.try_recv().ok()).collect();
    assert!(!received.iter().any(|event| matches!(event, CarrierEvent::Returned(..))), "{received:?}");
}

/// A worker returns a unit and ends while the coordinator writes.
async fn end_while_the_coordinator_writes() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (requests, of_worker) = unbounded_channel();
    let unit = UnitId { run: "run".to_owned(), set: 1, attempt: 1 };
    let worker = serve(async |_| TcpStream::connect(address).await, of_worker, unbounded_channel().0);
    let coordinator = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        frame::read::<FromWorker>(&mut stream).await.expect("the worker is connected");
        requests.send(Request::Return(unit.clone(), Returned::Stopped)).unwrap();
        drop(requests);
        for _ in 0..1000 {
            // It fails when the worker has closed the connection.
            let _ = frame::write(&mut stream, &FromCoordinator::Alive, &[]).await;
        }
        sleep(Duration::from_millis(50)).await;
        loop {
            match frame::read::<FromWorker>(&mut stream).await.expect("what the worker sent").0 {
                FromWorker::Returned(id, _) => assert_eq!(id, unit),
                FromWorker::Bye => break,
                _ => {}
            }
        }
    };
    let (worker, ()) = tokio::join!(worker, coordinator);
    worker.unwrap();
}

#[tokio::test]
async fn what_a_worker_sends_last_arrives_while_the_coordinator_writes() {
    // Data that the worker has not read must be left when it ends, which happens in some of the runs.
    for _ in 0..10 {
        end_while_the_coordinator_writes().await;
    }
}
