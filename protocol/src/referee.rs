//! Messages from the referee, which writes compact JSON with `type` first.

use serde::{Deserialize, Serialize};

use crate::Text;
use crate::words::{EndedBy, ErrorCode, FaultCode};

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Any message from the referee. `V` is the representation of a game's view or event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", bound(deserialize = "V: Deserialize<'de>"))]
pub enum FromReferee<'a, V> {
    /// The referee's greeting, the first message.
    Hello(Hello),
    /// A match begins.
    Start(Start<V>),
    /// An event of a match.
    #[serde(borrow)]
    Event(Event<'a, V>),
    /// A request: answer with one of `legal`.
    #[serde(borrow)]
    Turn(Turn<'a, V>),
    /// A match has ended.
    End(End),
    /// A message was rejected.
    Error(Error),
    /// Can be answered with `pong`; the referee does not wait for it.
    Ping(Ping),
    /// The last message before the connection is closed.
    Bye(Bye),
}

/// The authentication that the referee requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Auth {
    /// No token.
    None,
    /// `hello` must contain a token.
    Token,
}

/// The first message on every transport.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hello {
    /// The protocol's version: 1.
    #[cfg_attr(feature = "schema", schemars(extend("const" = 1)))]
    pub protocol: u64,
    /// Name and version of the referee, `referee/0.1.0`.
    pub server: String,
    /// The authentication that the referee requires.
    pub auth: Auth,
    /// Whether this connection may open and abort matches.
    #[serde(default, skip_serializing_if = "is_false")]
    pub may_open: bool,
    /// Whether a bot that loses this connection may continue its matches on another one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reconnect: bool,
}

/// A match begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Start<V> {
    /// The match's id, unique in a run.
    pub r#match: String,
    /// The id of the `open` that this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The game's id.
    pub game: String,
    /// The version of the game's rules.
    pub rules: u32,
    /// The game's options, with defaults filled in.
    #[cfg_attr(feature = "schema", schemars(extend("type" = "object")))]
    pub options: V,
    /// The receiver's seat.
    pub seat: u8,
    /// The seats in order.
    pub seats: Vec<SeatInfo>,
    /// The receiver's clock; null: no limit.
    pub clock: Option<Clock>,
    /// The deal's id; null in a mirrored set.
    pub deal: Option<String>,
    /// SHA-256 of salt and seed, in hex.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub commitment: String,
    /// Whether a nonce in `ready` is mixed into the chance of this match.
    pub nonce: bool,
    /// Whether requests may come without `legal`, since nobody can list the moves of the game, or the organiser hides them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unlisted: bool,
    /// Whether the match was announced before, on a connection that this one replaces.
    #[serde(default, skip_serializing_if = "is_false")]
    pub resumed: bool,
}

/// A seat as all players see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeatInfo {
    /// The name in results.
    pub name: String,
    /// The number of its side: 0, 1, ...
    pub team: u8,
}

/// A clock, in whole milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clock {
    /// Time that is not deducted from the bank, per answer.
    #[serde(default)]
    pub delay_ms: u64,
    /// Time for the whole match; time beyond the delay is deducted from it.
    #[serde(default)]
    pub bank_ms: u64,
    /// Added to the bank after an answer in time.
    #[serde(default)]
    pub increment_ms: u64,
}

/// An event of a match.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event<'a, V> {
    /// The match's id.
    #[serde(borrow)]
    pub r#match: Text<'a>,
    /// The receiver's seat.
    pub seat: u8,
    /// Sequence number, 0, 1, ... within match and seat.
    pub n: u32,
    /// The event: an object with `kind`.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("type" = "object", "properties" = { "kind": { "type": "string" } }, "required" = ["kind"]))
    )]
    pub event: V,
}

/// A request: answer with `move` and one of `legal`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(bound(deserialize = "V: Deserialize<'de>"))]
pub struct Turn<'a, V> {
    /// The match's id.
    #[serde(borrow)]
    pub r#match: Text<'a>,
    /// The receiver's seat.
    pub seat: u8,
    /// The request's id, 0, 1, ... within match and seat; the answer repeats it.
    pub turn: u32,
    /// The position as the seat may see it; absent if not wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("type" = "object")))]
    pub view: Option<V>,
    /// All legal moves, sorted by their bytes; absent if not wanted, or if nobody can list them.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub legal: Option<Vec<Text<'a>>>,
    /// The seat's clock; null: no limit.
    pub clock: Option<TurnClock>,
    /// The banks of all seats by seat when the decision began, in milliseconds; null for a seat without a clock; absent if
    /// no seat has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub banks_ms: Option<Vec<Option<u64>>>,
    /// Turns of all seats until the turn limit, including this one; absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns_left: Option<u32>,
    /// Whether `accept_draw` is possible.
    #[serde(default, skip_serializing_if = "is_false")]
    pub draw_offered: bool,
    /// Only after a rejected answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// The position as a picture, as the seat may see it; only in matches that were opened with `scenes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scene: Option<Scene>,
}

