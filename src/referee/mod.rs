//! The match as a state machine without I/O: the one place that decides.
//!
//! The shell stamps [`Event`]s and hands them to [`Match::handle`]; the match answers with bytes in the outboxes of
//! its seats and with its log, which is the record. The same events give the same bytes.

mod answers;
mod decisions;
mod ending;
mod event;
mod faults;
mod log;
mod match_;
pub mod opening;
mod player;
mod setup;
mod telling;

pub use ending::Ending;
pub use event::{Event, Stamp};
pub use match_::{Match, NOT_READY};
pub use opening::Opening;
pub use player::Faults;
pub use setup::{Header, Leg, SeatHeader, Setup, Wants};

#[cfg(test)]
mod tests;
