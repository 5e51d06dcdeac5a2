//! A ladder: matches without rounds and without an end, between players that come and go.
//!
//! 1. A [`Name`] is a bot, with or without a version. A new version is a new player.
//! 2. [`Matchmaker`] decides who plays next, whenever there is room for a match.
//! 3. [`FaultExclusion`] puts players out for a while whose matches end by their faults.
//! 4. [`Copies`] leaves out copies of matches between deterministic players.
//! 5. [`fit_anchored`](super::rating::bradley_terry::fit_anchored) rates all players from all results.
//!
//! Times are microseconds from an origin that the shell chooses.

mod copies;
mod fault_exclusion;
mod matchmaker;
mod name;

pub use copies::{Copies, CountedResult, FirstMatch};
pub use fault_exclusion::{FaultExclusion, STRIKES};
pub use matchmaker::{Matchmaker, Newcomer, Strength};
pub use name::Name;

/// A second, in the unit of times.
const SECOND: u64 = 1_000_000;
