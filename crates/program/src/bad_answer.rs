//! What is wrong with an answer.

use std::str::Utf8Error;

use referee_game::json_scanner::ScanError;
use referee_game::scene::Tone;
use referee_game::seat::Seat;
use referee_game::{AmountRange, counted};

use crate::scene::{MOST_PARTS, MOST_SHAPES};
use crate::{
    MOST_AMOUNT, MOST_EVENT, MOST_EVENTS, MOST_LEGAL, MOST_MOVE, MOST_SCENE, MOST_SCENE_TEXT, MOST_STATE,
    MOST_TEXT, MOST_VIEW,
};

/// An answer contradicts the specification or the manifest.
#[derive(Debug, thiserror::Error)]
pub enum BadAnswer {
    #[error(transparent)]
    Unreadable(#[from] serde_json::Error),
    #[error("the answer has a line break, which a line of JSON has not")]
    LineBreak,
    #[error(transparent)]
    Encoding(#[from] Utf8Error),
    #[error("{}{}", in_quotes(&.0.path()), .0)]
    NotPortable(ScanError),
    #[error("`state` has {bytes} bytes; it has at most {MOST_STATE}")]
    LongState { bytes: usize },
    #[error("`decide`: there is no seat {0}")]
    NoSuchSeat(Seat),
    #[error("`decide`: the seats ascend, each once")]
    UnorderedSeats,
    #[error("`decide`: no seat decides")]
    NoDecision,
    #[error("`decide`: several seats, but the manifest has no `simultaneous`")]
    Simultaneous,
    #[error("seat {seat}")]
    Decision {
        seat: Seat,
        #[source]
        what: BadDecision,
    },
    #[error("expected `{{\"ok\":true}}`, or `{{\"bad_move\":\"why\"}}`")]
    Check,
    #[error("`draw`: the manifest has no `chance`")]
    Chance,
    #[error("`dice`: at least one die with at least 2 sides")]
    Dice,
    #[error("`draw`: at least 1")]
    EmptyDraw,
    #[error("`ranks`: one for each of {}, not {ranks}", counted(*sides, "side", "sides"))]
    RankCount { sides: usize, ranks: usize },
    #[error("`ranks`: each is one more than the number of better sides")]
    Ranks,
    #[error(
        "`ranks`: at the `turn_limit` all sides have rank 1, not {ranks:?}; a reason of the manifest may rank them"
    )]
    TurnLimit { ranks: Vec<u8> },
    #[error("`amounts`: {}", if *.is_missing {
        "missing, but the manifest has their unit"
    } else {
        "the manifest has no `amounts`, which names their unit"
    })]
    Unit { is_missing: bool },
    #[error("`amounts`: one for each of {}, not {amounts}", counted(*sides, "side", "sides"))]
    AmountCount { sides: usize, amounts: usize },
    #[error("`amounts`: {0}; expected -{MOST_AMOUNT} to {MOST_AMOUNT}")]
    Amount(f64),
    #[error("`amounts`: `least` is {least} and `most` {most}; expected less and more")]
    Range { least: f64, most: f64 },
    #[error("`amounts`: {amount}; expected {} to {}, as in the answer to `start`", .range.least, .range.most)]
    OutOfRange { amount: f64, range: AmountRange },
    #[error("`reason`: `{0}` is not among those of the manifest")]
    Reason(String),
    #[error("`events`: at most {MOST_EVENTS}, not {0}")]
    EventCount(usize),
    #[error("`events`")]
    Event(#[from] BadEvent),
    #[error("`events`: nothing has happened before this position")]
    EarlyEvents,
    #[error("`decide`: seat {0}, whose view it was, does not decide")]
    NotItsTurn(Seat),
    #[error(transparent)]
    View(#[from] BadView),
    #[error("`text` has {bytes} bytes; it has at most {MOST_TEXT}")]
    LongText { bytes: usize },
    #[error("`scene`")]
    Scene(#[from] BadScene),
}

/// What is wrong with a view.
#[derive(Debug, thiserror::Error)]
pub enum BadView {
    #[error("`view` is not an object")]
    NoObject,
    #[error("`view` has {bytes} bytes; it has at most {MOST_VIEW}")]
    Long { bytes: usize },
}

/// The name of a field before what is wrong with it.
fn in_quotes(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("`{field}`: ") }
}

/// What is wrong with the decision of a seat.
#[derive(Debug, thiserror::Error)]
pub enum BadDecision {
    #[error("`legal` is missing, but the manifest has no `check`")]
    NoList,
    #[error("`legal`: it has no move; a seat that decides has one")]
    NoMove,
    #[error("`legal`: `{}` is not printable ASCII without quote and backslash", .0.escape_debug())]
    Characters(String),
    #[error("`legal`: `{0}` has more than {MOST_MOVE} bytes")]
    LongMove(String),
    #[error("`legal`: `{0}` is there twice")]
    Duplicate(String),
    #[error("`legal` has {bytes} bytes; it has at most {MOST_LEGAL}")]
    LongList { bytes: usize },
    #[error(transparent)]
    View(#[from] BadView),
    #[error("`secret` and `unseen`: the manifest has no `hidden`")]
    Secret,
}

/// What is wrong with an event.
#[derive(Debug, thiserror::Error)]
pub enum BadEvent {
    #[error("an event is an object with a text `kind`")]
    NoKind,
    #[error("an event has {bytes} bytes; it has at most {MOST_EVENT}")]
    Long { bytes: usize },
    #[error("only the referee makes events of kind `{0}`")]
    Reserved(&'static str),
    #[error("`public` is missing, which a game with `hidden` has in every event")]
    NoPublicForm,
    #[error("a form is `null`: the manifest has no `hidden`")]
    Unseen,
    #[error("there is no seat `{0}`")]
    NoSuchSeat(String),
}

/// What is wrong with a scene.
#[derive(Debug, thiserror::Error)]
pub enum BadScene {
    #[error(transparent)]
    Unreadable(#[from] serde_json::Error),
    #[error("it has {bytes} bytes; it has at most {MOST_SCENE}")]
    Long { bytes: usize },
    #[error("its texts have {bytes} bytes; they have at most {MOST_SCENE_TEXT}")]
    LongTexts { bytes: usize },
    #[error("{width} by {height}; each from 1 to {}", referee_game::Scene::MOST_UNITS)]
    Size {
        /// In units.
        width: i16,
        /// In units.
        height: i16,
    },
    #[error("at most {MOST_SHAPES} shapes with {MOST_PARTS} parts")]
    TooMany,
    #[error("two shapes have the id `{0}`")]
    Duplicate(String),
    #[error("there is no colour `{name}`; available: {}", Tone::ALL.map(Tone::name).join(", "))]
    Colour { name: String },
    #[error("the number {units}; expected {} to {}", -referee_game::Scene::MOST_UNITS, referee_game::Scene::MOST_UNITS)]
    Units { units: f64 },
    #[error("the length {units}; expected 0 to {}", referee_game::Scene::MOST_UNITS)]
    Length { units: f64 },
    #[error("shape `{id}`")]
    Shape {
        id: String,
        #[source]
        what: Box<BadScene>,
    },
    #[error("`places` of the move `{text}`: there is no shape `{id}`")]
    Place { text: String, id: String },
}
