//! What the threads of a run tell each other.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use referee_protocol::referee::Reveal;
use referee_protocol::words::FaultCode;
use tokio::sync::oneshot;

use crate::bot::Process;
use crate::core::seat::Seat;
use crate::referee::Detail;
use crate::server::bots::{BotKey, BotUsage};
use crate::server::results::MatchReport;
use crate::server::scheduler::{Fixture, Wait};
use crate::server::session::{DetachedSession, SessionKey};
use crate::transport::Wire;

/// What bots are told at the end.
pub(super) const OVER: &str = "the run is over";

/// What a lane tells the house.
pub(super) enum LaneEvent {
    /// It needs bots, each with its entrant; all of them at once or none. And what the match does when one of them is not
    /// connected.
    NeedsBots(Vec<(BotKey, usize)>, Wait),
    /// A process is to be ended: its stream has been closed.
    EndProcess(Process),
    /// A connection has no match on this lane any more.
    ReturnsConnection(Box<DetachedSession>),
    /// A connection of this entrant is over.
    ConnectionEnded(usize),
    /// The run cannot go on.
    Failed(String),
    /// The lane has done its work. Nothing follows.
    Done,
}

/// What the house tells a lane.
pub(super) enum LaneOrder {
    /// A bot is here, or why it is not.
    BotArrived(BotKey, Result<BotArrival, (FaultCode, Detail)>),
    /// One of these bots is not connected: their match goes back to the schedule.
    PutBack(Vec<BotKey>),
    /// The process of a session has ended.
    Exited(SessionKey, Detail),
    /// A match of this pairing has been noted in the journal; none where that failed.
    Journaled(usize, Option<Fixture>),
    /// The schedule may have more.
    Wake,
    /// Break all matches off.
    Stop,
}

/// A bot that comes to a lane.
pub(super) enum BotArrival {
    /// A process was started; the lane tells its session, to which its end will be told.
    Process(Process, Wire, oneshot::Sender<SessionKey>),
    /// It has connected.
    Connection(Box<DetachedSession>),
}

/// What the reporter takes in.
pub(super) enum ReportEvent {
    /// Bots can connect here.
    Listening(SocketAddr),
    /// A match waits for a bot of this name to connect.
    Waiting(String),
    /// A bot of this name that a match waited for has connected.
    Connected(String),
    /// What happened in the match that is watched, in words.
    Moved(String),
    /// A match has ended.
    Ended(Box<EndedMatch>),
    /// All lanes are done. Nothing follows.
    Over {
        /// Whether all was played.
        is_complete: bool,
    },
}

/// A match that has ended, and what is known of its bots.
pub(super) struct EndedMatch {
    pub(super) fixture: Fixture,
    pub(super) report: MatchReport,
    /// The record, without what it tells of the bots and without its seal.
    pub(super) record: Vec<u8>,
    pub(super) reveal: Reveal,
    /// By seat: the beginning of the last line that was the fault `malformed`.
    pub(super) malformed: BTreeMap<Seat, String>,
    /// By seat.
    pub(super) bots: Vec<BotUsage>,
    /// A seat whose bot could not play at all, and why.
    pub(super) no_show: Option<(usize, String)>,
}
