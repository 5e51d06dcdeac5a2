//! The built-in carrier: workers connect to the coordinator over TLS (specification, Workers).

mod client;
mod frame;
mod hub;
mod server;
#[cfg(test)]
mod tests;

pub use client::BuiltInWorker;
pub use server::{BuiltInCoordinator, WorkerTokens};

use std::time::Duration;

/// The interval at which each side sends something.
const ALIVE: Duration = Duration::from_secs(10);
/// The time without a frame after which a connection is lost.
const SILENCE: Duration = Duration::from_secs(30);
/// The time from the connection to the end of the handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
