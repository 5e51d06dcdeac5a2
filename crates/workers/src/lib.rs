//! Matches on more than one machine: a coordinator hands sets out to workers and verifies their outcomes.
//!
//! The unit of work is the set: all matches on one deal, played on one machine ([`mod@unit`]). A worker gets only
//! the units that it has, with the seed of each set, never that of the run. The coordinator trusts no worker: it
//! replays every record before the set counts. The results at the coordinator are authoritative; a carrier ([`carrier`])
//! only moves units and outcomes, and may lose, delay or repeat them.
//!
//! * [`Coordinator`]: draws sets from a scheduler, counts deliveries and outcomes, and judges the workers
//! * [`Worker`]: plays units with the runner
//! * [`builtin`]: the carrier over TLS; `nats` the one over NATS JetStream, with the feature of this name
//! * [`archive`]: the files of bots, which travel to the workers; [`packing`] makes them for a run

pub mod archive;
pub mod builtin;
pub mod calibration;
pub mod carrier;
mod committer;
mod coordinator;
mod dispatcher;
mod fleet;
mod job;
pub mod machine;
#[cfg(feature = "nats")]
pub mod nats;
pub mod packing;
mod player;
pub mod shared;
#[cfg(test)]
mod tests;
pub mod trial;
pub mod unit;
mod verdicts;
mod verify;
mod worker;

pub use coordinator::{Activity, Coordinator};
pub use job::{Job, JobBots};
pub use verify::{NotVerified, VerifiedMatch, verify};
pub use worker::{Worker, WorkerEvent, WorkerExit};
