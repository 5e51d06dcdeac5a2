//! The headless referee for programs that play board games against each other.
//!
//! * [`core`]: the vocabulary: seats, games, chance, outcomes, clocks
//! * [`games`]: the rules of each game
//! * [`referee`]: the match as a state machine
//! * [`record`]: what a match leaves behind, and checking it
//! * [`tournament`]: who plays whom, standings, ratings, tests of strength
//!
//! These are the library without default features. They know no file, process, socket, clock or random source. Dependencies point one way: a game knows `core`
//! alone and never another game; `referee` knows `core`,
//! `record` knows `referee`, `tournament` knows `core` alone. The shell is built on all of them:
//!
//! * `transport`: streams and lines
//! * `bot`: processes of bots
//! * `server`: sessions, and driving matches
//! * `store`: folders of records
//! * `check`: whether a bot does what the protocol asks
//! * `report`: results for people
//! * `cli`: the subcommands

#[cfg(all(feature = "shell", not(unix)))]
compile_error!("referee runs on Linux and other Unix only: it needs process groups and pipes");

pub mod core;
pub mod games;
pub mod record;
pub mod referee;
pub mod tournament;

#[cfg(feature = "shell")]
pub mod bot;
#[cfg(feature = "shell")]
pub mod check;
#[cfg(feature = "shell")]
pub mod cli;
#[cfg(feature = "shell")]
pub mod report;
#[cfg(feature = "shell")]
pub mod server;
#[cfg(feature = "shell")]
pub mod store;
#[cfg(feature = "shell")]
pub mod transport;

/// Name and version, as messages and records give them.
pub const SERVER: &str = concat!("referee/", env!("CARGO_PKG_VERSION"));
