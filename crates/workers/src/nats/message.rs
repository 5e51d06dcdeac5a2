//! The messages beside the units.

use serde::{Deserialize, Serialize};

use crate::carrier::{OutcomeVerdict, Returned};
use crate::machine::{Machine, MachineState};
use crate::unit::UnitId;

/// A message of a worker, whose name is in the subject.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkerMessage {
    pub(super) version: u32,
    #[serde(flatten)]
    pub(super) content: ToCoordinator,
}

/// From a worker to the coordinator of a run, or `Hello` and `Leaving` to all coordinators.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ToCoordinator {
    /// The units of a worker. Sent repeatedly.
    Hello {
        machine: Machine,
        /// Differs each time that the worker starts.
        session: String,
        holding: Vec<UnitId>,
    },
    /// The worker ends.
    Leaving,
    Taken {
        session: String,
        unit: UnitId,
        delivery: Delivery,
    },
    Moved {
        unit: UnitId,
    },
    Returned {
        unit: UnitId,
        delivery: Delivery,
        reason: Returned,
    },
    /// An outcome follows on the next lines, or is an object in the store.
    Played {
        unit: UnitId,
        object: Option<String>,
    },
}

/// A delivery of a message of the stream: two messages about one delivery are one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Delivery {
    /// The sequence number of the message in the stream.
    pub(super) message: u64,
    /// From 1.
    pub(super) number: i64,
}

impl Delivery {
    /// Whether it is later than the last known delivery of the same unit. Another message is always later, also with a
    /// lower sequence number: a stream that is created again counts from 1.
    pub(super) fn is_after(self, known: Delivery) -> bool {
        self.message != known.message || self.number > known.number
    }
}

/// From the coordinator of a run to workers: the body of a signed message, which names the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ToWorker {
    /// Asks for `Hello`.
    RequestHello,
    Verdict {
        unit: UnitId,
        verdict: OutcomeVerdict,
    },
    Withdrawn {
        unit: UnitId,
    },
    State {
        state: MachineState,
    },
    Over,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_later_by_its_number_or_of_another_message() {
        let delivery = |message, number| Delivery { message, number };
        assert!(delivery(7, 1).is_after(Delivery::default()) && delivery(7, 2).is_after(delivery(7, 1)));
        assert!(!delivery(7, 1).is_after(delivery(7, 1)) && !delivery(7, 1).is_after(delivery(7, 2)));
        assert!(delivery(2, 1).is_after(delivery(7, 3)), "the stream was created again");
    }
}
