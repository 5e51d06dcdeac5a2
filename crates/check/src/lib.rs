//! Conformance tests for bots: `referee check`, and the parts that `referee debug` shares with it.
//!
//! * [`Check`]: a sequence of named steps, with an explanation for each failure
//! * [`Encounter`]: a match between bots and random moves, driven by the referee's state machine
//! * [`Talk`]: the process of a bot and its raw stream
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use referee_bots::Launch;
//! use referee_check::Check;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let check = Check {
//!     command: "python3 bot.py".parse()?,
//!     launch: Launch::Directly,
//!     catalog: referee_games::catalog(),
//!     game: None,
//!     move_limit: Duration::from_secs(5),
//!     hello_limit: Duration::from_secs(10),
//!     ready_limit: Duration::from_secs(60),
//!     later_ready_limit: Duration::from_secs(5),
//!     hide_legal: false,
//!     reconnects: false,
//! };
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! runtime.block_on(check.run(|step| println!("{}: {}", step.step, step.verdict.as_str())))?;
//! # Ok(())
//! # }
//! ```

mod context;
mod delivery;
mod encounter;
mod positions;
mod rule;
mod setup;
mod steps;
mod talk;
mod verdict;

pub use encounter::{Encounter, LineOutcome, handle_line, read_greeting};
pub use rule::Rule;
pub use setup::Check;
pub use talk::{BotOutput, Talk, hello};
pub use verdict::{StepResult, StepVerdict, Violation};
