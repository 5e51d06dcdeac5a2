//! Messages that go through the object store.

use super::*;
use crate::archive::{ArchiveLimits, pack_folder};

#[test]
fn outcome_that_exceeds_message_goes_through_object_store() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let _worker = Player::start(&server, "one", 1, Script::Large);
        let core = Core::start(&server);
        core.publish([1, 2]);
        core.until_counted(2).await;
        core.close().await;
        let jetstream = async_nats::jetstream::new(server.client().await);
        let files = jetstream.get_object_store("referee-outcomes").await.unwrap();
        let are_deleted = async || {
            // A list never ends if the object that it waits for is deleted in the meantime.
            let left = async { files.list().await.unwrap().collect::<Vec<_>>().await };
            let left = timeout(Duration::from_secs(1), left).await;
            left.is_ok_and(|left| left.into_iter().all(|file| file.unwrap().deleted))
        };
        until("outcomes that were judged are deleted", are_deleted).await;
    });
}

#[test]
fn an_archive_reaches_a_worker_through_the_object_store() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let core = Core::start(&server);
        let bot = tempfile::tempdir().unwrap();
        std::fs::write(bot.path().join("bot"), vec![7; 2_000_000]).unwrap();
        let mut archive = Vec::new();
        let packed = pack_folder(bot.path(), ArchiveLimits::BOT, &mut archive).unwrap();
        std::fs::write(core.archives.join(format!("{}.tar", packed.id)), &archive).unwrap();
        let (connection, _links) = server.broker().connect("test", "_INBOX").await.unwrap();
        connection
            .upload(&packed.id.to_string(), &core.archives.join(format!("{}.tar", packed.id)))
            .await
            .unwrap();
        let worker = Player::start(&server, "one", 1, Script::Plays(5));
        let to = server.folder.path().join("fetched");
        worker.requests.send(Request::Fetch(packed.id, to.clone())).unwrap();
        let fetched = |assignment: &Assignment| matches!(assignment, Assignment::Fetched(_, Ok(())));
        until("it is fetched", async || worker.has(fetched)).await;
        assert_eq!(std::fs::read(to).unwrap(), archive);
        worker.close().await;
    });
}
