//! A coordinator that follows a script.

use std::collections::btree_map::Entry;

use referee_engine::driver::Terms;
use referee_game::Wrong;
use referee_match::Opening;

use super::*;

pub(super) fn unit(set: u32, attempt: u32) -> WorkUnit {
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

/// The messages that a scripted coordinator has received.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) counted: BTreeMap<u32, String>,
    pub(super) duplicates: u32,
    /// Deliveries by set.
    pub(super) taken: BTreeMap<u32, u32>,
    pub(super) moved: BTreeSet<u32>,
    pub(super) lost: BTreeSet<u32>,
    pub(super) joined: Vec<String>,
    pub(super) incompatible: Vec<String>,
    pub(super) left: Vec<String>,
}

/// A coordinator that counts the first outcome of each set.
pub(super) struct Core {
    pub(super) orders: UnboundedSender<Order>,
    pub(super) seen: Rc<RefCell<Seen>>,
    pub(super) end: JoinHandle<Result<(), Wrong>>,
    pub(super) core: JoinHandle<()>,
    pub(super) archives: PathBuf,
}

impl Core {
    pub(super) fn start(server: &Server) -> Core {
        Core::with(server, Rc::default())
    }

    /// Starts one with the memory of an earlier one.
    pub(super) fn with(server: &Server, seen: Rc<RefCell<Seen>>) -> Core {
        Core::with_broker(server, server.broker(), seen)
    }

    /// Starts one whose broker hands no unit out again before a test ends.
    pub(super) fn start_patient(server: &Server) -> Core {
        let times = CarrierTimes { ack_wait: 10 * TIMEOUT, ..TIMES };
        Core::with_times(server, (server.broker(), times), Rc::default())
    }

    pub(super) fn with_broker(server: &Server, broker: Broker, seen: Rc<RefCell<Seen>>) -> Core {
        Core::with_times(server, (broker, TIMES), seen)
    }

    pub(super) fn with_times(server: &Server, end: (Broker, CarrierTimes), seen: Rc<RefCell<Seen>>) -> Core {
        Core::with_trials(server, end, seen, None)
    }

    pub(super) fn with_trials(
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

    pub(super) fn publish(&self, sets: impl IntoIterator<Item = u32>) {
        for set in sets {
            self.orders.send(Order::Publish(Box::new(unit(set, 1)))).unwrap();
        }
    }

    pub(super) async fn until(&self, what: &str, is_done: impl Fn(&Seen) -> bool) {
        let began = Instant::now();
        while !is_done(&self.seen.borrow()) {
            assert!(began.elapsed() < TIMEOUT, "{what}: {:?}", self.seen.borrow());
            assert!(!self.end.is_finished(), "{what}: the carrier has failed");
            sleep(Duration::from_millis(5)).await;
        }
    }

    pub(super) async fn until_counted(&self, count: usize) {
        self.until("sets are counted", |seen| seen.counted.len() == count).await;
    }

    /// Ends it, as after a crash without a word to the workers.
    pub(super) fn abort(self) -> Rc<RefCell<Seen>> {
        self.end.abort();
        self.core.abort();
        self.seen
    }

    pub(super) async fn close(self) {
        drop(self.orders);
        self.core.abort();
        timeout(TIMEOUT, self.end).await.expect("it ends").unwrap().unwrap();
    }
}
