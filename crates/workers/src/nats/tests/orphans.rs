//! Units that the broker has delivered and that no worker has.

use super::*;

#[test]
fn set_that_broker_has_delivered_to_nobody_is_played() {
    on_one_thread(async {
        let server = Server::start(&[]);
        let core = Core::start_patient(&server);
        core.publish([1]);
        // Its pull is answered, and the answer is lost with its connection.
        let (connection, _links) = server.broker().connect("test", "_INBOX").await.unwrap();
        until("the consumer is there", async || connection.consumer().await.is_ok()).await;
        let consumer = connection.consumer().await.unwrap();
        let mut lost = consumer.batch().max_messages(1).expires(TIMEOUT).messages().await.unwrap();
        lost.next().await.unwrap().unwrap();
        // The broker would deliver it again after 10 minutes.
        let _worker = Player::start(&server, "one", 1, Script::Plays(5));
        core.until_counted(1).await;
        core.close().await;
        until_empty(&server).await;
    });
}
