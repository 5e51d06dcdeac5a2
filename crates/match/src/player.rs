//! The state of a seat in a match.

use std::collections::BTreeMap;

use referee_game::clock::Bank;
use referee_game::seat::Seat;
use referee_protocol::words::FaultCode;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::detail::Fault;
use crate::received::{Received, RefusedLine};
use crate::totals::InfoTotals;

/// Fault counts by code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults([u32; FaultCode::ALL.len()]);

impl Faults {
    pub fn add(&mut self, code: FaultCode) {
        self.add_many(code, 1);
    }

    pub fn add_many(&mut self, code: FaultCode, count: u32) {
        let sum = &mut self.0[code as usize];
        *sum = sum.saturating_add(count);
    }

    pub fn remove(&mut self, code: FaultCode) {
        self.0[code as usize] = self.0[code as usize].saturating_sub(1);
    }

    pub fn of(&self, code: FaultCode) -> u32 {
        self.0[code as usize]
    }

    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// The total over all codes.
    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }

    /// The codes that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (FaultCode, u32)> {
        FaultCode::ALL.iter().map(|&code| (code, self.of(code))).filter(|&(_, count)| count > 0)
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

impl<'de> Deserialize<'de> for Faults {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Faults, D::Error> {
        let mut faults = Faults::default();
        for (code, count) in BTreeMap::<FaultCode, u32>::deserialize(deserializer)? {
            faults.add_many(code, count);
        }
        Ok(faults)
    }
}

/// Reasons why a seat stops deciding for itself.
#[derive(Clone, Debug)]
pub(super) enum SeatExit {
    Resign,
    Fault(Fault),
}

impl SeatExit {
    pub(super) fn reason(&self) -> &'static str {
        match self {
            SeatExit::Resign => "resignation",
            SeatExit::Fault(fault) => fault.code.as_str(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Player {
    pub(super) seat: Seat,
    pub(super) outbox: Vec<u8>,
    /// Events held back until the next request or the end.
    pub(super) held: Vec<u8>,
    /// Events that were sent and that the bot may not have received, for its next connection.
    pub(super) repeat: Vec<u8>,
    /// The number of them sent up to the open request.
    pub(super) asked: usize,
    /// Whether one more `ready` is expected, because `start` was repeated when the seat was ready.
    pub(super) may_be_ready: bool,
    /// Serialized prefix of its `event` messages.
    pub(super) event_head: Vec<u8>,
    pub(super) next_event: u32,
    pub(super) bank: Option<Bank>,
    pub(super) gone: bool,
    /// Whether the bot was not ready in time, so that the match continues without it.
    pub(super) absent: bool,
    /// Whether the side has lost. The referee plays for it if the match continues.
    pub(super) out: bool,
    pub(super) nonce: String,
    pub(super) strays: u32,
    /// The last line that was rejected since the last request.
    pub(super) refused: Option<RefusedLine>,
    /// The message in place of the awaited one, when its time is up.
    pub(super) received: Option<Received>,
    pub(super) faults: Faults,
    pub(super) totals: InfoTotals,
}

/// Initial capacity of an outbox, in bytes, about the size of a request.
const FIRST_OF_OUTBOX: usize = 512;

impl Player {
    pub(super) fn new(seat: Seat, bank: Option<Bank>, match_id: &str) -> Player {
        Player {
            seat,
            outbox: Vec::with_capacity(FIRST_OF_OUTBOX),
            held: Vec::new(),
            repeat: Vec::new(),
            asked: 0,
            may_be_ready: false,
            event_head: message_head("event", match_id, seat, "n"),
            next_event: 0,
            bank,
            gone: false,
            absent: false,
            out: false,
            nonce: String::new(),
            strays: 0,
            refused: None,
            received: None,
            faults: Faults::default(),
            totals: InfoTotals::default(),
        }
    }

    /// Sends the events that were held back. `repeats`: whether they may have to be sent again.
    pub(super) fn release_events(&mut self, repeats: bool) {
        if repeats {
            self.repeat.extend_from_slice(&self.held);
        }
        self.outbox.append(&mut self.held);
    }

    /// The bot has answered its request, so that it has received all that was sent before.
    pub(super) fn has_received(&mut self) {
        self.repeat.drain(..self.asked);
        self.asked = 0;
    }

    pub(super) fn is_played_by_referee(&self) -> bool {
        self.gone || self.absent || self.out
    }
}

/// The serialized prefix of messages of this type, up to the value of `number`.
pub(super) fn message_head(kind: &str, match_id: &str, seat: Seat, number: &str) -> Vec<u8> {
    format!("{{\"type\":\"{kind}\",\"match\":\"{match_id}\",\"seat\":{seat},\"{number}\":").into_bytes()
}
