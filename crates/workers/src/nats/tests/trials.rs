//! Programs that are handed out to workers for builds and checks.

use super::trust::{as_user, example};
use super::*;
use crate::archive::{ArchiveId, ArchiveLimits, pack_folder};
use crate::nats::envelope::VERSION;
use crate::trial::{BuiltArchive, TrialEvent, TrialJob, TrialQueue, TrialReply, TrialVerdict};

/// Times with which no worker counts as lost, whatever the machine does.
const PATIENT: CarrierTimes =
    CarrierTimes { ack_wait: TIMEOUT, lost: TIMEOUT, reconcile: Duration::from_millis(300), ..TIMES };

/// A coordinator whose workers also build, and an archive of a program.
struct League {
    server: Server,
    times: CarrierTimes,
    core: Core,
    desk: TrialQueue,
    archive: ArchiveId,
    bytes: Vec<u8>,
}

impl League {
    fn start(times: CarrierTimes) -> League {
        let server = Server::start(&[]);
        let broker = server.broker();
        League::with(server, broker, times)
    }

    fn with(server: Server, broker: Broker, times: CarrierTimes) -> League {
        let archives = server.folder.path().to_owned();
        let trials = NatsTrials { broker: broker.clone(), archives, key: key(1), times };
        let (desk, states) = trials.start().unwrap();
        let core = Core::with_trials(&server, (broker, times), Rc::default(), Some(states));
        let program = tempfile::tempdir().unwrap();
        std::fs::write(program.path().join("bot.toml"), "name = 'mouse'").unwrap();
        let mut bytes = Vec::new();
        let archive = pack_folder(program.path(), ArchiveLimits::BOT, &mut bytes).unwrap().id;
        std::fs::write(core.archives.join(format!("{archive}.tar")), &bytes).unwrap();
        League { server, times, core, desk, archive, bytes }
    }

    fn worker(&self, name: &str, builds: bool) -> Player {
        let machine = Machine { name: name.to_owned(), slots: 1, builds, ..Machine::default() };
        Player::on((self.server.broker(), self.times), machine, Script::Plays(5))
    }

    fn hand_out(&self, id: u64) -> UnboundedReceiver<TrialEvent> {
        self.desk.hand_out(TrialJob::of_test(id, self.archive)).unwrap()
    }

    /// The names of the objects of trials.
    async fn objects(&self) -> Vec<String> {
        let jetstream = async_nats::jetstream::new(self.server.client().await);
        let mut names = Vec::new();
        for bucket in ["referee-files", "referee-outcomes"] {
            let objects = jetstream.get_object_store(bucket).await.unwrap();
            // A list never ends if the object that it waits for is deleted in the meantime.
            let listed = async { objects.list().await.unwrap().collect::<Vec<_>>().await };
            let listed = timeout(TIMES.lost, listed).await.unwrap_or_default();
            let kept = listed.into_iter().map(Result::unwrap).filter(|object| !object.deleted);
            names.extend(kept.map(|object| object.name));
        }
        names.retain(|name| name.starts_with("trial."));
        names
    }
}

async fn next(events: &mut UnboundedReceiver<TrialEvent>) -> TrialEvent {
    timeout(TIMEOUT, events.recv()).await.expect("an event").expect("a desk")
}

/// The worker that begins next.
async fn taken(events: &mut UnboundedReceiver<TrialEvent>) -> String {
    match next(events).await {
        TrialEvent::Taken(worker) => worker,
        event => panic!("{event:?}"),
    }
}

async fn reported(events: &mut UnboundedReceiver<TrialEvent>) -> (String, TrialReply, BuiltArchive) {
    match next(events).await {
        TrialEvent::Reported(worker, reply, built) => (worker, reply, built),
        event => panic!("{event:?}"),
    }
}

fn failed(why: &str) -> TrialReply {
    TrialReply { log: "a log\n".to_owned(), verdict: TrialVerdict::Failed(why.to_owned()) }
}

fn tries(worker: &Player, id: u64) -> usize {
    let is_it = |of: &&Assignment| matches!(of, Assignment::Try(job) if job.id == id);
    worker.log.borrow().iter().filter(is_it).count()
}

/// Waits until a worker has begun with a trial.
async fn until_tries(worker: &Player, id: u64) {
    until("it begins", async || tries(worker, id) > 0).await;
}

fn report(worker: &Player, id: u64, why: &str) {
    worker.requests.send(Request::Tried(id, failed(why), Vec::new())).unwrap();
    worker.requests.send(Request::Free(1)).unwrap();
}