/// The remaining time of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnClock {
    /// The remaining bank.
    pub bank_ms: u64,
    /// The time limit for this answer.
    pub limit_ms: u64,
}

/// The reason why the request is repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Retry {
    /// The id of the request whose answer was rejected.
    pub of: u32,
    /// The kind of fault.
    pub code: FaultCode,
    /// The reason as text.
    pub message: String,
}

/// A match has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct End {
    /// The match's id.
    pub r#match: String,
    /// The receiver's seat.
    pub seat: u8,
    /// Per seat: 1 + the number of sides that did strictly better; absent when aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Vec<u8>>,
    /// Per seat: the mean over the other sides of 1, 0.5, 0; absent when aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<Vec<f64>>,
    /// Per seat: what its side gets, in the unit of the game; absent when aborted, and in games without amounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amounts: Option<Vec<f64>>,
    /// The way in which the match ended.
    pub ended_by: EndedBy,
    /// The rule, the fault's code or the word of `ended_by`.
    pub reason: String,
    /// The fault, if a fault ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The origin of the match's random numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reveal: Option<Reveal>,
    /// The final position as a picture, as the seat may see it; only in matches that were opened with `scenes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scene: Option<Scene>,
}

/// A position as a picture. Its unit is a thousandth of the width of a typical board; x grows to the right, y downwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scene {
    /// The width in units; the same in all scenes of a match.
    pub width: u16,
    /// The height in units; the same in all scenes of a match.
    pub height: u16,
    /// The colour behind all parts.
    pub background: Colour,
    /// The drawn parts, the lowest first.
    pub parts: Vec<ScenePart>,
    /// The position as plain text in lines.
    pub text: String,
}

/// A colour: `#rrggbb` or, where it is translucent, `#rrggbbaa`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Colour(
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^#([0-9a-f]{6}|[0-9a-f]{8})$")))] pub String,
);

/// A shape in a scene.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScenePart {
    #[serde(flatten)]
    pub form: SceneForm,
    /// The colour of its inside; absent: transparent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Colour>,
    /// The outline, centred on the edge of the part; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outline: Option<Outline>,
}

/// The form of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum SceneForm {
    /// A rectangle.
    Rect {
        /// The upper left corner.
        at: [i16; 2],
        width: u16,
        height: u16,
        /// The radius of its corners.
        radius: u16,
    },
    /// A circle.
    Circle {
        /// The centre.
        at: [i16; 2],
        radius: u16,
    },
    /// A closed polygon.
    Polygon {
        /// The corners.
        points: Vec<[i16; 2]>,
    },
    /// A line of text.
    Text {
        /// The centre.
        at: [i16; 2],
        /// The size of the font.
        size: u16,
        text: String,
    },
}

/// The outline of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outline {
    pub colour: Colour,
    pub width: u16,
}

/// A fault in the result of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fault {
    /// The seat at fault, counted from 0.
    pub seat: u8,
    /// The kind of fault.
    pub code: FaultCode,
    /// A short description, for example "signal 11".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The origin of the match's random numbers, for verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reveal {
    /// The match seed, 64 hex digits.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub seed: String,
    /// The commitment's salt, 64 hex digits.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub salt: String,
    /// The deal's id.
    pub deal: String,
    /// Per seat, "" if none.
    pub nonces: Vec<String>,
}

/// A message was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Error {
    /// The kind of error.
    pub code: ErrorCode,
    /// A description of the error and of what was expected.
    pub message: String,
    /// The id of the `open`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The match's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#match: Option<String>,
    /// The receiver's seat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u8>,
    /// The request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The legal moves that an ambiguous short form matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legal_forms: Option<Vec<String>>,
}

/// Can be answered with `pong`, so that hosts can measure the round-trip time. The referee does not wait for it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ping {
    /// Repeated in `pong`.
    pub id: u64,
}

/// The last message before the connection is closed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bye {
    /// The reason as text.
    pub reason: String,
    /// Whether the bot connects again instead of exiting. Only if its `hello` had `reconnect`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reconnect: bool,
}
