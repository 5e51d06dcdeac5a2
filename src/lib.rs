//! A headless referee for programs that play board games against each other.
//!
//! * [`core`]: shared types and traits: seats, games, chance, outcomes, clocks
//! * [`games`]: the rules of each game
//! * [`referee`]: the match as a state machine
//! * [`record`]: the file written for each match, and how to verify it
//! * [`tournament`]: pairings, standings, ratings, sequential tests
//!
//! These modules are the library without default features. They use no files, processes, sockets, clocks or random
//! sources. Dependencies point one way: a game depends only on `core`, never on another game; `referee` depends on
//! `core` and `record` on `referee`; `tournament` depends only on `core`. The shell builds on all of them:
//!
//! * `transport`: non-blocking streams, TLS, line framing
//! * `bot`: bot processes
//! * `server`: sessions with bots, and the drivers of matches
//! * `store`: folders of records, results in SQLite
//! * `check`: tests whether a bot conforms to the protocol
//! * `report`: results as text, JSON and other formats
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

/// Name and version of the referee, as written in messages and records.
pub const SERVER: &str = concat!("referee/", env!("CARGO_PKG_VERSION"));