#[test]
fn program_and_what_was_built_go_through_object_store() {
    on_one_thread(async {
        let league = League::start(PATIENT);
        let weak = league.worker("weak", false);
        league.core.until("it is there", |seen| seen.joined == ["weak"]).await;
        let mut events = league.hand_out(7);
        let strong = league.worker("strong", true);
        assert_eq!(taken(&mut events).await, "strong");
        until_tries(&strong, 7).await;
        let to = league.server.folder.path().join("fetched");
        strong.requests.send(Request::Fetch(league.archive, to.clone())).unwrap();
        let is_fetched = |assignment: &Assignment| matches!(assignment, Assignment::Fetched(_, Ok(())));
        until("it is fetched", async || strong.has(is_fetched)).await;
        assert_eq!(std::fs::read(to).unwrap(), league.bytes);
        // Neither fits into a message.
        let log = "line\n".repeat(300_000);
        let built: Vec<u8> = (0..3_000_000_u32).map(|n| (n / 7) as u8).collect();
        let verdict =
            TrialVerdict::Passed { ladders: ["short".to_owned()].into(), built: Some(league.archive) };
        let reply = TrialReply { log, verdict };
        strong.requests.send(Request::Tried(7, reply.clone(), built.clone())).unwrap();
        let (worker, said, archive) = reported(&mut events).await;
        assert_eq!((&*worker, said == reply, archive.bytes == built), ("strong", true, true));
        until("the objects are deleted", async || league.objects().await.is_empty()).await;
        assert_eq!((tries(&strong, 7), tries(&weak, 7)), (1, 0));
    });
}

#[test]
fn permissions_of_example_suffice_for_worker_that_builds() {
    on_one_thread(async {
        let (server, folder) = example();
        let (coordinator, user) =
            (as_user(&server, &folder, "coordinator"), as_user(&server, &folder, "box1"));
        let league = League::with(server, coordinator, PATIENT);
        let machine = Machine { name: "box1".to_owned(), slots: 1, builds: true, ..Machine::default() };
        let worker = Player::on((user, PATIENT), machine, Script::Plays(5));
        let mut events = league.hand_out(7);
        assert_eq!(taken(&mut events).await, "box1");
        let to = league.server.folder.path().join("fetched");
        worker.requests.send(Request::Fetch(league.archive, to)).unwrap();
        let is_fetched = |assignment: &Assignment| matches!(assignment, Assignment::Fetched(_, Ok(())));
        until("it is fetched", async || worker.has(is_fetched)).await;
        let built = vec![7; 3_000_000];
        worker.requests.send(Request::Tried(7, failed("no"), built.clone())).unwrap();
        assert_eq!(reported(&mut events).await.2.bytes, built);
    });
}

#[test]
fn trial_is_given_up_after_three_workers_that_were_lost() {
    on_one_thread(async {
        let league = League::start(TIMES);
        let mut events = league.hand_out(7);
        for lost in 1..=3 {
            let worker = league.worker(&format!("worker{lost}"), true);
            let began = Instant::now();
            loop {
                assert!(began.elapsed() < TIMEOUT);
                match next(&mut events).await {
                    TrialEvent::Taken(_) => worker.end.abort(),
                    TrialEvent::Lost(_) if lost < 3 => break,
                    TrialEvent::GivenUp if lost == 3 => break,
                    event => panic!("{event:?} after {lost}"),
                }
            }
        }
        assert!(events.recv().await.is_none(), "this was the last event");
        until("the program is deleted", async || league.objects().await.is_empty()).await;
        // Another trial is done.
        let mut events = league.hand_out(8);
        let worker = league.worker("worker4", true);
        taken(&mut events).await;
        report(&worker, 8, "no");
        reported(&mut events).await;
    });
}

#[test]
fn reports_of_others_and_of_other_trials_are_ignored() {
    on_one_thread(async {
        let league = League::start(PATIENT);
        let watcher = league.server.client().await;
        let mut trying = watcher.subscribe("referee.run.*.one").await.unwrap();
        watcher.flush().await.unwrap();
        let worker = league.worker("one", true);
        let mut events = league.hand_out(7);
        assert_eq!(taken(&mut events).await, "one");
        let message = loop {
            let message = trying.next().await.unwrap();
            let head: serde_json::Value = serde_json::from_slice(&message.payload).unwrap();
            if head["type"] == "trying" {
                break (message.subject.to_string(), head["session"].as_str().unwrap().to_owned());
            }
        };
        let (subject, session) = message;
        let body = serde_json::to_string(&failed("forged")).unwrap();
        let forge = |trial: u64, session: &str| {
            let head = serde_json::json!({
                "version": VERSION, "type": "tried", "session": session, "trial": trial, "is_stored": false,
            });
            format!("{head}\n{body}")
        };
        let of_other = subject.replace(".one", ".other");
        for (subject, message) in [
            (&of_other, forge(7, &session)),
            (&subject, forge(8, &session)),
            (&subject, forge(7, "another session")),
        ] {
            watcher.publish(subject.clone(), message.into()).await.unwrap();
        }
        watcher.flush().await.unwrap();
        report(&worker, 7, "true");
        assert_eq!(reported(&mut events).await.1, failed("true"));
        // A repeated report is of no trial.
        let mut again = league.hand_out(9);
        assert_eq!(taken(&mut again).await, "one");
        watcher.publish(subject, forge(7, &session).into()).await.unwrap();
        watcher.flush().await.unwrap();
        report(&worker, 9, "true");
        assert_eq!(reported(&mut again).await.1, failed("true"));
    });
}

