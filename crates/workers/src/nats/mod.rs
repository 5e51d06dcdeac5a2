//! The carrier over NATS JetStream.
//!
//! Units are messages of a work-queue stream, one subject a set, so that a set is in the stream once at most.
//! Workers pull exactly as many as they have free slots, and acknowledge a unit when the coordinator has
//! judged its outcome. Everything else travels by plain messages, which may be lost: workers send outcomes
//! again until there is a verdict, and report their units every few seconds; the coordinator compares the
//! stream with the sets that are out, and publishes sets that the broker has lost. The broker only
//! transports: its whole store may disappear during a run.
//!
//! | subject | from | contents |
//! |---|---|---|
//! | `QUEUE.work.VERSION.RUN.SET` | coordinator | a unit, in the stream QUEUE-VERSION |
//! | `QUEUE.run.RUN.NAME` | worker | `ToCoordinator`, after `Played` an outcome, after `Tried` a report |
//! | `QUEUE.hello.NAME` | worker | the same, `Hello` and `Leaving` |
//! | `QUEUE.echo.RUN` | coordinator | an empty message, to itself: it shows that messages arrive |
//! | `QUEUE.worker.NAME` | coordinator | `ToWorker`, for one worker |
//! | `QUEUE.workers` | coordinator | the same for all |
//!
//! NAME is that of the worker with `+` for each `.`. Every message states the version of the messages. Coordinators sign units
//! and `ToWorker`, and each names its run (`envelope`). The object store `QUEUE-files` has the archives of bots, and
//! `QUEUE-outcomes` outcomes and reports that are larger than a message may be.
//!
//! The desk of a league (`trials`) hands out programs to build. It uses the same subjects, with an id of its own as RUN.

mod broker;
mod coordinator;
mod envelope;
mod message;
mod reception;
#[cfg(test)]
mod tests;
mod trials;
mod worker;

pub use broker::Broker;
pub use coordinator::NatsCoordinator;
pub use envelope::{SigningKey, TrustedKeys};
pub use trials::{NatsTrials, TrialStates};
pub use worker::NatsWorker;

use std::time::Duration;

/// The times of the carrier. Tests scale them down.
#[derive(Clone, Copy, Debug)]
pub struct CarrierTimes {
    /// The time for which a unit may be without progress before the broker hands it out again.
    pub ack_wait: Duration,
    /// The interval at which a worker reports that the matches of a unit move.
    pub progress: Duration,
    /// The interval at which a worker reports its units.
    pub hello: Duration,
    /// The time without a message after which a worker counts as lost.
    pub lost: Duration,
    /// The interval at which a worker sends an outcome again that has no verdict.
    pub resend: Duration,
    /// The interval at which the coordinator compares the stream with the sets that are out.
    pub reconcile: Duration,
}

impl Default for CarrierTimes {
    fn default() -> CarrierTimes {
        CarrierTimes {
            ack_wait: Duration::from_secs(30),
            progress: Duration::from_secs(10),
            hello: Duration::from_secs(10),
            lost: Duration::from_secs(35),
            resend: Duration::from_secs(10),
            reconcile: Duration::from_secs(10),
        }
    }
}

/// The delivery of a unit at which a worker does not play it but gives it up: it has been lost three times.
const LAST_DELIVERY: i64 = 4;
