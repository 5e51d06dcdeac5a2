//! Partitions between a worker and the broker, about fifty times as short as usual.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

use super::*;

/// Enough for some seconds of play. Verdicts wait until all are published, which takes long on a busy machine if there are
/// thousands.
const SETS: u32 = 400;

/// A proxy to a server, which passes nothing on while it is closed. Bytes sent meanwhile arrive late, or are
/// lost with its connection.
struct Proxy {
    port: u16,
    is_open: watch::Sender<bool>,
}

impl Proxy {
    async fn start(server: &Server, loses: bool) -> Proxy {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, to) = (listener.local_addr().unwrap().port(), server.port);
        let (is_open, opened) = watch::channel(true);
        spawn_local(async move {
            while let Ok((near, _)) = listener.accept().await {
                let mut opened = opened.clone();
                spawn_local(async move {
                    opened.wait_for(|&is_open| is_open).await.unwrap();
                    let far = tokio::net::TcpStream::connect(("127.0.0.1", to)).await.unwrap();
                    let ((read_near, write_near), (read_far, write_far)) =
                        (near.into_split(), far.into_split());
                    // Both directions end together.
                    tokio::select! {
                        () = relay(read_near, write_far, opened.clone(), loses) => {}
                        () = relay(read_far, write_near, opened, loses) => {}
                    }
                });
            }
        });
        Proxy { port, is_open }
    }

    fn open(&self, is_open: bool) {
        self.is_open.send_replace(is_open);
    }
}

/// Passes bytes on, each a little later, until the connection is lost.
async fn relay(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut opened: watch::Receiver<bool>,
    loses: bool,
) {
    let mut bytes = vec![0; 64 << 10];
    loop {
        let Ok(count @ 1..) = from.read(&mut bytes).await else { return };
        sleep(Duration::from_millis(2)).await;
        let was_open = *opened.borrow();
        if opened.wait_for(|&is_open| is_open).await.is_err() || loses && !was_open {
            return;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

/// Two workers, of which one loses the broker while it plays a set.
struct Partition {
    proxy: Proxy,
    far: Player,
    near: Player,
    core: Core,
    _server: Server,
}

impl Partition {
    async fn begin(sets: u32, loses: bool) -> Partition {
        let server = Server::start(&[]);
        let proxy = Proxy::start(&server, loses).await;
        let broker = Broker { url: format!("nats://127.0.0.1:{}", proxy.port), ..server.broker() };
        let far = Player::with(broker, "far", 1, Script::Plays(150));
        let near = Player::start(&server, "near", 1, Script::Plays(30));
        let core = Core::start(&server);
        core.publish(1..=sets);
        core.until("both play", |seen| seen.counted.values().any(|by| by == "far")).await;
        let units = |is_it: fn(&Assignment) -> bool| far.log.borrow().iter().filter(|of| is_it(of)).count();
        until("it plays", async || {
            units(|of| matches!(of, Assignment::Play(_))) > units(|of| matches!(of, Assignment::Verdict(..)))
        })
        .await;
        proxy.open(false);
        Partition { proxy, far, near, core, _server: server }
    }

    /// The worker reaches the broker again, and plays on.
    async fn end(self) {
        self.proxy.open(true);
        let by_far = |seen: &Seen| seen.counted.values().filter(|by| *by == "far").count();
        let so_far = by_far(&self.core.seen.borrow());
        self.core.until("it plays on", |seen| by_far(seen) > so_far + 1).await;
        self.far.close().await;
        self.near.close().await;
    }
}

#[test]
fn sets_count_once_after_a_partition_of_30_seconds() {
    for loses in [false, true] {
        on_one_thread(async {
            let partition = Partition::begin(SETS, loses).await;
            sleep(Duration::from_millis(600)).await;
            partition.end().await;
        });
    }
}

#[test]
fn sets_that_are_played_elsewhere_during_a_partition_count_once() {
    // 10 minutes, fifty times as short.
    let time = if std::env::var_os("LONG_TESTS").is_some() { 12_000 } else { 3000 };
    for loses in [false, true] {
        on_one_thread(async {
            let partition = Partition::begin(40, loses).await;
            sleep(Duration::from_millis(time)).await;
            let core = &partition.core;
            core.until_counted(40).await;
            partition.proxy.open(true);
            core.until("a late outcome is a duplicate", |seen| seen.duplicates > 0).await;
            core.publish(41..=SETS);
            partition.end().await;
        });
    }
}

#[test]
fn end_does_not_wait_for_broker_that_is_gone() {
    on_one_thread(async {
        let mut server = Server::start(&[]);
        let (connection, _links) = server.broker().connect("test", "_INBOX").await.unwrap();
        server.kill();
        connection.client.publish("referee.hello.test", "last words".into()).await.unwrap();
        let began = Instant::now();
        connection.finish().await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(7), "{:?}", began.elapsed());
    });
}
