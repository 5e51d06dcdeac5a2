//! What plays matches: threads, streams and processes around [`referee_match::Match`].
//!
//! * [`driver`]: one lane, the matches and streams of one thread
//! * [`sources`]: where bots come from, processes and connections
//! * [`runner`]: many matches on many lanes, what is played next, and the events of a run
//!
//! ```no_run
//! use referee_bots::Launch;
//! use referee_engine::driver::{Run, Terms};
//! use referee_engine::runner::{MatchRunner, Openings, Play, PlayEvent, seating_for};
//! use referee_engine::sources::{self, BotSpec};
//! use referee_game::chance::Seed;
//! use referee_match::Opening;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let rules = referee_games::catalog().find("checkers")?;
//! let run = Run { seed: Seed([7; 32]), terms: Terms::default() };
//! let bots = BotSpec::of(vec![sources::parse("python3 one.py")?, sources::parse("./other --depth 3")?]);
//! let seating = seating_for(rules, bots.len(), None)?;
//! let runner = MatchRunner { jobs: 2, ..MatchRunner::new(run, rules, seating, bots, Launch::Directly) };
//! let openings = Openings::same(rules.default_options(), Opening::None);
//! let play = Play { runner, matches: 10, openings, mirror: None, trust_bots: false };
//! let result = play.run(std::future::pending(), |event| {
//!     if let PlayEvent::Ended(finished) = event {
//!         println!("{}: {}", finished.id, finished.ending.reason);
//!     }
//! });
//! for bot in &result.summary.bots {
//!     println!("{}: {} wins, {} draws, {} losses", bot.bot, bot.wdl.wins, bot.wdl.draws, bot.wdl.losses);
//! }
//! # Ok(())
//! # }
//! ```

pub mod driver;
pub mod runner;
pub mod sources;
