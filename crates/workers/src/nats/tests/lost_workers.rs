//! Sets of workers that are lost, with and without a coordinator.

use super::*;

/// Starts workers that die of set 1 until this number of them has died.
async fn die(server: &Server, count: usize) {
    for number in 0..count {
        let worker = Player::start(server, &format!("worker{number}"), 1, Script::Dies);
        until("it dies", async || worker.end.is_finished()).await;
    }
}

#[test]
fn set_that_kills_workers_is_given_up_at_fourth_delivery() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let core = Core::start_patient(&server);
        core.publish([1]);
        die(&server, 4).await;
        let _worker = Player::start(&server, "worker4", 1, Script::Dies);
        core.until("it is given up", |seen| !seen.lost.is_empty()).await;
        assert_eq!(core.seen.borrow().taken[&1], 4);
        core.publish([2]);
        core.until_counted(1).await;
        until_empty(&server).await;
    });
}

#[test]
fn a_worker_plays_nothing_before_the_coordinator_has_admitted_it() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let core = Core::start(&server);
        core.publish([1]);
        let jetstream = async_nats::jetstream::new(server.client().await);
        let is_there = async || match jetstream.get_stream("referee-2").await {
            Ok(stream) => stream.cached_info().state.messages == 1,
            Err(_) => false,
        };
        until("it is published", is_there).await;
        core.abort();
        let worker = Player::start(&server, "one", 1, Script::Plays(5));
        sleep(TIMES.lost * 2).await;
        assert!(!worker.has(|assignment| matches!(assignment, Assignment::Play(_))));
        let core = Core::start(&server);
        core.orders.send(Order::Adopt(Box::new(unit(1, 1)))).unwrap();
        core.until_counted(1).await;
    });
}

#[test]
fn set_of_lost_worker_does_not_wait_for_broker() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let dies = Player::start(&server, "dies", 1, Script::Dies);
        let core = Core::start_patient(&server);
        core.publish([1]);
        core.until("it is taken", |seen| seen.taken.len() == 1).await;
        until("its worker dies", async || dies.end.is_finished()).await;
        // It starts again, takes the set again, and dies again.
        let dies = Player::start(&server, "dies", 1, Script::Dies);
        core.until("it is taken again", |seen| seen.taken[&1] == 2).await;
        until("its worker dies", async || dies.end.is_finished()).await;
        let _plays = Player::start(&server, "plays", 1, Script::Plays(5));
        core.until_counted(1).await;
        assert_eq!((&*core.seen.borrow().counted[&1], core.seen.borrow().taken[&1]), ("plays", 3));
        core.close().await;
        until_empty(&server).await;
    });
}

#[test]
fn a_restarted_coordinator_gets_reports_on_sets_that_are_out() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let worker = Player::start(&server, "one", 2, Script::Hangs);
        let core = Core::start(&server);
        core.publish([1, 2]);
        core.until("they are taken", |seen| seen.taken.len() == 2).await;
        core.abort();
        let core = Core::start(&server);
        for set in [1, 2] {
            core.orders.send(Order::Adopt(Box::new(unit(set, 1)))).unwrap();
        }
        core.until("the worker is there", |seen| !seen.joined.is_empty()).await;
        // Its first report may have arrived before the sets were adopted. Until the next one its moves mean nothing.
        let moves = async || {
            worker.requests.send(Request::Moved(unit(1, 1).id)).unwrap();
            core.seen.borrow().moved.contains(&1)
        };
        until("a match moves", moves).await;
        worker.requests.send(Request::Return(unit(1, 1).id, Returned::Stopped)).unwrap();
        let _plays = Player::start(&server, "plays", 2, Script::Plays(5));
        core.until("it is played elsewhere", |seen| seen.counted.contains_key(&1)).await;
        worker.close().await;
        core.until("the other one, too, when the worker is lost", |seen| seen.counted.len() == 2).await;
        core.close().await;
        until_empty(&server).await;
    });
}

/// A worker that has a set must not count as lost, whatever happens to it.
async fn assert_kept(server: &Server, stall: impl AsyncFnOnce()) {
    let _worker = Player::start(server, "one", 1, Script::Hangs);
    let core = Core::start_patient(server);
    core.publish([1]);
    core.until("it is taken", |seen| seen.taken.len() == 1).await;
    stall().await;
    sleep(TIMES.lost * 2).await;
    let seen = core.seen.borrow();
    assert_eq!((&seen.joined[..], &seen.left[..]), (&["one".to_owned()][..], &[][..]), "{seen:?}");
    assert_eq!(seen.taken[&1], 1, "{seen:?}");
}

#[test]
fn no_worker_counts_as_lost_because_the_coordinator_was_suspended() {
    on_one_thread(async {
        let server = Server::start(&[]);
        assert_kept(&server, async || std::thread::sleep(TIMES.lost * 2)).await;
    });
}

#[test]
fn no_worker_counts_as_lost_because_the_broker_was_suspended() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let signal = |name: &str| {
            let pid = server.child.id().to_string();
            assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
        };
        let stall = async || {
            signal("-STOP");
            sleep(TIMES.lost * 2).await;
            signal("-CONT");
        };
        assert_kept(&server, stall).await;
    });
}
