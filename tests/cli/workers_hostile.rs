//! Attacks of peers without a token on the port of workers.
#![expect(clippy::disallowed_methods, reason = "the time until a worker is admitted is measured")]

use std::net::TcpStream;
use std::time::Instant;

use crate::common::{Folder, Signal};
use crate::workers::{Coordinator, steady_cup, wait_until};

#[test]
fn idle_connections_do_not_keep_a_worker_out() {
    let folder = Folder::new();
    let config = steady_cup(&folder, 2, "kind = 'gauntlet'");
    let dir = folder.text("cup");
    let coordinator = Coordinator::start(&["run", &config, "--dir", &dir]);
    let idle: Vec<TcpStream> =
        (0..400).map(|_| TcpStream::connect(&coordinator.address).expect("it listens")).collect();
    let begun = Instant::now();
    let worker = coordinator.worker("box", &["--slots", "1"]);
    wait_until(&dir, "admitted", |status| {
        status["workers"]["workers"].as_array().is_some_and(|workers| !workers.is_empty())
    });
    println!("admitted after {:?}", begun.elapsed());
    // Before, the last of them gave up after seven times the time for the first message.
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
    drop(idle);
    coordinator.process.end().with_code(0);
    worker.signal(Signal::TERM);
    worker.end().with_code(130);
}
