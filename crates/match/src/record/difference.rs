//! Findings of `verify`.

use std::error::Error;
use std::fmt;
use std::str::Utf8Error;

use referee_game::Chain;
use referee_game::erased::{NotOpened, RulesFailed};
use serde::{Serialize, Serializer};

use crate::Header;
use crate::record::OtherRules;
use crate::record::replay::{MOST_BYTES, MOST_LINES};

/// A difference between a record and its replay.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// The match, if known.
    #[serde(rename = "match")]
    pub match_id: Option<String>,
    /// The latest request before the difference.
    pub turn: Option<u32>,
    /// The line, counted from 1.
    pub line: usize,
    #[serde(serialize_with = "as_text")]
    pub what: Box<RecordDefect>,
    /// Whether the rules failed during the replay, so that nothing is known about the record from this line on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rules_failed: bool,
}

/// A defect of a record, or a difference between it and its replay. Lines are shortened.
#[derive(Debug, thiserror::Error)]
pub enum RecordDefect {
    #[error("not a JSON object")]
    NotAnObject,
    #[error(transparent)]
    Encoding(#[from] Utf8Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("it is of type `{0}`")]
    OtherType(String),
    #[error("a record begins with a line of type `record`")]
    NoHeader(#[source] Box<RecordDefect>),
    #[error("record format {0}; this program reads {known}", known = Header::FORMAT)]
    Format(u32),
    #[error("missing field `{0}`")]
    MissingField(&'static str),
    #[error("unknown code `{0}`")]
    UnknownCode(String),
    #[error("unknown type `{0}`")]
    UnknownType(String),
    #[error("no line of a record")]
    NotALine(#[source] Box<RecordDefect>),
    #[error("a line of a record has at most {MOST_BYTES} bytes")]
    LongLine,
    #[error("a record has at most {MOST_LINES} lines")]
    TooManyLines,
    #[error("the record is cut off: it does not end with a seal")]
    CutOff,
    #[error("the seal has other fields than {0}")]
    SealFields(String),
    #[error("the SHA-256 in the seal is not that of the record: it was changed after it was sealed")]
    Changed,
    #[error("the seed is not revealed")]
    SeedNotRevealed,
    #[error("seed and salt are 64 lower-case hex digits each")]
    InvalidSeed,
    #[error("the revealed seed and salt do not give the commitment of line 1")]
    OtherSeed,
    #[error("deal or nonces in the seal are not those of the match")]
    OtherReveal,
    #[error("times stay below 2^53 ms")]
    HugeTime,
    #[error("a limit is larger than any that this program replays")]
    HugeLimit,
    #[error("rules version {recorded} of {game}; this program knows {known}")]
    OtherVersion { recorded: u32, game: String, known: u32 },
    #[error("the seats are not a seating of {game}")]
    OtherSeating { game: String },
    #[error("the options are not complete: {complete}")]
    IncompleteOptions {
        /// All options, as JSON.
        complete: String,
    },
    #[error(transparent)]
    OtherRules(#[from] OtherRules),
    #[error(transparent)]
    NotOpened(#[from] NotOpened),
    #[error("a seat has no bot")]
    SeatWithoutBot,
    #[error("the match has another seed")]
    OtherRun,
    #[error("line 1 has other fields than a set-up: {0}")]
    HeaderFields(String),
    #[error("missing: {0}")]
    MissingLine(String),
    #[error("the record has no result")]
    NoResult,
    #[error("`bots` has other seats than the match")]
    OtherSeats,
    #[error("recorded {recorded}, but the rules give {given}")]
    OtherLine { recorded: String, given: String },
    #[error("this cannot happen here: {0}")]
    Impossible(String),
    #[error(transparent)]
    RulesFailed(#[from] RulesFailed),
    #[error(transparent)]
    NotReopened(NotOpened),
}

impl Difference {
    /// A difference in a line, of a match that is not known.
    pub(super) fn at(line: usize, what: impl Into<RecordDefect>) -> Difference {
        let what = what.into();
        let rules_failed = matches!(
            what,
            RecordDefect::RulesFailed(_)
                | RecordDefect::NotReopened(_)
                | RecordDefect::NotOpened(NotOpened::RulesFailed(_))
        );
        Difference { match_id: None, turn: None, line, what: Box::new(what), rules_failed }
    }
}

fn as_text<S: Serializer>(what: &RecordDefect, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Chain(what))
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some(id) = &self.match_id {
            write!(f, ", match {id}")?;
        }
        if let Some(turn) = self.turn {
            write!(f, ", turn {turn}")?;
        }
        Ok(())
    }
}

impl Error for Difference {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.what)
    }
}
