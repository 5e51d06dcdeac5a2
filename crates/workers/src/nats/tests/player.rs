//! A worker that follows a script.

use super::*;
use referee_game::Wrong;

/// The script of a worker.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Script {
    /// It plays units in this many milliseconds.
    Plays(u64),
    /// The matches make no progress, but it reports its units.
    Hangs,
    /// Set 1 kills it.
    Dies,
    /// The records have 3 MB.
    Large,
}

pub(super) struct Player {
    pub(super) requests: UnboundedSender<Request>,
    pub(super) log: Rc<RefCell<Vec<Assignment>>>,
    pub(super) most: Rc<RefCell<usize>>,
    pub(super) end: JoinHandle<Result<(), Wrong>>,
}

impl Player {
    pub(super) fn start(server: &Server, name: &str, slots: usize, script: Script) -> Player {
        Player::with(server.broker(), name, slots, script)
    }

    pub(super) fn with(broker: Broker, name: &str, slots: usize, script: Script) -> Player {
        Player::with_times((broker, TIMES), name, slots, script)
    }

    pub(super) fn with_times(
        (broker, times): (Broker, CarrierTimes),
        name: &str,
        slots: usize,
        script: Script,
    ) -> Player {
        let machine = Machine { name: name.to_owned(), slots: slots as u32, ..Machine::default() };
        Player::on((broker, times), machine, script)
    }

    /// A worker on this machine.
    pub(super) fn on((broker, times): (Broker, CarrierTimes), machine: Machine, script: Script) -> Player {
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

    pub(super) fn has(&self, is_it: impl Fn(&Assignment) -> bool) -> bool {
        self.log.borrow().iter().any(is_it)
    }

    pub(super) async fn close(self) {
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
