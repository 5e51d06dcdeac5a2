//! The state of a seat in a match.

use referee_protocol::words::FaultCode;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::core::clock::{Bank, Tick};
use crate::core::seat::Seat;
use crate::referee::detail::Fault;
use crate::referee::received::{Received, RefusedLine};

/// Fault counts by code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults([u32; FaultCode::ALL.len()]);

impl Faults {
    /// Counts one.
    pub fn add(&mut self, code: FaultCode) {
        self.add_many(code, 1);
    }

    /// Counts so many more.
    pub fn add_many(&mut self, code: FaultCode, count: u32) {
        let sum = &mut self.0[code as usize];
        *sum = sum.saturating_add(count);
    }

    /// Removes one.
    pub fn remove(&mut self, code: FaultCode) {
        self.0[code as usize] = self.0[code as usize].saturating_sub(1);
    }

    /// The total over all codes.
    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }

    /// The codes that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (FaultCode, u32)> {
        FaultCode::ALL.iter().map(|&code| (code, self.0[code as usize])).filter(|&(_, count)| count > 0)
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Faults) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(more);
        }
    }
}

impl Serialize for Faults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (code, count) in self.iter() {
            map.serialize_entry(code.as_str(), &count)?;
        }
        map.end()
    }
}

/// An open request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// Its id.
    pub(super) turn: u32,
    /// When it, or the request that it repeats, was first sent.
    pub(super) since: Option<Sent>,
    /// Whether this request was sent; a repeated request inherits `since`.
    pub(super) is_sent: bool,
    /// Whether it shows a draw offer.
    pub(super) draw_offered: bool,
}

/// When a request was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) at: Tick,
    /// The referee's lag at that time.
    pub(super) lag: u64,
    /// The deadline as known so far; lag can extend it. `None` without a clock.
    pub(super) deadline: Option<Tick>,
}

/// Why a seat stops deciding for itself.
#[derive(Clone, Debug)]
pub(super) enum Exit {
    Resign,
    Fault(Fault),
}

impl Exit {
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Exit::Resign => "resignation",
            Exit::Fault(fault) => fault.code.as_str(),
        }
    }
}

/// The decision of a seat, sealed until all seats have decided.
#[derive(Clone, Debug)]
pub(super) enum Sealed {
    /// The seat is ready.
    Ready,
    /// The index of a prepared move.
    Move { index: usize, offer_draw: bool },
    /// The seat resigned or failed to decide.
    Exit(Exit),
    /// The referee decides for the seat.
    Referee,
}

#[derive(Debug)]
pub(super) struct Player {
    pub(super) seat: Seat,
    /// Bytes to send now.
    pub(super) outbox: Vec<u8>,
    /// Events held back until the next request or the end.
    pub(super) held: Vec<u8>,
    /// Serialized prefixes of its `event` and `turn` messages.
    pub(super) event_head: Vec<u8>,
    pub(super) turn_head: Vec<u8>,
    pub(super) next_turn: u32,
    pub(super) next_event: u32,
    /// Timeout from `start` to `ready`, in microseconds.
    pub(super) ready_limit: u64,
    /// When `start` was sent.
    pub(super) started: Option<Tick>,
    pub(super) bank: Option<Bank>,
    pub(super) request: Option<Request>,
    pub(super) sealed: Option<Sealed>,
    /// A deferred exit: it came after the seat had decided, while others still decide.
    pub(super) exit_later: Option<Exit>,
    /// The bot is unreachable.
    pub(super) gone: bool,
    /// The bot was not ready in time, and the match goes on without it.
    pub(super) absent: bool,
    /// Its side has lost. The referee plays for it if the match continues.
    pub(super) out: bool,
    pub(super) nonce: String,
    pub(super) retries: u32,
    pub(super) strays: u32,
    /// The last line that was refused, since the last request.
    pub(super) refused: Option<RefusedLine>,
    /// What came in place of what is awaited, when its time is up.
    pub(super) received: Option<Received>,
    pub(super) info_bytes: usize,
    /// Total extension of its deadlines by the referee's lag, in microseconds.
    pub(super) lag_used: u64,
    pub(super) faults: Faults,
}

/// Initial capacity of an outbox, in bytes, about the size of a request.
const FIRST_OF_OUTBOX: usize = 512;

impl Player {
    pub(super) fn new(seat: Seat, bank: Option<Bank>, ready_limit: u64, match_id: &str) -> Player {
        let head = |kind: &str, number: &str| {
            format!("{{\"type\":\"{kind}\",\"match\":\"{match_id}\",\"seat\":{seat},\"{number}\":")
                .into_bytes()
        };
        Player {
            seat,
            outbox: Vec::with_capacity(FIRST_OF_OUTBOX),
            held: Vec::new(),
            event_head: head("event", "n"),
            turn_head: head("turn", "turn"),
            next_turn: 0,
            next_event: 0,
            ready_limit,
            started: None,
            bank,
            request: None,
            sealed: None,
            exit_later: None,
            gone: false,
            absent: false,
            out: false,
            nonce: String::new(),
            retries: 0,
            strays: 0,
            refused: None,
            received: None,
            info_bytes: 0,
            lag_used: 0,
            faults: Faults::default(),
        }
    }

    /// Whether the referee plays for this seat.
    pub(super) fn is_played_by_referee(&self) -> bool {
        self.gone || self.absent || self.out
    }
}
