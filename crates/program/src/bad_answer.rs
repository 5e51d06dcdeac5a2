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
    /// It is not JSON, or a field is missing or has another type.
    #[error(transparent)]
    Unreadable(#[from] serde_json::Error),
    /// It has several lines.
    #[error("the answer has a line break, which a line of JSON has not")]
    LineBreak,
    /// It is not UTF-8.
    #[error(transparent)]
    Encoding(#[from] Utf8Error),
    /// Some parsers of JSON would not read it.
    #[error("{}{}", in_quotes(&.0.path()), .0)]
    NotPortable(#[from] ScanError),
    /// The state is too long.
    #[error("`state` has {bytes} bytes; it has at most {MOST_STATE}")]
    LongState {
        /// Its length.
        bytes: usize,
    },
    /// A seat decides that does not exist.
    #[error("`decide`: there is no seat {0}")]
    NoSuchSeat(Seat),
    /// The seats that decide are not in order, or one is there twice.
    #[error("`decide`: the seats ascend, each once")]
    UnorderedSeats,
    /// The list of seats that decide is empty.
    #[error("`decide`: no seat decides")]
    NoDecision,
    /// Several seats decide in a game without simultaneous decisions.
    #[error("`decide`: several seats, but the manifest has no `simultaneous`")]
    Simultaneous,
    /// A decision of a seat is invalid.
    #[error("seat {seat}: {what}")]
    Decision {
        /// The seat.
        seat: Seat,
        /// What is wrong.
        what: BadDecision,
    },
    /// The answer to `check` is neither or both of its forms.
    #[error("expected `{{\"ok\":true}}`, or `{{\"bad_move\":\"why\"}}`")]
    Check,
    /// A draw in a game without chance.
    #[error("`draw`: the manifest has no `chance`")]
    Chance,
    /// No dice, or dice without a choice of sides.
    #[error("`dice`: at least one die with at least 2 sides")]
    Dice,
    /// A pick or a shuffle of nothing.
    #[error("`draw`: at least 1")]
    EmptyDraw,
    /// Too many or too few ranks.
    #[error("`ranks`: one for each of {}, not {ranks}", counted(*sides, "side", "sides"))]
    RankCount {
        /// The number of sides.
        sides: usize,
        /// The number of ranks.
        ranks: usize,
    },
    /// Ranks that skip or repeat a number.
    #[error("`ranks`: each is one more than the number of better sides")]
    Ranks,
    /// Ranks that differ at the turn limit.
    #[error(
        "`ranks`: at the `turn_limit` all sides have rank 1, not {ranks:?}; a reason of the manifest may rank them"
    )]
    TurnLimit {
        /// The ranks.
        ranks: Vec<u8>,
    },
    /// Amounts without their unit, or the other way around.
    #[error("`amounts`: {}", if *.is_missing {
        "missing, but the manifest has their unit"
    } else {
        "the manifest has no `amounts`, which names their unit"
    })]
    Unit {
        /// Whether the amounts are missing.
        is_missing: bool,
    },
    /// Too many or too few amounts.
    #[error("`amounts`: one for each of {}, not {amounts}", counted(*sides, "side", "sides"))]
    AmountCount {
        /// The number of sides.
        sides: usize,
        /// The number of amounts.
        amounts: usize,
    },
    /// An amount beyond the range of all games.
    #[error("`amounts`: {0}; expected -{MOST_AMOUNT} to {MOST_AMOUNT}")]
    Amount(f64),
    /// A range without two ends.
    #[error("`amounts`: `least` is {least} and `most` {most}; expected less and more")]
    Range {
        /// The least amount.
        least: f64,
        /// The most.
        most: f64,
    },
    /// An amount beyond the range of the match.
    #[error("`amounts`: {amount}; expected {} to {}, as in the answer to `start`", .range.least, .range.most)]
    OutOfRange {
        /// The amount.
        amount: f64,
        /// The range.
        range: AmountRange,
    },
    /// An unknown reason.
    #[error("`reason`: `{0}` is not among those of the manifest")]
    Reason(String),
    /// Too many events.
    #[error("`events`: at most {MOST_EVENTS}, not {0}")]
    EventCount(usize),
    /// An invalid event.
    #[error("`events`: {0}")]
    Event(#[from] BadEvent),
    /// An initial or imagined position has events.
    #[error("`events`: nothing has happened before this position")]
    EarlyEvents,
    /// The seat whose view it was does not decide in an imagined position.
    #[error("`decide`: seat {0}, whose view it was, does not decide")]
    NotItsTurn(Seat),
    /// The view of a viewer is invalid.
    #[error(transparent)]
    View(#[from] BadView),
    /// The board for terminals is too long.
    #[error("`text` has {bytes} bytes; it has at most {MOST_TEXT}")]
    LongText {
        /// Its length.
        bytes: usize,
    },
    /// An invalid scene.
    #[error("`scene`: {0}")]
    Scene(#[from] BadScene),
}

/// What is wrong with a view.
#[derive(Debug, thiserror::Error)]
pub enum BadView {
    /// It is something else.
    #[error("`view` is not an object")]
    NoObject,
    /// It is too long.
    #[error("`view` has {bytes} bytes; it has at most {MOST_VIEW}")]
    Long {
        /// Its length.
        bytes: usize,
    },
}

/// The name of a field before what is wrong with it.
fn in_quotes(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("`{field}`: ") }
}

/// What is wrong with the decision of a seat.
#[derive(Debug, thiserror::Error)]
pub enum BadDecision {
    /// The list of legal moves is missing.
    #[error("`legal` is missing, but the manifest has no `check`")]
    NoList,
    /// There is no legal move.
    #[error("`legal`: it has no move; a seat that decides has one")]
    NoMove,
    /// A move has other characters, or none.
    #[error("`legal`: `{}` is not printable ASCII without quote and backslash", .0.escape_debug())]
    Characters(String),
    /// A move is too long.
    #[error("`legal`: `{0}` has more than {MOST_MOVE} bytes")]
    LongMove(String),
    /// A move is listed twice.
    #[error("`legal`: `{0}` is there twice")]
    Duplicate(String),
    /// The moves are too long together.
    #[error("`legal` has {bytes} bytes; it has at most {MOST_LEGAL}")]
    LongList {
        /// Their length.
        bytes: usize,
    },
    /// The view is invalid.
    #[error(transparent)]
    View(#[from] BadView),
    /// A secret in a game without hidden information.
    #[error("`secret` and `unseen`: the manifest has no `hidden`")]
    Secret,
}

/// What is wrong with an event.
#[derive(Debug, thiserror::Error)]
pub enum BadEvent {
    /// A form has no kind.
    #[error("an event is an object with a text `kind`")]
    NoKind,
    /// A form is too long.
    #[error("an event has {bytes} bytes; it has at most {MOST_EVENT}")]
    Long {
        /// Its length.
        bytes: usize,
    },
    /// Its kind is one of the referee's own.
    #[error("only the referee makes events of kind `{0}`")]
    Reserved(&'static str),
    /// The form for spectators is missing in a game with hidden information.
    #[error("`public` is missing, which a game with `hidden` has in every event")]
    NoPublicForm,
    /// An event that a viewer does not see, in a game without hidden information.
    #[error("a form is `null`: the manifest has no `hidden`")]
    Unseen,
    /// A form is for a seat that does not exist.
    #[error("there is no seat `{0}`")]
    NoSuchSeat(String),
}

/// What is wrong with a scene.
#[derive(Debug, thiserror::Error)]
pub enum BadScene {
    /// It is not JSON, or a field is missing or has another type.
    #[error(transparent)]
    Unreadable(#[from] serde_json::Error),
    /// It is too long.
    #[error("it has {bytes} bytes; it has at most {MOST_SCENE}")]
    Long {
        /// Its length.
        bytes: usize,
    },
    /// Its texts are too long together.
    #[error("its texts have {bytes} bytes; they have at most {MOST_SCENE_TEXT}")]
    LongTexts {
        /// Their length.
        bytes: usize,
    },
    /// Its size is out of range.
    #[error("{width} by {height}; each from 1 to {}", referee_game::Scene::MOST_UNITS)]
    Size {
        /// In units.
        width: i16,
        /// In units.
        height: i16,
    },
    /// Too many shapes or parts.
    #[error("at most {MOST_SHAPES} shapes with {MOST_PARTS} parts")]
    TooMany,
    /// Two shapes have one id.
    #[error("two shapes have the id `{0}`")]
    Duplicate(String),
    /// There is no such colour.
    #[error("there is no colour `{name}`; available: {}", Tone::ALL.map(Tone::name).join(", "))]
    Colour {
        /// Its name.
        name: String,
    },
    /// A coordinate or a length is out of range.
    #[error("the number {units}; expected {} to {}", -referee_game::Scene::MOST_UNITS, referee_game::Scene::MOST_UNITS)]
    Units {
        /// In units.
        units: f64,
    },
    /// A length is negative.
    #[error("the length {units}; expected 0 to {}", referee_game::Scene::MOST_UNITS)]
    Length {
        /// In units.
        units: f64,
    },
    /// A shape is invalid.
    #[error("shape `{id}`: {what}")]
    Shape {
        /// Its id.
        id: String,
        /// What is wrong.
        what: Box<BadScene>,
    },
}
