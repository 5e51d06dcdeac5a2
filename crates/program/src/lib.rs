//! Games whose rules are programs in any language.
//!
//! * [`Manifest`] is `game.toml`, which describes a game
//! * [`Carrier`] passes requests to the program of a game, one line of JSON each, and its answers back
//! * [`WasmModule`] is a carrier that runs a WebAssembly module (feature `wasm`)
//! * [`ProgramRules`] implements [`Rules`](referee_game::erased::Rules) with them
//!
//! * [`load`] does all of it for the directory of a game, and [`check`] tests such a game step by step
//!
//! ```no_run
//! use std::path::Path;
//!
//! use referee_bots::Launch;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let rules = referee_program::load(Path::new("examples/games/connect_four"), &Launch::Directly)?;
//! println!("{}", rules.meta().id);
//! # Ok(())
//! # }
//! ```
//!
//! The program is a pure function: it gets a position that it has made itself, as JSON, and returns the next one. It knows
//! no match, no bot, no clock and no seed. Every answer is checked before anything depends on it. The specification is the
//! page `games` of the protocol.

mod answer;
mod cache;
mod carrier;
#[cfg(feature = "schema")]
mod check;
mod directory;
mod keep;
mod load;
mod manifest;
mod notation;
mod position;
mod processes;
mod request;
mod rules;
mod scene;
mod shown;
mod table;
#[cfg(feature = "wasm")]
mod wasm;

pub use carrier::{Carrier, Restarts};
#[cfg(feature = "schema")]
pub use check::{GameFigures, GameStep, check};
pub use directory::{MANIFEST, content};
pub use keep::{keep, kept, version};
pub use load::{files, is_game, load, load_kept, remove_copies, sandbox};
pub use manifest::{Manifest, ManifestProgram};
pub use rules::ProgramRules;
#[cfg(feature = "wasm")]
pub use wasm::WasmModule;

/// The version of the messages between referee and program.
pub const PROTOCOL: u32 = 1;

/// Longest answer, in bytes.
pub const MOST_ANSWER: usize = 1 << 20;
/// Longest state, in bytes.
pub const MOST_STATE: usize = 64 << 10;
/// Longest move, in bytes.
pub const MOST_MOVE: usize = 256;
/// Longest move that is not listed, in bytes.
pub const MOST_UNLISTED_MOVE: usize = referee_protocol::limits::UNLISTED_MOVE;
/// The maximum depth of lists and objects inside each other in an answer. Some parsers of bots refuse more than 64.
pub const MOST_DEPTH: usize = 64;
/// Longest view, in bytes.
pub const MOST_VIEW: usize = 128 << 10;
/// Longest list of legal moves of a seat, in bytes.
pub const MOST_LEGAL: usize = 128 << 10;
/// Longest form of an event, in bytes.
pub const MOST_EVENT: usize = 64 << 10;
/// The maximum number of events of one answer.
pub const MOST_EVENTS: usize = 1000;
/// The maximum size of the events between two decisions, in bytes. A bot that reads slowly has room for them.
pub const MOST_NEWS: usize = 512 << 10;
/// The maximum size of the events, draws and listed moves of a match, in bytes: its record contains them.
pub const MOST_RECORDED: usize = 16 << 20;
/// The maximum size of all unlisted moves of a seat in a match, in bytes.
pub const MOST_UNLISTED_MOVES: usize = 2 << 20;
/// The greatest amount that a side can get, and its negation the least one.
pub const MOST_AMOUNT: f64 = 1e12;
/// Longest board for terminals, in bytes.
pub const MOST_TEXT: usize = 32 << 10;
/// Longest scene, in bytes. With view, moves and text it has room in a line to a bot.
pub const MOST_SCENE: usize = 256 << 10;
/// The maximum size of the texts of a scene, in bytes.
pub const MOST_SCENE_TEXT: usize = 64 << 10;
/// The maximum number of decisions and draws of a match.
pub const MOST_STEPS: u32 = referee_game::playout::LONGEST;