#[test]
fn worker_that_is_put_aside_is_asked_for_no_trial() {
    on_one_thread(async {
        let league = League::start(PATIENT);
        let aside = league.worker("aside", true);
        league.core.until("it is there", |seen| seen.joined == ["aside"]).await;
        let set = |state| {
            let order = Order::SetState(RUN.to_owned(), "aside".to_owned(), state);
            league.core.orders.send(order).unwrap();
        };
        set(MachineState::Aside);
        let is_aside = |of: &Assignment| matches!(of, Assignment::State(_, MachineState::Aside));
        until("it is aside", async || aside.has(is_aside)).await;
        let mut events = league.hand_out(7);
        let other = league.worker("other", true);
        assert_eq!(taken(&mut events).await, "other");
        until_tries(&other, 7).await;
        assert_eq!((tries(&aside, 7), tries(&other, 7)), (0, 1));
        let mut events = league.hand_out(8);
        set(MachineState::Active);
        assert_eq!(taken(&mut events).await, "aside");
    });
}

#[test]
fn trial_waits_for_slot_and_leaves_no_set_without_one() {
    on_one_thread(async {
        let league = League::start(PATIENT);
        let worker = league.worker("one", true);
        let (connection, _links) = league.server.broker().connect("test", "_INBOX").await.unwrap();
        let waits = async || {
            let consumer = connection.consumer().await;
            consumer.is_ok_and(|consumer| consumer.cached_info().num_waiting == 1)
        };
        until("it waits at the broker for a set", waits).await;
        let mut first = league.hand_out(7);
        assert_eq!(taken(&mut first).await, "one");
        league.core.publish([1]);
        let goes_back = |seen: &Seen| seen.taken.get(&1) >= Some(&1);
        league.core.until("the set goes back", goes_back).await;
        assert!(!worker.has(|of| matches!(of, Assignment::Play(_))));
        report(&worker, 7, "no");
        reported(&mut first).await;
        league.core.until_counted(1).await;
        assert_eq!(*worker.most.borrow(), 1);
    });
}

#[test]
fn trial_withdrawn_while_waiting_for_slot_does_not_begin() {
    on_one_thread(async {
        let league = League::start(PATIENT);
        let machine = Machine { name: "one".to_owned(), slots: 1, builds: true, ..Machine::default() };
        let worker = Player::on((league.server.broker(), PATIENT), machine, Script::Hangs);
        league.core.publish([1]);
        league.core.until("it plays", |seen| !seen.taken.is_empty()).await;
        let watcher = league.server.client().await;
        let mut to_worker = watcher.subscribe("referee.worker.one").await.unwrap();
        watcher.flush().await.unwrap();
        let mut until_said = async |what: &str| {
            let what = format!(r#"{{"type":"{what}""#);
            while !String::from_utf8_lossy(&to_worker.next().await.unwrap().payload).contains(&what) {}
        };
        let events = league.hand_out(7);
        until_said("try").await;
        drop(events);
        until_said("trial_over").await;
        // The worker reads this message after that one.
        let (subject, run) = ("referee.worker.one", "f".repeat(32));
        let state = key(1).seal(subject, &run, 1, br#"{"type":"state","state":"active"}"#);
        watcher.publish(subject, state.into()).await.unwrap();
        let has_read = |of: &Assignment| matches!(of, Assignment::State(of, _) if *of == run);
        until("it reads on", async || worker.has(has_read)).await;
        let mut events = league.hand_out(8);
        worker.requests.send(Request::Free(1)).unwrap();
        assert_eq!(taken(&mut events).await, "one");
        until_tries(&worker, 8).await;
        assert_eq!((tries(&worker, 7), tries(&worker, 8)), (0, 1));
    });
}

#[test]
fn a_message_for_a_trial_that_is_repeated_changes_nothing() {
    on_one_thread(async {
        let league = League::start(PATIENT);
        let watcher = league.server.client().await;
        let mut to_worker = watcher.subscribe("referee.worker.one").await.unwrap();
        watcher.flush().await.unwrap();
        let worker = league.worker("one", true);
        let mut events = league.hand_out(7);
        taken(&mut events).await;
        let is_try = |payload: &[u8]| String::from_utf8_lossy(payload).contains(r#"{"type":"try""#);
        let message = loop {
            let message = to_worker.next().await.unwrap();
            if is_try(&message.payload) {
                break message;
            }
        };
        report(&worker, 7, "no");
        reported(&mut events).await;
        watcher.publish(message.subject, message.payload).await.unwrap();
        watcher.flush().await.unwrap();
        let mut events = league.hand_out(8);
        taken(&mut events).await;
        until_tries(&worker, 8).await;
        assert_eq!((tries(&worker, 7), tries(&worker, 8)), (1, 1));
    });
}
