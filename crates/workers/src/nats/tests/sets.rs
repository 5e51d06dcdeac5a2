//! Sets that are played, and that are withdrawn.

use super::*;

#[test]
fn every_set_is_played_once_within_slots() {
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
fn coordinator_that_starts_again_gets_outcomes_that_wait_for_it() {
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
fn drained_worker_gets_no_sets_even_after_restart() {
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
fn run_ending_before_verdicts_leaves_no_set_at_broker() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let worker = Player::start(&server, "one", 2, Script::Hangs);
        let core = Core::start_patient(&server);
        core.publish([1, 2]);
        core.until("they are taken", |seen| seen.taken.len() == 2).await;
        core.orders.send(Order::Over(RUN.to_owned())).unwrap();
        until_empty(&server).await;
        assert!(!worker.end.is_finished());
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
fn every_set_counts_once_though_all_processes_are_killed() {
    let (sets, restarts) = if std::env::var_os("LONG_TESTS").is_some() { (1000, 5) } else { (40, 1) };
    on_one_thread(storm(sets, restarts));
}
