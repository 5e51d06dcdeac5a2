//! Clients that are no coordinator, several runs on one queue, and other versions of the messages.

use tempfile::TempDir;

use super::*;
use crate::nats::envelope::VERSION;

#[test]
fn nothing_that_no_trusted_coordinator_has_signed_reaches_a_worker() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let core = Core::start(&server);
        let worker = Player::start(&server, "one", 1, Script::Hangs);
        core.until("it is there", |seen| !seen.joined.is_empty()).await;
        core.publish([1]);
        core.until("it plays", |seen| seen.taken.len() == 1).await;
        let (connection, _links) = server.broker().connect("test", "_INBOX").await.unwrap();
        let client = server.client().await;
        let forge = |subject: &str, body: &serde_json::Value| {
            let body = serde_json::to_vec(body).unwrap();
            let plain =
                [b"{\"version\":2,\"run\":\"", RUN.as_bytes(), b"\",\"at\":9,\"signature\":\"\"}\n", &body];
            [plain.concat(), key(2).seal(subject, RUN, u64::MAX, &body), body]
        };
        let (id, work) = (unit(1, 1).id, connection.work(&unit(7, 1).id));
        let orders = [
            serde_json::json!({ "type": "over" }),
            serde_json::json!({ "type": "state", "state": "drained" }),
            serde_json::json!({ "type": "withdrawn", "unit": id }),
        ];
        for order in &orders {
            for subject in [connection.workers(), connection.worker("one")] {
                for message in forge(&subject, order) {
                    client.publish(subject.clone(), message.into()).await.unwrap();
                }
            }
        }
        // Another worker would play the set.
        let other = Player::start(&server, "other", 1, Script::Plays(5));
        let jetstream = async_nats::jetstream::new(client);
        for message in forge(&work, &serde_json::to_value(unit(7, 1)).unwrap()) {
            jetstream.publish(work.clone(), message.into()).await.unwrap().await.unwrap();
            until("it is thrown away", async || {
                let stream = jetstream.get_stream("referee-2").await.unwrap();
                stream.get_last_raw_message_by_subject(&work).await.is_err()
            })
            .await;
        }
        core.publish([2]);
        core.until("a set is played", |seen| seen.counted.contains_key(&2)).await;
        let played =
            |assignment: &Assignment| matches!(assignment, Assignment::Play(unit) if unit.id.set == 7);
        assert!(!other.has(played));
        let is_order = |assignment: &Assignment| match assignment {
            Assignment::Over(_) | Assignment::Withdrawn(_) => true,
            Assignment::State(_, state) => *state != MachineState::Active,
            _ => false,
        };
        assert!(!worker.has(is_order) && !other.has(is_order), "{:?}", worker.log.borrow());
    });
}

#[test]
fn end_of_one_run_leaves_sets_of_others_on_queue() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let start = |run: &str| {
            let (broker, archives) = (server.broker(), server.folder.path().to_owned());
            let end = NatsCoordinator {
                broker,
                run: run.to_owned(),
                archives,
                key: key(1),
                times: TIMES,
                trials: None,
            };
            let (orders, of_coordinator) = unbounded_channel();
            let (to_coordinator, events) = unbounded_channel();
            let end = spawn_local(end.serve(of_coordinator, to_coordinator));
            (orders, events, end)
        };
        let runs = ["a", "b", "c"].map(|digit| digit.repeat(32));
        let mut ends = runs.clone().map(|run| start(&run));
        let worker = Player::start(&server, "one", 3, Script::Hangs);
        for (run, (orders, events, _)) in runs.iter().zip(&mut ends) {
            while !matches!(events.recv().await.unwrap(), CarrierEvent::Joined(..)) {}
            orders.send(Order::SetState(run.clone(), "one".to_owned(), MachineState::Active)).unwrap();
            let mut of_run = unit(1, 1);
            of_run.id.run.clone_from(run);
            orders.send(Order::Publish(Box::new(of_run))).unwrap();
        }
        let plays =
            async || worker.log.borrow().iter().filter(|of| matches!(of, Assignment::Play(_))).count() == 3;
        until("it plays for all", plays).await;
        let [first, mut second, third] = ends;
        first.0.send(Order::Over(runs[0].clone())).unwrap();
        // A state of one run does not end its sets.
        third.0.send(Order::SetState(runs[2].clone(), "one".to_owned(), MachineState::Aside)).unwrap();
        until("one is over", async || {
            worker.has(|of| matches!(of, Assignment::Over(run) if *run == runs[0]))
        })
        .await;
        let is_aside =
            |of: &Assignment| matches!(of, Assignment::State(run, MachineState::Aside) if *run == runs[2]);
        until("it is put aside by another", async || worker.has(is_aside)).await;
        let unit = UnitId { run: runs[1].clone(), set: 1, attempt: 1 };
        let records = vec![b"{}\n".to_vec()];
        worker.requests.send(Request::Played(UnitOutcome { unit, records })).unwrap();
        let outcome = async {
            loop {
                if let CarrierEvent::Played(outcome, _) = second.1.recv().await.unwrap() {
                    return outcome;
                }
            }
        };
        assert_eq!(timeout(TIMEOUT, outcome).await.unwrap().unit.run, runs[1]);
        assert!(!worker.has(|of| matches!(of, Assignment::Withdrawn(_))));
    });
}

