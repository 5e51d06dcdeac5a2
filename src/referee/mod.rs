//! The match as a sans-I/O state machine, which makes all decisions of the referee.
//!
//! The shell passes timestamped [`Event`]s to [`Match::handle`]. The match writes output to the outboxes of its
//! seats and to its log, which is the record. It is deterministic: the same events produce the same bytes.

mod answers;
mod decisions;
mod detail;
mod ending;
mod event;
mod faults;
mod limits;
mod log;
mod match_;
pub mod opening;
mod player;
mod received;
mod setup;
mod telling;

pub use detail::{Abort, Detail, Fault};
pub use ending::Ending;
pub use event::{Event, Stamp};
pub use limits::Limits;
pub use match_::Match;
pub use opening::Opening;
pub use player::Faults;
pub use received::{Field, Received, RefusedLine};
pub use setup::{Header, Leg, SeatHeader, Setup, Wants};

#[cfg(test)]
mod tests;
