//! The messages of `referee imagine`, which answers a search bot's questions about imagined positions.
//!
//! They are not part of the protocol between referee and bot: a bot starts the program itself.

use serde::{Deserialize, Serialize};

use crate::Text;

/// Longest request, in bytes without the line break.
pub const LINE: usize = 1024 * 1024;
/// Number of imagined positions that are kept.
pub const POSITIONS: u32 = 64;
/// Maximum number of worlds of a position.
pub const WORLDS: u32 = 256;
/// Maximum number of moves in a request.
pub const MOVES: usize = 1_000;
/// Maximum number of playouts in a request.
pub const PLAYOUTS: u32 = 100_000;

fn one() -> u32 {
    1
}

/// Any request. `V` is the representation of a view and of options.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", bound(deserialize = "V: Deserialize<'de>"))]
pub enum Request<'a, V> {
    /// Imagines a position from a view.
    #[serde(borrow)]
    Imagine(Imagine<'a, V>),
    /// Asks for the position after some moves.
    #[serde(borrow)]
    Explore(Explore<'a>),
    /// Asks for the mean result of random continuations after some moves.
    #[serde(borrow)]
    Playouts(Playouts<'a>),
}

/// Samples worlds that are consistent with a view, and keeps them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(bound(deserialize = "V: Deserialize<'de>"))]
pub struct Imagine<'a, V> {
    /// The number under which the position is kept, 0 to 63. It replaces the one that has this number.
    #[cfg_attr(feature = "schema", schemars(range(max = 63)))]
    pub position: u32,
    /// The game's id.
    #[serde(borrow)]
    pub game: Text<'a>,
    /// The version of the rules, as in `start`; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<u32>,
    /// The number of seats; default the game's smallest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seats: Option<u32>,
    /// The options of the match, an object; default the game's defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("type" = "object")))]
    pub options: Option<V>,
    /// The seat whose view it is.
    pub seat: u8,
    /// The view from which the program imagines.
    #[cfg_attr(feature = "schema", schemars(extend("type" = "object")))]
    pub view: V,
    /// `turns_left` of the request; absent without a turn limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns_left: Option<u32>,
    /// The number of worlds to sample, 1 to 256; default 1. Games without hidden information have one world.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 256)))]
    pub worlds: u32,
    /// The seed of the sample; default 0.
    #[serde(default)]
    pub seed: u64,
}

/// The move that a seat makes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeatMove<'a> {
    /// The seat, counted from 0.
    pub seat: u8,
    /// The text of the move.
    #[serde(borrow)]
    pub r#move: Text<'a>,
}

/// Asks for the position after some moves.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explore<'a> {
    /// The number of the position.
    pub position: u32,
    /// The world, counted from 0; default 0.
    #[serde(default)]
    pub world: u32,
    /// The moves of all seats from there, in order; at most 1000.
    #[serde(borrow, default)]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub moves: Vec<SeatMove<'a>>,
    /// The seed of the dice and shuffles; default 0.
    #[serde(default)]
    pub seed: u64,
    /// The seat whose view is wanted; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view_of: Option<u8>,
}

/// Asks for the mean result of random continuations after some moves.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Playouts<'a> {
    /// The number of the position.
    pub position: u32,
    /// The world, counted from 0; absent: each playout begins in one drawn at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<u32>,
    /// The moves of all seats from there, in order; at most 1000.
    #[serde(borrow, default)]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub moves: Vec<SeatMove<'a>>,
    /// The number of playouts, 1 to 100000.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100_000)))]
    pub count: u32,
    /// The seed of the playouts; default 0.
    #[serde(default)]
    pub seed: u64,
}

/// Any answer. `V` is the representation of a view.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", bound(deserialize = "V: Deserialize<'de>"))]
pub enum Answer<'a, V> {
    /// Answers `imagine`.
    Imagined(Imagined),
    /// Answers `explore`.
    #[serde(borrow)]
    Explored(Explored<'a, V>),
    /// Answers `playouts`.
    Played(Played),
    /// The request was rejected.
    Error(Error),
}

/// Answers `imagine`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Imagined {
    /// The number of worlds.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 256)))]
    pub worlds: u32,
}

/// The legal moves of a seat that decides.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decision<'a> {
    /// The seat, counted from 0.
    pub seat: u8,
    /// Every legal move, sorted bytewise; empty if nobody can list them.
    #[serde(borrow)]
    pub legal: Vec<Text<'a>>,
}

/// The position after some moves.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(bound(deserialize = "V: Deserialize<'de>"))]
pub struct Explored<'a, V> {
    /// The seats that decide; empty when the game is over.
    #[serde(borrow)]
    pub decisions: Vec<Decision<'a>>,
    /// Turns until the turn limit, including this one; absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns_left: Option<u32>,
    /// The view of the seat `view_of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("type" = "object")))]
    pub view: Option<V>,
    /// The result, when the game is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Over>,
}

/// The result of a game.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Over {
    /// The rank of each seat, from 1.
    pub ranks: Vec<u8>,
    /// The score of each seat, 0 to 1.
    pub scores: Vec<f64>,
    /// The amount of each seat, in the unit of the game; absent in games without amounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amounts: Option<Vec<f64>>,
    /// The rule that ended it, as in `end`.
    pub reason: String,
}

/// Answers `playouts`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Played {
    /// The mean score of each seat, 0 to 1.
    pub scores: Vec<f64>,
}

/// The reason why a request was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The line is not a valid request.
    Malformed,
    /// The line exceeds the length limit.
    LineTooLong,
    /// Unknown `type`.
    UnknownType,
    /// The game, its options, its seats or its rules version do not fit.
    BadSetup,
    /// The view cannot be read or contradicts itself.
    BadView,
    /// The position or world does not exist.
    UnknownPosition,
    /// A seat cannot play this move.
    IllegalMove,
}

/// The request was rejected.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Error {
    /// The kind of error.
    pub code: Code,
    /// A description of the error and of what was expected.
    pub message: String,
}
