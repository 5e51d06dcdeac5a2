//! Workers of a run: their configuration, and what opens the coordinator's end.

mod config;
#[cfg(feature = "nats")]
mod nats;
mod open;

pub use config::{NatsUrl, QueueName, WorkersConfig, WorkersTimeout};
pub use open::{OpenedWorkers, SetSource, WorkersError, leases};
