//! The messages between the threads of a run.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use referee_bots::Process;
use referee_game::seat::Seat;
use referee_match::{Detail, Log};
use referee_protocol::referee::Reveal;
use referee_results::FinishedMatch;
use referee_transport::Wire;
use tokio::sync::{mpsc, oneshot};

use crate::driver::{BotFault, BotInstance, DetachedSession, SessionKey, Unacknowledged};
use crate::runner::bots::{BotKey, BotUsage, PairingKey};
use crate::runner::fixture::{Fixture, Wait};
use crate::runner::run_event::NoShow;
use crate::runner::run_failure::RunFailure;

/// The reason in `bye` at the end of a run.
pub(super) const OVER: &str = "the run is over";

/// A lane, for the sender of its orders.
#[derive(Clone, Debug)]
pub(super) struct LaneHandle {
    pub(super) number: usize,
    pub(super) orders: mpsc::UnboundedSender<LaneOrder>,
}

/// Sends the events of a lane to the runner.
#[derive(Clone)]
pub(super) struct EventSender {
    pub(super) lane: usize,
    pub(super) runner: mpsc::UnboundedSender<(usize, LaneEvent)>,
}

impl EventSender {
    pub(super) fn send(&self, event: LaneEvent) {
        // The channel is closed if the run is failing.
        let _ = self.runner.send((self.lane, event));
    }
}

/// An event that a lane reports to the runner.
pub(super) enum LaneEvent {
    /// The lane needs bots, given with the index of their configuration: all of them or none. With the behaviour of the match
    /// if one is not connected.
    NeedsBots(Vec<(BotKey, usize)>, Wait),
    /// A process is to be terminated; its stream is closed.
    EndProcess(Process),
    /// A connection has no match on this lane any more.
    ReturnsConnection(Box<DetachedSession>),
    /// A connection of this bot has ended.
    ConnectionEnded(usize),
    /// The connections of these bots are for the lane from now on: they play a match of an earlier process.
    ExpectsBots(Vec<(BotKey, BotInstance)>),
    /// The lane does not wait for this bot to connect again.
    BotGone(BotKey, Unacknowledged),
    /// An error ends the run.
    Failed(RunFailure),
    /// The lane is done. This is its last event.
    Done,
}

/// An order of the runner to a lane.
pub(super) enum LaneOrder {
    /// A requested bot, or why it is not available.
    BotArrived(BotKey, Result<BotArrival, BotFault>),
    /// A bot among these is not connected: their match goes back to the schedule.
    PutBack(Vec<BotKey>),
    /// A new connection of a bot of the lane.
    TakeOver(BotKey, Box<DetachedSession>),
    /// The process of a session has exited.
    Exited(SessionKey, Detail),
    /// A match of this pairing has been journaled; `None` if that failed.
    Journaled(PairingKey, Option<Fixture>),
    /// The schedule may have more matches.
    Wake,
    /// Send the ids of the matches in progress with their numbers of moves.
    Progress(mpsc::UnboundedSender<(String, u32)>),
    Stop,
}

/// A bot that is handed to a lane.
pub(super) enum BotArrival {
    /// A started process. The lane sends its session key, which is needed to report its exit.
    Process(Process, Wire, oneshot::Sender<SessionKey>),
    Connection(Box<DetachedSession>),
}

pub(super) enum ReportEvent {
    /// Bots can connect to this address.
    Listening(SocketAddr),
    /// A match waits for a bot of this name to connect.
    Waiting(String),
    /// A bot of this name that a match waited for has connected.
    Connected(String),
    /// News of the watched match, as text.
    Moved(String),
    Ended(Box<EndedOnLane>),
    /// The lanes are all done. This is the last event.
    Over {
        /// Whether all matches were played.
        is_complete: bool,
    },
}

/// A match that has ended, before the reporter adds facts about its bots to its record.
pub(super) struct EndedOnLane {
    pub(super) fixture: Fixture,
    pub(super) finished: FinishedMatch,
    /// The record, without data about the bots and without its seal.
    pub(super) record: Log,
    pub(super) reveal: Reveal,
    /// By seat: the beginning of the last line that was the fault `malformed`.
    pub(super) malformed: BTreeMap<Seat, String>,
    /// By seat.
    pub(super) bots: Vec<BotUsage>,
    /// A bot that could not play at all.
    pub(super) no_show: Option<NoShow>,
}
