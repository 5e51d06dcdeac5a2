//! Answers of the program of a game, before they are checked.

use std::borrow::Cow;
use std::collections::BTreeMap;

use referee_game::json_scanner::JsonScanner;
use referee_game::{Wrong, json};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::{MOST_DEPTH, MOST_VIEW};

/// The answer of a program without the carriage return that may end its line.
///
/// # Errors
/// If it has several lines: bots get parts of it in theirs.
pub(crate) fn line(answer: &[u8]) -> Result<&[u8], Wrong> {
    let line = answer.strip_suffix(b"\r").unwrap_or(answer);
    if line.iter().any(|byte| matches!(byte, b'\r' | b'\n')) {
        return Err("the answer has a line break, which a line of JSON has not".into());
    }
    Ok(line)
}

/// Checks that every parser reads an answer, in the same way: bots, records and pages get parts of it as they are.
///
/// # Errors
/// Names the field and what is wrong with it.
pub(crate) fn check_portable(line: &[u8]) -> Result<(), Wrong> {
    let text = std::str::from_utf8(line).map_err(|error| Wrong::of(&error))?;
    JsonScanner::portable(MOST_DEPTH, text).object(|_, _| ()).map_err(|error| match error.path() {
        path if path.is_empty() => Wrong::of(&error),
        path => Wrong::at(format!("`{path}`"), error),
    })
}

/// JSON of an answer as lines have it.
pub(crate) fn escaped(json: &RawValue) -> Box<RawValue> {
    match json::escaped(json.get()) {
        Cow::Borrowed(_) => json.to_owned(),
        // Escapes in strings leave it valid.
        Cow::Owned(text) => RawValue::from_string(text).unwrap_or_else(|_| json.to_owned()),
    }
}

/// Reads and checks a view.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn read_view(view: &RawValue) -> Result<Box<RawValue>, Wrong> {
    if !view.get().starts_with('{') {
        return Err("`view` is not an object".into());
    }
    let view = escaped(view);
    let bytes = view.get().len();
    if bytes > MOST_VIEW {
        return Err(format!("`view` has {bytes} bytes; it has at most {MOST_VIEW}").into());
    }
    Ok(view)
}

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

#[derive(Debug, Deserialize)]
pub(crate) struct CheckAnswer {
    #[serde(default)]
    pub(crate) ok: bool,
    #[serde(default)]
    pub(crate) bad_move: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ExportAnswer {
    pub(crate) text: String,
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
    #[serde(default)]
    pub(crate) amounts: Option<RangeAnswer>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct RangeAnswer {
    pub(crate) least: f64,
    pub(crate) most: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TurnAnswer<'a> {
    #[serde(borrow)]
    Decide(Vec<DecisionAnswer<'a>>),
    Draw(DrawAnswer),
    Over(OverAnswer),
}

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
    #[serde(default)]
    pub(crate) unseen: bool,
}

/// The numbers that are needed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DrawAnswer {
    Dice { count: u8, sides: u8 },
    Pick(u32),
    Shuffle(u16),
}

#[derive(Debug, Deserialize)]
pub(crate) struct OverAnswer {
    /// By side, 1 for the best.
    pub(crate) ranks: Vec<u8>,
    /// By side.
    #[serde(default)]
    pub(crate) amounts: Option<Vec<f64>>,
    pub(crate) reason: String,
}

/// A field that may be `null`, which is not the same as absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

#[derive(Debug, Deserialize)]
pub(crate) struct EventAnswer<'a> {
    #[serde(borrow)]
    pub(crate) all: &'a RawValue,
    /// `null`: only seats with a form of their own see the event.
    #[serde(default, borrow, deserialize_with = "present")]
    pub(crate) public: Option<&'a RawValue>,
    /// `null`: the seat does not see the event.
    #[serde(default, borrow)]
    pub(crate) seats: BTreeMap<String, &'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ShowAnswer<'a> {
    #[serde(borrow)]
    pub(crate) view: &'a RawValue,
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default, borrow)]
    pub(crate) scene: Option<&'a RawValue>,
}
