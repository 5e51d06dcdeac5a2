//! Conformance tests for bots: `referee check`, and the parts that `referee debug` shares with it.
//!
//! * [`Check`]: a sequence of named steps, with an explanation for each failure
//! * [`Encounter`]: a match between bots and random moves, driven by the referee's state machine
//! * [`Talk`]: the process of a bot and its raw stream

mod context;
mod delivery;
mod encounter;
mod positions;
mod rule;
mod setup;
mod steps;
mod talk;
mod verdict;

pub use encounter::Encounter;
pub(crate) use encounter::{LineOutcome, handle_line, read_greeting};
pub use rule::Rule;
pub use setup::Check;
pub use talk::{BotOutput, Talk, hello};
pub use verdict::{Complaint, StepResult, StepVerdict};
