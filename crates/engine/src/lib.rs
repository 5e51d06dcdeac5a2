//! Plays matches: threads, streams and processes around [`referee_match::Match`].
//!
//! * [`driver`]: one lane, the matches and streams of one thread
//! * [`sources`]: where bots come from, processes and connections
//! * [`runner`]: many matches on many lanes, what is played next, and the events of a run
//!
//! ```no_run
//! use referee_bots::Launch;
//! use referee_engine::driver::{Run, Terms};
//! use referee_engine::runner::{Fixture, MatchRunner, Next, RunEvent, Scheduler, Wait};
//! use referee_engine::sources::{self, BotSpec};
//! use referee_game::chance::Seed;
//! use referee_match::{Leg, Opening};
//! use referee_results::FinishedMatch;
//!
//! /// A single match.
//! #[derive(Debug)]
//! struct Once(Option<Fixture>);
//!
//! impl Scheduler for Once {
//!     fn next(&mut self, _: Option<&[usize]>) -> Next {
//!         self.0.take().map_or(Next::Never, Next::Match)
//!     }
//!
//!     fn ended(&mut self, _: &Fixture, _: &FinishedMatch) -> bool {
//!         false
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let rules = referee_games::catalog().find("checkers")?;
//! let run = Run { seed: Seed([7; 32]), terms: Terms::default() };
//! let bots = BotSpec::of(vec![sources::parse("python3 one.py")?, sources::parse("./other --depth 3")?]);
//! let fixture = Fixture {
//!     id: "m1".to_owned(),
//!     deal: None,
//!     leg: Leg::Only,
//!     options: rules.default_options().into(),
//!     opening: Opening::None.into(),
//!     bots: vec![0, 1],
//!     wait: Wait::Always,
//!     secret: None,
//! };
//! let runner = MatchRunner::new(run, rules, rules.meta().seatings[0], bots, Launch::Directly);
//! runner.play(Once(Some(fixture)), std::future::pending(), |event| {
//!     if let RunEvent::Ended(ended) = event {
//!         println!("{}: {}", ended.finished.id, ended.finished.ending.reason);
//!     }
//!     Ok(())
//! });
//! # Ok(())
//! # }
//! ```

pub mod client;
pub mod driver;
pub mod runner;
pub mod sources;
