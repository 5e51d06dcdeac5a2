//! The two ends of a carrier, which moves units and outcomes between a coordinator and its workers.
//!
//! Each end runs on a thread of its own and talks through channels, so that a slow network blocks neither the
//! coordinator nor the matches of a worker. A carrier guarantees little: messages may be lost, delayed and repeated. The
//! coordinator counts deliveries, gives a set that makes no progress to another machine, and counts the first outcome of
//! a set only.

use std::path::PathBuf;
use std::time::Duration;

use referee_game::Wrong;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::archive::ArchiveId;
use crate::machine::{Machine, MachineState};
use crate::trial::{TrialEvent, TrialJob, TrialReply};
use crate::unit::{EncodedOutcome, UnitId, UnitOutcome, WorkUnit};

/// The time in which lost workers may return with their units, also when a coordinator has just started:
/// longer than the longest pause between two attempts to connect and the handshake.
pub(super) const RECONNECT_WINDOW: Duration = Duration::from_secs(20);

pub trait CoordinatorEnd {
    /// Serves the coordinator until `orders` is closed, then passes on the remaining ones.
    ///
    /// # Errors
    /// Why the carrier cannot work; this ends the run.
    fn serve(
        self,
        orders: UnboundedReceiver<Order>,
        events: UnboundedSender<CarrierEvent>,
    ) -> impl Future<Output = Result<(), Wrong>>;
}

pub trait WorkerEnd {
    /// Serves the worker until `requests` is closed, then passes on the remaining ones. Connects again after a loss,
    /// and sends outcomes again that have no verdict.
    ///
    /// # Errors
    /// Why the carrier cannot work, such as a wrong token; this ends the worker.
    fn serve(
        self,
        requests: UnboundedReceiver<Request>,
        assignments: UnboundedSender<Assignment>,
    ) -> impl Future<Output = Result<(), Wrong>>;
}

/// An order of the coordinator to its end.
#[derive(Clone, Debug)]
pub enum Order {
    /// Hand this unit out to a worker with a free slot. Repeated for a unit that was returned.
    Publish(Box<WorkUnit>),
    /// A worker may have had this unit since an earlier coordinator: pass on what it reports.
    Adopt(Box<WorkUnit>),
    /// Do not hand this unit out any more; a worker that has it may stop.
    Withdraw(UnitId),
    /// The verdict on an outcome, which ends the delivery to its worker. Others have the unit until it is withdrawn.
    Verdict { unit: UnitId, worker: String, verdict: OutcomeVerdict },
    /// Whether a worker gets units of this run from now on, given by its name. A worker gets none before the first such order,
    /// and none of any run while it is not active in one.
    SetState(String, String, MachineState),
    /// The run with this id is over: notify the workers.
    Over(String),
    /// Let a worker build and check a program, and report on it.
    Try(Box<TrialJob>, UnboundedSender<TrialEvent>),
}

/// An event that the coordinator's end reports to the coordinator.
#[derive(Clone, Debug)]
pub enum CarrierEvent {
    /// A worker has connected, or connected again, and still has these units.
    Joined(Machine, Vec<UnitId>),
    /// A worker has disconnected; it may return with its units.
    Left(String),
    /// A worker has received a unit: this is a delivery.
    Taken(UnitId, String),
    /// Matches of the unit have moved since the last such event.
    Moved(UnitId, String),
    /// A worker does not have the unit any more, and there is no outcome.
    Returned(UnitId, String, Returned),
    /// A worker has played a unit. Also sent again after a verdict, if the worker has not received it.
    Played(EncodedOutcome, String),
    /// A worker speaks this version of the messages, which is another one, and gets no units.
    Incompatible(String, String),
}

/// Reasons why a unit was returned without an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Returned {
    /// The worker ends or was asked to stop.
    Stopped,
    /// The worker was lost with it.
    Lost,
    /// The machine cannot play it: a program is missing, a file differs, a layer of the sandbox is missing.
    Unable(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeVerdict {
    /// The outcome counts and is stored.
    Counted,
    /// An earlier outcome of the set exists.
    Duplicate,
    /// The outcome does not match the unit.
    Refused(String),
    /// A bot did not start: the set is tried on another machine first.
    Retried(String),
}

/// A message of a worker to its end.
#[derive(Clone, Debug)]
pub enum Request {
    /// The worker can take this number of further units.
    Free(usize),
    /// Matches of this unit have moved since the last such request.
    Moved(UnitId),
    Played(UnitOutcome),
    /// The worker does not play a unit that it has.
    Return(UnitId, Returned),
    /// The worker needs an archive, in a new file.
    Fetch(ArchiveId, PathBuf),
    /// The result of the trial with this number, and the archive of the build.
    Tried(u64, TrialReply, Vec<u8>),
}

/// A message of a worker's end to the worker.
#[derive(Clone, Debug)]
pub enum Assignment {
    /// The coordinator or the broker can be reached.
    Connected,
    /// The connection was lost, for this reason; the end connects again.
    Disconnected(String),
    Play(Box<WorkUnit>),
    /// A program to build and to check.
    Try(Box<TrialJob>),
    Verdict(UnitId, OutcomeVerdict),
    /// A unit that does not have to be played any more.
    Withdrawn(UnitId),
    /// Whether the worker gets units of this run. It gets none of any run while it is not active in one.
    State(String, MachineState),
    /// A coordinator speaks another version of the messages.
    Incompatible(String),
    /// An archive is in the file, or why it is not available.
    Fetched(ArchiveId, Result<(), Wrong>),
    Over(String),
}