#[test]
fn other_versions_of_the_messages_are_named_on_both_sides() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let core = Core::start(&server);
        let worker = Player::start(&server, "one", 1, Script::Plays(5));
        core.until("it is there", |seen| !seen.joined.is_empty()).await;
        let client = server.client().await;
        let machine = Machine { name: "ancient".to_owned(), slots: 1, ..Machine::default() };
        let hello = serde_json::json!({ "type": "hello", "machine": machine, "session": "s", "holding": [] });
        client.publish("referee.hello", hello.to_string().into()).await.unwrap();
        let hello = format!("{{\"version\":{}}}", VERSION + 1);
        client.publish("referee.hello.modern", hello.clone().into()).await.unwrap();
        core.until("they are refused", |seen| seen.incompatible == ["ancient", "modern"]).await;
        client.publish("referee.workers", hello.into()).await.unwrap();
        let why =
            |of: &Assignment| matches!(of, Assignment::Incompatible(why) if why.contains("speaks version 3"));
        until("the worker says why", async || worker.has(why)).await;
        core.publish([1]);
        core.until_counted(1).await;
    });
}

/// A server with the users and permissions of the example, and a directory for their credentials.
pub(super) fn example() -> (Server, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("nats.conf");
    std::fs::write(&config, include_str!("../../../../../examples/workers/nats.conf")).unwrap();
    (Server::start(&["-c", config.to_str().unwrap()]), folder)
}

/// The server for a user of the example.
pub(super) fn as_user(server: &Server, folder: &TempDir, user: &str) -> Broker {
    let file = folder.path().join(user);
    std::fs::write(&file, format!("{user}:{user}-password\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&file, mode).unwrap();
    Broker { credentials: Some(file), ..server.broker() }
}

#[test]
fn client_cannot_act_for_another_one_with_permissions_of_example() {
    on_one_thread(async {
        let (server, folder) = example();
        let broker = |user: &str| as_user(&server, &folder, user);
        let core = Core::with_broker(&server, broker("coordinator"), Rc::default());
        let large = Player::with(broker("box1"), "box1", 1, Script::Large);
        core.publish([1, 2]);
        core.until_counted(2).await;
        large.close().await;
        let worker = Player::with(broker("box2"), "box2", 1, Script::Plays(5));
        core.publish([3, 4]);
        core.until_counted(4).await;
        // A worker must not watch others.
        let watcher = async_nats::ConnectOptions::new()
            .user_and_password("coordinator".to_owned(), "coordinator-password".to_owned())
            .connect(server.broker().url)
            .await
            .unwrap();
        let mut all = watcher.subscribe("referee.>").await.unwrap();
        watcher.flush().await.unwrap();
        let (thief, _links) = broker("box2").connect("test", &inbox("box2")).await.unwrap();
        for subject in ["referee.hello.box1", "referee.workers", "referee.worker.box1", "referee.hello"] {
            thief.client.publish(subject, "forged".into()).await.unwrap();
        }
        thief.client.publish(thief.run(RUN, "box1"), "forged".into()).await.unwrap();
        thief.client.publish(thief.work(&unit(9, 1).id), "forged".into()).await.unwrap();
        let mut others = thief.client.subscribe("_INBOX.box1.>").await.unwrap();
        thief.client.flush().await.unwrap();
        watcher.publish("_INBOX.box1.x", "a unit".into()).await.unwrap();
        watcher.publish("referee.workers", "last".into()).await.unwrap();
        let forged = async {
            loop {
                let message = all.next().await.unwrap();
                match &message.payload[..] {
                    b"forged" => return Some(message.subject.to_string()),
                    b"last" => return None,
                    _ => {}
                }
            }
        };
        assert_eq!(timeout(TIMEOUT, forged).await.unwrap(), None);
        let stolen = timeout(TIMES.hello, others.next()).await;
        assert!(!matches!(stolen, Ok(Some(_))), "{stolen:?}");
        worker.close().await;
    });
}
