//! The carrier with a real server: both ends, with a coordinator and workers that follow a script.

mod broker_faults;
mod connections;
mod coordinator;
mod lost_workers;
mod objects;
mod orphans;
mod partitions;
mod player;
mod server;
mod sets;
mod trials;
mod trust;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, LocalSet, spawn_local};
use tokio::time::{Instant, sleep, timeout};

use self::coordinator::{Core, Seen, unit};
use self::player::{Player, Script};
use self::server::Server;
use super::broker::{create, failed, inbox};
use super::*;
use crate::carrier::{
    Assignment, CarrierEvent, CoordinatorEnd, Order, OutcomeVerdict, Request, Returned, WorkerEnd,
};
use crate::machine::{Machine, MachineState};
use crate::unit::{UnitId, UnitOutcome, WorkUnit};

/// A timeout that only a hanging test exceeds.
const TIMEOUT: Duration = Duration::from_secs(60);
const RUN: &str = "0123456789abcdef0123456789abcdef";

/// The key of a coordinator.
fn key(digit: u8) -> SigningKey {
    SigningKey::parse(&digit.to_string().repeat(64)).unwrap()
}

/// The times, about fifty times as short as usual.
const TIMES: CarrierTimes = CarrierTimes {
    ack_wait: Duration::from_millis(600),
    progress: Duration::from_millis(100),
    hello: Duration::from_millis(200),
    lost: Duration::from_millis(700),
    resend: Duration::from_millis(200),
    reconcile: Duration::from_millis(300),
};

/// Runs a test on one thread, as the ends do.
fn on_one_thread(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, test);
}

/// Waits until something holds, which a worker or the broker may do a moment later.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < TIMEOUT, "{what}");
        sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until no set is in the stream.
async fn until_empty(server: &Server) {
    let jetstream = async_nats::jetstream::new(server.client().await);
    let mut stream = jetstream.get_stream("referee-2").await.unwrap();
    until("the stream is empty", async || stream.info().await.unwrap().state.messages == 0).await;
}
