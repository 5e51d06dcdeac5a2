//! Whether a bot does what the protocol asks, found out by talking to it: `referee check` and `referee debug`.
//!
//! * [`Check`]: named steps, each with what was wrong where it fails
//! * [`Encounter`]: a match of the referee's state machine between bots and random moves
//! * [`Talk`]: the raw stream of a bot's process

mod desk;
mod encounter;
mod manner;
mod positions;
mod rule;
mod steps;
mod talk;
mod verdict;

pub use encounter::{Encounter, Refused};
pub use rule::Rule;
pub use steps::Check;
pub use talk::{Came, Talk, hello};
pub use verdict::{Complaint, Outcome, Verdict};
