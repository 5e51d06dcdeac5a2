//! The match as a sans-I/O state machine, which makes all decisions of the referee.
//!
//! The shell passes timestamped [`Event`]s to a [`Match`] and polls it for output. The match writes to the outboxes of
//! its seats and to its log, which is the record. It is deterministic: the same events produce the same bytes.

mod answers;
mod broadcast;
mod common;
mod detail;
mod ending;
mod event;
mod limits;
mod log;
mod match_;
pub mod opening;
mod outage;
mod player;
mod playing;
mod received;
mod scene;
mod setup;
mod starting;

pub use detail::{AbortReason, Detail, Fault, RulesFailure};
pub use ending::Ending;
pub use event::{Event, MatchEvent, Stamp};
pub use limits::Limits;
pub use log::Log;
pub use match_::{Match, Transmit};
pub use opening::Opening;
pub use outage::Outage;
pub use player::Faults;
pub use received::{Field, Received, RefusedLine};
pub use setup::{Header, Leg, SeatHeader, Setup, Wants};

#[cfg(test)]
mod tests;
