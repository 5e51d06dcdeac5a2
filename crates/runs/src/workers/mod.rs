//! Workers of a run: their configuration, and what opens the coordinator's end.

mod config;
#[cfg(feature = "nats")]
mod nats;
mod open;

pub use config::{NatsUrl, QueueName, WorkersConfig, WorkersTimeout};
#[cfg(not(feature = "nats"))]
pub use open::WITHOUT_NATS;
pub use open::{OpenedWorkers, SetSource, leases};
