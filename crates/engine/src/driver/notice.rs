use std::collections::BTreeMap;
use std::time::Duration;

use referee_game::seat::Seat;
use referee_match::{Detail, Ending, Match, Outage};
use referee_protocol::bot;
use referee_protocol::words::FaultCode;
use serde_json::value::RawValue;

use crate::driver::keys::{MatchKey, SessionKey};

/// A report of a lane to its owner.
#[derive(Debug)]
pub enum Notice {
    /// The `hello` of a peer has arrived. Of a [`Role::Connection`](super::Role::Connection), nothing else is read:
    /// release or end the session.
    Greeted(SessionKey),
    /// The first line of a connection is long and not complete.
    LongLine(SessionKey),
    /// A session has ended; call [`Lane::forget`](crate::driver::Lane::forget).
    Gone {
        session: SessionKey,
        code: FaultCode,
        detail: Detail,
        /// Seats to be filled by another process of the bot: it ended properly after an earlier match, when these
        /// seats had been announced already. See [`Lane::seat`](crate::driver::Lane::seat).
        waiting: Vec<(MatchKey, Seat)>,
        /// Seats whose matches have this fault. It counts once, however many there are.
        lost: Vec<(MatchKey, Seat)>,
    },
    /// The stream of a session has ended, and its matches wait for another one: see
    /// [`Lane::take_over`](crate::driver::Lane::take_over).
    Lost {
        session: SessionKey,
        /// Seats whose matches do not wait. It counts as one fault, however many there are.
        faulty: Vec<(MatchKey, Seat)>,
    },
    /// A host asks for a match.
    OpenAsked(SessionKey, Box<bot::Open<Box<RawValue>>>),
    /// A watched match has news.
    Moved(MatchKey),
    Ended(Box<Finished>),
}

#[derive(Debug)]
pub struct Finished {
    pub key: MatchKey,
    pub play: Match,
    pub ending: Ending,
    /// By seat: the beginning of the last line that was the fault `malformed`.
    pub malformed: BTreeMap<Seat, String>,
    /// By seat: the times without a connection.
    pub outages: Vec<Vec<Outage>>,
    /// The time from opening to end.
    pub duration: Duration,
}
