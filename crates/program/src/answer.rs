//! Answers of the program of a game, before they are checked.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The answer to `start` if the options contradict each other or the seats.
#[derive(Debug, Deserialize)]
pub(crate) struct OptionsAnswer {
    #[serde(default)]
    pub(crate) bad_options: Option<String>,
}

/// The answer to `imagine` if the view contradicts itself.
#[derive(Debug, Deserialize)]
pub(crate) struct ViewAnswer {
    #[serde(default)]
    pub(crate) bad_view: Option<String>,
}

/// The answer to `check`.
#[derive(Debug, Deserialize)]
pub(crate) struct CheckAnswer {
    #[serde(default)]
    pub(crate) ok: bool,
    #[serde(default)]
    pub(crate) bad_move: Option<String>,
}

/// A position: the answer to `start`, `play` and `settle`.
#[derive(Debug, Deserialize)]
pub(crate) struct PositionAnswer<'a> {
    #[serde(borrow)]
    pub(crate) state: &'a RawValue,
    #[serde(borrow)]
    pub(crate) turn: TurnAnswer<'a>,
    #[serde(default, borrow)]
    pub(crate) events: Vec<EventAnswer<'a>>,
    #[serde(default)]
    pub(crate) turns_left: Option<u32>,
}

/// What has to happen next.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TurnAnswer<'a> {
    #[serde(borrow)]
    Decide(Vec<DecisionAnswer<'a>>),
    Draw(DrawAnswer),
    Over(OverAnswer),
}

/// What a seat has to decide.
#[derive(Debug, Deserialize)]
pub(crate) struct DecisionAnswer<'a> {
    pub(crate) seat: u8,
    /// `None` if they are not listed.
    #[serde(default)]
    pub(crate) legal: Option<Vec<String>>,
    #[serde(borrow)]
    pub(crate) view: &'a RawValue,
    #[serde(default)]
    pub(crate) secret: bool,
}

/// The numbers that are needed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DrawAnswer {
    Dice { count: u8, sides: u8 },
    Pick(u32),
    Shuffle(u16),
}

/// The result.
#[derive(Debug, Deserialize)]
pub(crate) struct OverAnswer {
    /// By side, 1 for the best.
    pub(crate) ranks: Vec<u8>,
    pub(crate) reason: String,
}

/// An event and its forms.
#[derive(Debug, Deserialize)]
pub(crate) struct EventAnswer<'a> {
    #[serde(borrow)]
    pub(crate) all: &'a RawValue,
    #[serde(default, borrow)]
    pub(crate) public: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(crate) seats: BTreeMap<String, &'a RawValue>,
}

/// The answer to `show`.
#[derive(Debug, Deserialize)]
pub(crate) struct ShowAnswer<'a> {
    #[serde(borrow)]
    pub(crate) view: &'a RawValue,
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default, borrow)]
    pub(crate) scene: Option<&'a RawValue>,
}
