//! Workers with a token that send invalid messages.

use super::*;
use crate::archive::ArchiveId;
use crate::carrier::Order;
use crate::machine::MachineState;
use crate::tests::first_unit;

/// A coordinator's end, and its events.
struct Hub {
    orders: UnboundedSender<Order>,
    events: UnboundedReceiver<CarrierEvent>,
    context: Arc<ServerContext>,
}

impl Hub {
    fn start(archives: &std::path::Path) -> Hub {
        let (orders, of_coordinator) = unbounded_channel();
        let (to_coordinator, events) = unbounded_channel();
        let (to_hub, of_connections) = channel(256);
        spawn_local(WorkerHub::new(to_coordinator).run(of_coordinator, of_connections));
        let tokens = [("worker".to_owned(), Sha256::digest("token").into())].into();
        Hub { orders, events, context: Arc::new(ServerContext::new(tokens, to_hub, archives.to_owned())) }
    }

    async fn connect(&self) -> DuplexStream {
        let (mut own, mut other) = duplex(1 << 16);
        let context = Arc::clone(&self.context);
        spawn_local(async move {
            let hello = context.admit(&mut other).await.expect("it has a token");
            context.serve(other, hello).await;
        });
        let machine = Machine { name: "box".to_owned(), slots: 1, ..Machine::default() };
        let (name, token, holding) = ("worker".to_owned(), "token".to_owned(), Vec::new());
        let hello = WorkerHello { version: VERSION, name, token, machine, instance: 1, holding };
        greet(&mut own, &hello).await.expect("it is admitted");
        own
    }

    /// The events that have arrived, by their kinds.
    async fn passed(&mut self) -> Vec<&'static str> {
        sleep(Duration::from_millis(200)).await;
        let kind = |event| match event {
            CarrierEvent::Joined(..) => "joined",
            CarrierEvent::Taken(..) => "taken",
            CarrierEvent::Moved(..) => "moved",
            CarrierEvent::Played(..) => "played",
            _ => "another",
        };
        std::iter::from_fn(|| self.events.try_recv().ok()).map(kind).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn worker_that_reads_no_archives_is_not_read_any_more() {
    let archives = tempfile::tempdir().unwrap();
    let id: ArchiveId = serde_json::from_value("0".repeat(64).into()).unwrap();
    std::fs::write(archives.path().join(format!("{id}.tar")), vec![0; 1 << 20]).unwrap();
    let test = async {
        let hub = Hub::start(archives.path());
        let mut worker = hub.connect().await;
        let mut sent = 0;
        let flood = async {
            loop {
                frame::write(&mut worker, &FromWorker::Fetch(id, 0), &[]).await?;
                sent += 1;
            }
        };
        let ended: Result<io::Result<()>, _> = tokio::time::timeout(Duration::from_secs(120), flood).await;
        assert!(ended.expect("the connection ends").is_err());
        // The buffers of the connection are larger.
        assert!(sent < 2000, "{sent} requests were read");
    };
    LocalSet::new().run_until(test).await;
}

#[test]
fn worker_has_one_outcome_for_each_unit_that_it_has() {
    let catalog = referee_games::catalog();
    let unit = first_unit(&catalog);
    let bytes = outcome(&unit, &catalog).encode().unwrap();
    let test = async {
        let mut hub = Hub::start("/nowhere".as_ref());
        let mut worker = hub.connect().await;
        let run = unit.id.run.clone();
        let send = async |worker: &mut DuplexStream, id: &UnitId| {
            frame::write(worker, &FromWorker::Played(id.clone()), &bytes).await.unwrap();
        };
        assert_eq!(hub.passed().await, ["joined"]);
        // It never had this unit.
        send(&mut worker, &unit.id).await;
        assert_eq!(hub.passed().await, [""; 0]);
        hub.orders.send(Order::Publish(Box::new(unit.clone()))).unwrap();
        frame::write(&mut worker, &FromWorker::Free(1), &[]).await.unwrap();
        assert_eq!(hub.passed().await, [""; 0], "its machine is not judged yet");
        hub.orders.send(Order::SetState(run, "box".to_owned(), MachineState::Active)).unwrap();
        assert_eq!(hub.passed().await, ["taken"]);
        for _ in 0..100 {
            frame::write(&mut worker, &FromWorker::Moved(unit.id.clone()), &[]).await.unwrap();
        }
        assert_eq!(hub.passed().await, ["moved"], "at most once a second");
        for _ in 0..12 {
            send(&mut worker, &unit.id).await;
        }
        assert_eq!(hub.passed().await, ["played"], "until there is a verdict");
        let verdict = OutcomeVerdict::Counted;
        hub.orders.send(Order::Verdict { unit: unit.id.clone(), worker: "box".to_owned(), verdict }).unwrap();
        send(&mut worker, &unit.id).await;
        assert_eq!(hub.passed().await, [""; 0], "it does not have it any more");
        let mut verdicts = Vec::new();
        while let Ok(Ok((message, _))) =
            tokio::time::timeout(Duration::from_secs(1), frame::read::<FromCoordinator>(&mut worker)).await
        {
            if let FromCoordinator::Verdict(_, verdict) = message {
                verdicts.push(verdict);
            }
        }
        assert_eq!(verdicts, [OutcomeVerdict::Duplicate, OutcomeVerdict::Counted, OutcomeVerdict::Duplicate]);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    LocalSet::new().block_on(&runtime.unwrap(), test);
}
