//! Messages from a bot. Readers ignore unknown fields.

use std::collections::BTreeMap;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

use crate::referee::Clock;
use crate::words::{FaultCode, OnFault};
use crate::{MAX_INTEGER, Text};

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Any message from a bot. `V` is the representation of arbitrary JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", bound(deserialize = "V: Deserialize<'de>"))]
pub enum FromBot<'a, V> {
    /// Answers the referee's `hello`.
    Hello(Hello),
    /// Answers `start`.
    #[serde(borrow)]
    Ready(Ready<'a>),
    /// Answers `turn`.
    #[serde(borrow)]
    Move(Move<'a, V>),
    /// Answers `turn`: accepts the draw.
    #[serde(borrow)]
    AcceptDraw(AcceptDraw<'a>),
    /// Answers `turn`: the bot has no move.
    #[serde(borrow)]
    Unable(Unable<'a, V>),
    /// Resigns the match for the side.
    #[serde(borrow)]
    Resign(Resign<'a>),
    /// Opens a match.
    Open(Open<V>),
    /// Aborts a match.
    #[serde(borrow)]
    Abort(Abort<'a>),
    /// Answers `ping`.
    Pong(Pong),
    /// The bot closes the session.
    Bye(Bye),
}

/// Parts of the messages that the referee omits unless a bot wants them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// `view` in `turn`.
    View,
    /// `legal` in `turn`.
    Legal,
    /// `event` messages.
    Event,
}

/// Answers the referee's `hello`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hello {
    /// The protocol's version: 1.
    #[cfg_attr(feature = "schema", schemars(extend("const" = 1)))]
    pub protocol: u64,
    /// 1 to 64 of ASCII letters, digits, `. _ -` and space. For display only.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[A-Za-z0-9._ -]{1,64}$")))]
    pub name: String,
    /// The bot's version; at most 256 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(max = 256)))]
    pub version: Option<String>,
    /// The author; at most 256 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(max = 256)))]
    pub author: Option<String>,
    /// Details that identify how the bot plays, such as its model, its settings and hashes of its files: at most 32 texts by
    /// name, of at most 256 characters each; names have 1 to 64.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "or_default")]
    #[cfg_attr(feature = "schema", schemars(extend("maxProperties" = 32)))]
    pub details: BTreeMap<String, String>,
    /// The token; required where the referee's `hello` has `auth` `token`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The ids of the games that the bot plays; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<Vec<String>>,
    /// The number of matches that it can play concurrently on this connection; default 1, at most 4096.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 4096)))]
    pub slots: Option<u64>,
    /// The parts of messages that it wants; default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wants: Option<Vec<Want>>,
    /// Whether `event` messages are sent at once instead of with the next `turn`.
    #[serde(default, skip_serializing_if = "is_false", deserialize_with = "or_default")]
    pub push: bool,
    /// Chosen by the bot: a later connection with the same text replaces this one; 1 to 64 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 64)))]
    pub reconnect: Option<String>,
}

/// Answers `start`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ready<'a> {
    /// The match's id.
    #[serde(borrow)]
    pub r#match: Text<'a>,
    /// Required when the connection holds several seats of the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u8>,
    /// Lower-case hex of at most 64 bytes, mixed into the chance of the match.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^([0-9a-f]{2}){0,64}$")))]
    pub nonce: Option<Text<'a>>,
}

/// Answers `turn`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(bound(deserialize = "V: Deserialize<'de>"))]
pub struct Move<'a, V> {
    /// The match's id.
    #[serde(borrow)]
    pub r#match: Text<'a>,
    /// Required when the connection holds several seats of the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u8>,
    /// The request's id.
    #[serde(deserialize_with = "integer")]
    pub turn: u64,
    /// The move, one of `legal`.
    #[serde(borrow)]
    pub r#move: Text<'a>,
    /// Whether the bot offers a draw with the move.
    #[serde(default, skip_serializing_if = "is_false", deserialize_with = "or_default")]
    pub offer_draw: bool,
    /// An object of at most 4 KiB: score with `score_scale` and `score_side`, depth, nodes, pv, text. Recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("type" = "object")))]
    pub info: Option<V>,
}

/// Answers `turn`: accepts the draw.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AcceptDraw<'a> {
    /// The match's id.
    #[serde(borrow)]
    pub r#match: Text<'a>,
    /// Required when the connection holds several seats of the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u8>,
    /// The request that showed `draw_offered`.
    #[serde(deserialize_with = "integer")]
    pub turn: u64,
}

/// The reason why a bot has no move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Inability {
    /// The chooser of its moves named none that is legal.
    NoLegalMove,
    /// The chooser of its moves cannot be reached: an outage.
    Unavailable,
}

impl From<Inability> for FaultCode {
    fn from(because: Inability) -> FaultCode {
        match because {
            Inability::NoLegalMove => FaultCode::NoLegalMove,
            Inability::Unavailable => FaultCode::Unavailable,
        }
    }
}

/// Answers `turn`: the bot has no move.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(bound(deserialize = "V: Deserialize<'de>"))]
pub struct Unable<'a, V> {
    /// The match's id.
    #[serde(borrow)]
    pub r#match: Text<'a>,
    /// Required when the connection holds several seats of the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u8>,
    /// The request's id.
    #[serde(deserialize_with = "integer")]
    pub turn: u64,
    /// The reason.
    pub because: Inability,
    /// An object of at most 4 KiB, as in `move`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("type" = "object")))]
    pub info: Option<V>,
}

/// Resigns the match for the side, at any time.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resign<'a> {
    /// The match's id.
    #[serde(borrow)]
    pub r#match: Text<'a>,
    /// Required when the connection holds several seats of the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u8>,
}

/// Opens a match; only where the referee's `hello` said `may_open`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(bound(deserialize = "V: Deserialize<'de>"))]
pub struct Open<V> {
    /// Repeated in `start` and `error`; at most 256 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The game's id.
    pub game: String,
    /// The number of seats; default the game's smallest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seats: Option<u64>,
    /// The game's options, an object; omitted options have their defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("type" = "object")))]
    pub options: Option<V>,
    /// The match seed, 64 hex digits; by default derived from the run seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub seed: Option<String>,
    /// The deal's id; default the match id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deal: Option<String>,
    /// The clock of every seat; null: no clock; absent: the run's clock.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub clock: Option<Option<Clock>>,
    /// The fault policy; default the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_fault: Option<OnFault>,
    /// True: the referee does not wait for `ready`.
    #[serde(default, skip_serializing_if = "is_false", deserialize_with = "or_default")]
    pub auto_ready: bool,
    /// True: `turn` and `end` have `scene`.
    #[serde(default, skip_serializing_if = "is_false", deserialize_with = "or_default")]
    pub scenes: bool,
}

/// Deserializes an integer of at most [`MAX_INTEGER`].
fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = u64::deserialize(deserializer)?;
    if number > MAX_INTEGER {
        return Err(D::Error::invalid_value(Unexpected::Unsigned(number), &"an integer below 2^53"));
    }
    Ok(number)
}

/// Deserializes `null` like an absent field.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Distinguishes `null` from an absent field.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Aborts a match; only where the referee's `hello` said `may_open`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Abort<'a> {
    /// The match's id.
    #[serde(borrow)]
    pub r#match: Text<'a>,
}

/// Answers `ping`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pong {
    /// The ping's id.
    #[serde(default, deserialize_with = "or_default")]
    pub id: u64,
}

/// The bot closes the session.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bye {}
