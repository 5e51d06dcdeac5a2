//! A headless referee for programs that play board games against each other.
//!
//! This crate is the command `referee` and a library. With the library, a program can
//!
//! * play and search positions: [`game::Game`], the rules in [`games`], [`game::perft`]
//! * referee matches without I/O, under virtual time: [`referee::Match`]
//! * verify and replay records: [`record::Replay`]
//! * compute standings, ratings and sequential tests: [`stats`]
//! * add a game to all subcommands: [`game::Catalog`], `cli::main`
//! * run matches between programs: `runs::play::Play`, `runner::MatchRunner`
//! * open, play, change and verify tournaments, and play regressions: `runs`
//!
//! The example `embed` plays matches with the state machine and between programs, and a tournament; `examples/custom_game`
//! in the repository is a crate that adds a game. The messages are the crate [`referee_protocol`]; bots in Rust use
//! `referee-bot`.
//!
//! # Modules
//!
//! * [`game`]: shared types and traits: seats, games, chance, outcomes, clocks
//! * [`games`]: the rules of each game
//! * [`referee`]: the match as a state machine
//! * [`record`]: the file written for each match, and how to verify it
//! * [`stats`]: pairings, standings, ratings, sequential tests
//!
//! These modules are crates of their own, and the library without default features. They use no files, processes, sockets,
//! clocks or random sources. The shell builds on all of them:
//!
//! * `files`: private and atomic files, directories of records
//! * `transport`: non-blocking streams, TLS, line framing
//! * `bot`: bot processes
//! * `program`: games whose rules are programs in any language
//! * `client`: the seat of a player in the process of the referee
//! * `driver`: one lane: the matches and streams of one thread
//! * `sources`: where bots come from: processes and connections
//! * `runner`: many matches on many lanes
//! * `results`: a finished match
//! * `store`: results in SQLite
//! * `league`: bots, owners, decisions and standings of leagues
//! * `check`: tests whether a bot conforms to the protocol
//! * `report`: results as text, JSON and other formats
//! * `web`: a read-only HTTP server for spectators
//! * `workers`: matches on more than one machine
//! * `runs`: what opens, recovers and plays runs
//! * `cli`: the subcommands
//!
//! # Features
//!
//! * `shell`: everything that touches the outside world, and the command `referee`. Linux and other Unix
//! * `http` (default): `shell`, spectators, leagues and `referee submit`
//! * `mcp`: `referee mcp`, the tools of an agent: a seat, and a bench for a bot that it writes
//! * `nats`: workers over NATS JetStream
//! * `schema`: JSON Schemas of games; part of `shell`
//! * `fuzzing`: what the fuzz targets of the repository call; not covered by semantic versioning

#[cfg(all(feature = "shell", not(unix)))]
compile_error!("referee runs on Linux and other Unix only: it needs process groups and pipes");

#[cfg(feature = "shell")]
pub use referee_bots as bot;
#[cfg(feature = "shell")]
pub use referee_bridge as bridge;
#[cfg(feature = "shell")]
pub use referee_check as check;
#[cfg(feature = "shell")]
pub use referee_engine::{client, driver, runner, sources};
#[cfg(feature = "shell")]
pub use referee_files as files;
pub use referee_game as game;
pub use referee_games as games;
#[cfg(feature = "shell")]
pub use referee_league as league;
pub use referee_match as referee;
pub use referee_match::{SERVER, record};
#[cfg(feature = "shell")]
pub use referee_program as program;
#[cfg(feature = "shell")]
pub use referee_report as report;
#[cfg(feature = "shell")]
pub use referee_results as results;
#[cfg(feature = "shell")]
pub use referee_runs as runs;
pub use referee_stats as stats;
#[cfg(feature = "shell")]
pub use referee_store as store;
#[cfg(feature = "shell")]
pub use referee_transport as transport;
#[cfg(feature = "http")]
pub use referee_web as web;
#[cfg(feature = "shell")]
pub use referee_workers as workers;

#[cfg(feature = "shell")]
pub mod cli;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
