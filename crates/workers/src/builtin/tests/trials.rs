//! Programs that the hub hands out to workers for builds and checks.

use super::*;
use crate::archive::ArchiveId;
use crate::builtin::hub::HubMessage;
use crate::carrier::Order;
use crate::trial::{BuiltArchive, TrialEvent, TrialJob, TrialQueue, TrialReply, TrialVerdict};

/// A hub without a network.
struct Hub {
    _orders: UnboundedSender<Order>,
    desk: TrialQueue,
    to_hub: tokio::sync::mpsc::Sender<FromConnection>,
}

/// A connection of a worker to it.
struct Connected {
    name: String,
    number: u64,
    of_hub: UnboundedReceiver<HubMessage>,
}

impl Hub {
    fn start() -> Hub {
        let (orders, of_coordinator) = unbounded_channel();
        let (to_hub, of_connections) = channel(256);
        spawn_local(WorkerHub::new(unbounded_channel().0).run(of_coordinator, of_connections));
        Hub { desk: TrialQueue::new(&orders), _orders: orders, to_hub }
    }

    /// Connects a worker with a free slot.
    async fn join(&self, name: &str, builds: bool) -> Connected {
        let machine = Machine { name: name.to_owned(), slots: 1, builds, ..Machine::default() };
        let (token, instance) = ("token".to_owned(), name.len() as u64);
        let hello = WorkerHello {
            version: VERSION,
            name: name.to_owned(),
            token,
            machine,
            instance,
            holding: Vec::new(),
        };
        let (to_worker, mut of_hub) = unbounded_channel();
        self.send(FromConnection::Joined(hello, to_worker)).await;
        let Some(HubMessage::Admitted(name, number)) = of_hub.recv().await else { panic!("not admitted") };
        self.send(FromConnection::Message(name.clone(), number, FromWorker::Free(1), None)).await;
        Connected { name, number, of_hub }
    }

    async fn send(&self, message: FromConnection) {
        assert!(self.to_hub.send(message).await.is_ok(), "the hub runs");
    }

    fn hand_out(&self, id: u64) -> UnboundedReceiver<TrialEvent> {
        let archive: ArchiveId = "0".repeat(64).parse().unwrap();
        self.desk.hand_out(TrialJob::of_test(id, archive)).unwrap()
    }

    /// Reports a trial, as this worker with the number of this connection.
    async fn report(&self, (worker, number): (&str, u64), id: u64, why: &str) {
        let reply = reply(why);
        self.send(FromConnection::Tried(worker.to_owned(), number, id, reply, BuiltArchive::default())).await;
    }
}

fn reply(why: &str) -> TrialReply {
    TrialReply { log: String::new(), verdict: TrialVerdict::Failed(why.to_owned()) }
}

async fn next(events: &mut UnboundedReceiver<TrialEvent>) -> TrialEvent {
    events.recv().await.expect("an event")
}

async fn taken(events: &mut UnboundedReceiver<TrialEvent>) -> String {
    match next(events).await {
        TrialEvent::Taken(worker) => worker,
        event => panic!("{event:?}"),
    }
}

/// The worker that reports, and its report.
async fn reported(events: &mut UnboundedReceiver<TrialEvent>) -> (String, TrialReply) {
    match next(events).await {
        TrialEvent::Reported(worker, reply, _) => (worker, reply),
        event => panic!("{event:?}"),
    }
}

fn run_paused(test: impl Future<Output = ()>) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    LocalSet::new().block_on(&runtime, test);
}

#[test]
fn a_trial_is_given_up_after_three_lost_workers() {
    run_paused(async {
        let hub = Hub::start();
        let mut events = hub.hand_out(7);
        for lost in 1..=3 {
            let worker = hub.join(&"w".repeat(lost), true).await;
            assert_eq!(taken(&mut events).await, worker.name);
            hub.send(FromConnection::Left(worker.name.clone(), worker.number)).await;
            match next(&mut events).await {
                TrialEvent::Lost(name) if lost < 3 => assert_eq!(name, worker.name),
                TrialEvent::GivenUp if lost == 3 => {}
                event => panic!("{event:?} after {lost}"),
            }
        }
        assert!(events.recv().await.is_none(), "this was the last event");
    });
}

#[test]
fn a_worker_that_was_interrupted_is_not_counted_as_lost() {
    run_paused(async {
        let hub = Hub::start();
        let mut events = hub.hand_out(7);
        for number in 1..=4 {
            let worker = hub.join(&"w".repeat(number), true).await;
            assert_eq!(taken(&mut events).await, worker.name);
            let (name, number) = (worker.name.clone(), worker.number);
            hub.send(FromConnection::Message(name.clone(), number, FromWorker::Bye, None)).await;
            hub.send(FromConnection::Left(name, number)).await;
        }
    });
}

#[test]
fn a_report_of_another_trial_or_another_connection_is_ignored() {
    run_paused(async {
        let hub = Hub::start();
        let worker = hub.join("one", true).await;
        let mut events = hub.hand_out(7);
        assert_eq!(taken(&mut events).await, "one");
        hub.report(("one", worker.number), 8, "another trial").await;
        hub.report(("one", worker.number - 1), 7, "an earlier connection").await;
        hub.report(("one", worker.number), 7, "its own").await;
        assert_eq!(reported(&mut events).await, ("one".to_owned(), reply("its own")));
        // A report that comes twice is of no trial.
        let mut events = hub.hand_out(9);
        hub.report(("one", worker.number), 7, "again").await;
        hub.send(FromConnection::Message("one".to_owned(), worker.number, FromWorker::Free(1), None)).await;
        assert_eq!(taken(&mut events).await, "one");
    });
}

#[test]
fn report_of_worker_that_does_not_have_trial_is_ignored() {
    run_paused(async {
        let hub = Hub::start();
        let first = hub.join("first", true).await;
        let mut events = hub.hand_out(7);
        assert_eq!(taken(&mut events).await, "first");
        let other = hub.join("other name", true).await;
        hub.report((&other.name, other.number), 7, "it was not asked").await;
        // A worker that returns after it was lost does not have it any more either.
        hub.send(FromConnection::Left("first".to_owned(), first.number)).await;
        let TrialEvent::Lost(_) = next(&mut events).await else { panic!("it was lost") };
        assert_eq!(taken(&mut events).await, other.name);
        let again = hub.join("first", true).await;
        hub.report(("first", again.number), 7, "it was lost").await;
        hub.report((&other.name, other.number), 7, "its own").await;
        assert_eq!(reported(&mut events).await, (other.name.clone(), reply("its own")));
    });
}

#[test]
fn only_building_worker_is_asked_and_nothing_withdrawn() {
    run_paused(async {
        let hub = Hub::start();
        let mut weak = hub.join("weak", false).await;
        let withdrawn = hub.hand_out(7);
        let mut events = hub.hand_out(8);
        drop(withdrawn);
        let mut strong = hub.join("strong", true).await;
        assert_eq!(taken(&mut events).await, "strong");
        let Some(HubMessage::Message(FromCoordinator::Try(job), _)) = strong.of_hub.recv().await else {
            panic!("it is asked")
        };
        assert_eq!(job.id, 8);
        assert!(weak.of_hub.try_recv().is_err(), "it is not");
    });
}
