//! Records: one file a match, JSON Lines, that anyone can check.
//!
//! A record is the log of its match. To check it is to hand the same events to the same state machine and to compare
//! what it writes.

mod format;
mod replay;
mod seal;
mod sheet;
#[cfg(test)]
mod tests;

pub use format::Line;
pub use replay::{Difference, Replay, verify};
pub use seal::{Seal, add_bots, seal};
pub use sheet::sheet;
