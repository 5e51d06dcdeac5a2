//! Defects of answers.

use std::str::Utf8Error;

use referee_game::json_scanner::ScanError;
use referee_game::seat::Seat;
use referee_game::{AmountRange, Wrong, counted};

use crate::{MOST_AMOUNT, MOST_EVENTS, MOST_STATE, MOST_TEXT};

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
        what: Wrong,
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
    Event(#[source] Wrong),
    #[error("`events`: nothing has happened before this position")]
    EarlyEvents,
    #[error("`decide`: seat {0}, whose view it was, does not decide")]
    NotItsTurn(Seat),
    #[error(transparent)]
    View(#[from] Wrong),
    #[error("`text` has {bytes} bytes; it has at most {MOST_TEXT}")]
    LongText { bytes: usize },
    #[error("`scene`")]
    Scene(#[source] Wrong),
}

/// The name of a field before its defect.
fn in_quotes(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("`{field}`: ") }
}
