//! Brokers that are killed or that lose sets.

use super::*;

use referee_game::Chain;
use referee_game::Wrong;

#[test]
fn a_broker_that_is_killed_loses_no_set() {
    on_one_thread(async {
        let mut server = Server::start(&[]);
        let workers = ["one", "two"].map(|name| Player::start(&server, name, 2, Script::Plays(30)));
        let core = Core::start(&server);
        core.publish(1..=40);
        for counted in [5, 15] {
            core.until("some are counted", |seen| seen.counted.len() >= counted).await;
            server.kill();
            sleep(Duration::from_millis(50)).await;
            server.restart();
        }
        core.until_counted(40).await;
        assert!(workers[0].has(|assignment| matches!(assignment, Assignment::Disconnected(_))));
    });
}

#[test]
fn coordinators_that_start_at_once_on_new_broker_all_serve() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let cores: Vec<Core> = (0..6).map(|_| Core::start(&server)).collect();
        let _worker = Player::start(&server, "one", 1, Script::Hangs);
        for core in cores {
            core.until("the worker is there", |seen| !seen.joined.is_empty()).await;
        }
    });
}

#[tokio::test(start_paused = true)]
async fn broker_is_asked_again_after_failed_creation() {
    let mut asked = 0;
    let created = create(async || {
        asked += 1;
        if asked < 4 { Err(failed("it is slow")) } else { Ok(asked) }
    });
    assert_eq!(created.await.unwrap(), 4);
    let created = create(async || Err::<(), Wrong>(failed("it never does")));
    assert_eq!(Chain(&created.await.unwrap_err()).to_string(), "it never does");
}

#[test]
fn a_run_completes_though_the_store_of_the_broker_disappears() {
    on_one_thread(async {
        let mut server = Server::start(&[]);
        let _workers = ["one", "two"].map(|name| Player::start(&server, name, 2, Script::Plays(30)));
        let core = Core::start(&server);
        core.publish(1..=40);
        core.until("some are counted", |seen| seen.counted.len() >= 5).await;
        // While it runs.
        let jetstream = async_nats::jetstream::new(server.client().await);
        jetstream.delete_stream("referee-2").await.unwrap();
        core.until("more are counted", |seen| seen.counted.len() >= 20).await;
        // While it does not.
        server.kill();
        std::fs::remove_dir_all(server.folder.path().join("store")).unwrap();
        server.restart();
        core.until_counted(40).await;
    });
}

/// Deletes the stream while it is created again. Some servers (2.9) then say that they have sets which they do not find.
async fn lose_files_of_stream(server: &Server) {
    let (deleting, connection) =
        (server.client().await, server.broker().connect("test", "_INBOX").await.unwrap().0);
    for _ in 0..100 {
        let deleted = deleting.request("$JS.API.STREAM.DELETE.referee-2", "".into());
        let created = async {
            loop {
                // It cannot be created at every moment.
                let stream = connection.stream().await;
                if let Some(empty) = stream.ok().filter(|stream| stream.cached_info().state.messages == 0) {
                    return empty;
                }
            }
        };
        let (_, mut stream) = tokio::join!(deleted, created);
        let Ok(acknowledged) =
            connection.jetstream.publish(connection.work(&unit(99, 1).id), "{}".into()).await
        else {
            continue;
        };
        let Ok(acknowledged) = acknowledged.await else { continue };
        let is_lost = stream.get_raw_message(acknowledged.sequence).await.is_err();
        if is_lost && stream.info().await.is_ok_and(|info| info.state.messages == 1) {
            return;
        }
    }
}

#[test]
fn run_completes_though_broker_does_not_find_what_it_has() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let core = Core::start(&server);
        core.publish(1..=20);
        let _workers = ["one", "two"].map(|name| Player::start(&server, name, 2, Script::Plays(30)));
        core.until("some are counted", |seen| seen.counted.len() >= 5).await;
        lose_files_of_stream(&server).await;
        core.until_counted(20).await;
    });
}
