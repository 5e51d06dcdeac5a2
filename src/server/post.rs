//! What the house and its lanes tell each other.

use referee_protocol::referee::Reveal;
use referee_protocol::words::FaultCode;
use tokio::sync::oneshot;

use crate::bot::Process;
use crate::server::bots::BotKey;
use crate::server::results::MatchReport;
use crate::server::schedule::Fixture;
use crate::server::session::{Moving, SessionKey};
use crate::transport::Wire;

/// What bots are told at the end.
pub(super) const OVER: &str = "the run is over";

/// What a lane tells the house.
pub(super) enum Word {
    /// It needs bots, each with its entrant; all of them at once or none.
    Needs(Vec<(BotKey, usize)>),
    /// A process is to be ended: its stream has been closed.
    Leaves(Process),
    /// A connection has no match on this lane any more.
    Returns(Box<Moving>),
    /// A connection of this entrant is over.
    Lost(usize),
    /// A match has ended.
    Ended(Box<Ended>),
    /// The run cannot go on.
    CannotRun(String),
    /// The lane has done its work. Nothing follows.
    Done,
}

/// What the house tells a lane.
pub(super) enum Order {
    /// A bot is here, or why it is not.
    Come(BotKey, Result<Come, (FaultCode, String)>),
    /// The process of a session has ended.
    Exited(SessionKey, String),
    /// The schedule may have more.
    Wake,
    /// Break all matches off.
    Stop,
}

/// A bot that comes to a lane.
pub(super) enum Come {
    /// A process was started; the lane tells its session, to which its end will be told.
    Process(Process, Wire, oneshot::Sender<SessionKey>),
    /// It has connected.
    Guest(Box<Moving>),
}

/// A match that has ended, and what is known of its bots.
pub(super) struct Ended {
    pub(super) fixture: Fixture,
    pub(super) report: MatchReport,
    /// The record, without its seal.
    pub(super) record: Vec<u8>,
    pub(super) reveal: Reveal,
    /// Why a bot could not play at all.
    pub(super) never_came: Option<String>,
}
