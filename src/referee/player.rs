//! What the match keeps for each seat.

use referee_protocol::referee::Fault;
use referee_protocol::words::FaultCode;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::core::clock::{Bank, Tick};
use crate::core::seat::Seat;

/// Counted faults by code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults([u32; FaultCode::ALL.len()]);

impl Faults {
    /// Counts one.
    pub fn add(&mut self, code: FaultCode) {
        self.0[code as usize] += 1;
    }

    /// Takes one back.
    pub fn remove(&mut self, code: FaultCode) {
        self.0[code as usize] = self.0[code as usize].saturating_sub(1);
    }

    /// All of them, whatever the code.
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
            *count += more;
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

/// A request that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// Its id.
    pub(super) turn: u32,
    /// When it, or the one that it repeats, was first offered to the kernel; none before.
    pub(super) since: Option<Sent>,
    /// Whether this one was offered: a repeated request has its `since` from the start.
    pub(super) is_sent: bool,
    /// Whether it shows a draw offer.
    pub(super) draw_offered: bool,
}

/// When a request was offered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) at: Tick,
    /// The referee's lag at that time.
    pub(super) lag: u64,
    /// The last moment at which an answer is in time, as far as is known; none without a clock.
    pub(super) deadline: Option<Tick>,
}

/// Why a seat plays no longer for itself.
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

/// What a seat decided, kept until all have.
#[derive(Clone, Debug)]
pub(super) enum Sealed {
    /// It is ready to begin.
    Ready,
    /// It plays this one of its prepared moves.
    Move { index: usize, offer_draw: bool },
    /// It did not decide.
    Exit(Exit),
    /// The referee decides for it.
    Referee,
}

#[derive(Debug)]
pub(super) struct Player {
    pub(super) seat: Seat,
    /// Bytes to send now.
    pub(super) outbox: Vec<u8>,
    /// Events that wait for the next request or the end.
    pub(super) held: Vec<u8>,
    /// What each of its events and requests begins with, up to the number or the view.
    pub(super) event_head: Vec<u8>,
    pub(super) turn_head: Vec<u8>,
    pub(super) next_turn: u32,
    pub(super) next_event: u32,
    /// From `start` to `ready`, in microseconds.
    pub(super) ready_limit: u64,
    /// When `start` was offered.
    pub(super) started: Option<Tick>,
    pub(super) bank: Option<Bank>,
    pub(super) request: Option<Request>,
    pub(super) sealed: Option<Sealed>,
    /// What happened to it while others still decide, after it had decided itself.
    pub(super) exit_later: Option<Exit>,
    /// No message reaches it.
    pub(super) gone: bool,
    /// It was not ready in time, and the match goes on without it.
    pub(super) absent: bool,
    /// Its side has lost; the referee plays for it if the match goes on.
    pub(super) out: bool,
    pub(super) nonce: String,
    pub(super) retries: u32,
    pub(super) strays: u32,
    pub(super) info_bytes: usize,
    /// What the referee's lag has given it beyond its limits, in microseconds.
    pub(super) lag_used: u64,
    pub(super) faults: Faults,
}

/// What an outbox grows from, in bytes: a request has hardly less.
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
            info_bytes: 0,
            lag_used: 0,
            faults: Faults::default(),
        }
    }

    /// Whether the referee plays for it from now on.
    pub(super) fn is_played_by_referee(&self) -> bool {
        self.gone || self.absent || self.out
    }
}
